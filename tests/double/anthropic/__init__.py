"""Anthropic's Messages: what the vendor takes, refuses and streams."""
