"""What maintainers run: each script says what it writes."""
