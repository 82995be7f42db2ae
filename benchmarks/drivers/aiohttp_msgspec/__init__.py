"""Sketch: aiohttp and typed msgspec decoding, with a tool loop written by hand and nothing stored."""
