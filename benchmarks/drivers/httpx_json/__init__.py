"""Baseline: httpx, aiter_lines and json.loads, with a tool loop written by hand and nothing stored."""
