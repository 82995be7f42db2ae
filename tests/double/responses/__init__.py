"""OpenAI's Responses API: what it refuses, and what its answers look like."""
