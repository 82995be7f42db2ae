"""The command line: `penguin`. An edge of the package: it renders OmniMessages and has no message type of its own."""
