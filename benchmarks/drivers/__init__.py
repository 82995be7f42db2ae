"""The programs that are compared: each plays a scenario in a process of its own."""
