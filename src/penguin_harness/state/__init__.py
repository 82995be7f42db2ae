"""Everything that a person may edit on disk: where it lies, and how it is read and written."""
