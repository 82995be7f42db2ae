"""Foreign text made harmless: what a model, a tool or a file says never reaches the terminal as a command."""

from __future__ import annotations

import re

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]P^_X][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC and its kin: titles, links, clipboard
    r"|\x1b[ -/]*[0-Z\\-~]"
)
_UNSAFE = (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000))
_PICTURES: dict[int, str | None] = {
    **{code: chr(0x2400 + code) for code in range(32)},
    **dict.fromkeys(_UNSAFE, "\ufffd"),  # C1 controls, direction overrides, lone surrogates
    0x7F: "␡",
    0x2028: "\n",
    0x2029: "\n",
    ord("\n"): "\n",
    ord("\r"): None,
    ord("\t"): "    ",
}


def neutral(text: str) -> str:
    """The text with its control characters as pictures; newlines stay. Piecewise or whole, the result is the same."""
    return text.translate(_PICTURES)


def neutral_output(text: str) -> str:
    """A tool's output as a terminal would have left it: colours dropped, overwritten lines gone, the rest neutral."""
    lines = _ESCAPES.sub("", text).replace("\r\n", "\n").split("\n")
    return neutral("\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines))


def one_line(text: str) -> str:
    """The text on one line, its runs of space as one."""
    return " ".join(neutral(text).split())
