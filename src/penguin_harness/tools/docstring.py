"""What a docstring tells the model: its first paragraph, and a description for each parameter."""

from __future__ import annotations

import re

_SECTION = re.compile(r"(Args|Arguments|Parameters|Returns|Yields|Raises|Examples?|Notes?):\s*$")
_ENTRY = re.compile(r"\*{0,2}(?P<name>\w+)\s*(\([^)]*\))?:\s*(?P<text>.*)$")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The first paragraph, and the entries of a Google-style `Args:` section; `text` as `inspect.getdoc` gives it."""
    lines = text.strip().splitlines()
    paragraph: list[str] = []
    for line in lines:
        if not line.strip() or _SECTION.match(line):
            break
        paragraph.append(line.strip())
    return " ".join(paragraph), _arguments(lines)


def _arguments(lines: list[str]) -> dict[str, str]:
    entries: dict[str, str] = {}
    inside, depth, name = False, 0, ""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            continue
        if indent == 0:
            section = _SECTION.match(line)
            inside, depth, name = section is not None and section[1] in {"Args", "Arguments", "Parameters"}, 0, ""
            continue
        if not inside:
            continue
        depth = depth or indent
        entry = _ENTRY.match(line.strip()) if indent == depth else None
        if entry:
            name = entry["name"]
            entries[name] = entry["text"]
        elif name:
            entries[name] = f"{entries[name]} {line.strip()}".strip()
    return entries
