"""Reads a line of bash without running it: every simple command that it may run, and what is known of it."""
