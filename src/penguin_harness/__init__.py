"""PenguinHarness: an agent harness whose stream, Trace, server and model context are one message protocol."""
