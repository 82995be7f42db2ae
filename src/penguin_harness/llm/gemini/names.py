"""Names of tools. The vendor wants a letter or an underscore first, so others get an underscore that is taken off."""

from __future__ import annotations

import re

from penguin_harness.llm.ids import fitting_name

_UNFIT_START = re.compile(r"_*[0-9-]")
_MENDED_START = re.compile(r"_+[0-9-]")


def sent(name: str) -> str:
    """The name as the vendor takes it."""
    name = fitting_name(name)
    return f"_{name}" if _UNFIT_START.match(name) else name


def received(name: str) -> str:
    """The tool that the model means."""
    return name[1:] if _MENDED_START.match(name) else name
