"""Values as JSON for programs."""

from __future__ import annotations

import sys

import msgspec

from penguin_harness.omnimessage import clean


def print_json(value: object) -> None:
    """Print structs, and what they hold, as indented JSON; paths as text that is valid everywhere."""
    encoded = msgspec.json.encode(value, enc_hook=lambda each: clean(str(each)))
    sys.stdout.write(f"{msgspec.json.format(encoded).decode()}\n")
