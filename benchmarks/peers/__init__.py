"""Other harnesses, playing the same scenarios from environments of their own; see `compare.py`."""
