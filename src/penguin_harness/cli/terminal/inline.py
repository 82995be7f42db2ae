"""Inline Markdown as it streams: each span is written once it is known, none is written twice."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penguin_harness.cli.terminal.spans import Span

BOUND = 240
"""Characters that may stand between an opening mark and its end; past it the mark is plain text."""

_LONGEST = 2 * BOUND + 8

_CODE = re.compile(rf"(?P<mark>`+)(?P<inner>[^`].{{0,{BOUND}}}?)(?P=mark)(?!`)")
_STRONG = re.compile(rf"(?P<mark>\*\*|__)(?=\S)(?P<inner>.{{1,{BOUND}}}?)(?<=\S)(?P=mark)(?![*_])")
_EMPHASIS = re.compile(rf"(?P<mark>[*_])(?=[^\s*_])(?P<inner>.{{1,{BOUND}}}?)(?<=[^\s*_])(?P=mark)(?![\w*])")
_LINK = re.compile(rf"!?\[(?P<inner>[^\[\]]{{1,{BOUND}}})\]\((?P<target>[^()\s]{{1,{BOUND}}})\)")
_MARK = re.compile(r"[`*_\[\\!]")
_ESCAPABLE = frozenset("\\`*_{}[]()#+-.!|>~<")


class Inline:
    """One line's text: feed it in any pieces and take the spans that are certain."""

    def __init__(self) -> None:
        self._held = ""
        self._before = " "

    def feed(self, text: str, style: str = "") -> Iterator[Span]:
        """The spans that the new text makes certain."""
        self._held += text
        yield from self._take(style, final=False)

    def end(self, style: str = "") -> Iterator[Span]:
        """The spans of what is held back; the line is over."""
        yield from self._take(style, final=True)
        self._before = " "

    def _take(self, style: str, *, final: bool) -> Iterator[Span]:
        while self._held:
            mark = _MARK.search(self._held)
            start = mark.start() if mark else len(self._held)
            if start == 0:
                size, spans = _marked(self._held, self._before, style, final=final)
                if size == 0:
                    return
            else:
                size, spans = start, [Span(self._held[:start], style)]
            self._before = self._held[size - 1]
            self._held = self._held[size:]
            yield from spans


def _marked(held: str, before: str, style: str, *, final: bool) -> tuple[int, list[Span]]:
    """What begins with a mark: how much of it is certain, and as which spans. Size 0 waits for more."""
    if held[0] == "\\":
        return _escaped(held, style, final=final)
    if not final and len(held) < 3:
        return 0, []
    found = _found(held, before)
    if found is not None:  # what follows its last character may still belong to the closing mark
        return (found.end(), _styled(found, style)) if final or found.end() < len(held) else (0, [])
    if not final and len(held) <= _LONGEST and _may_open(held, before):
        return 0, []
    run = len(held) - len(held.lstrip(held[0])) if held[0] in "`*_" else 1
    return run, [Span(held[:run], style)]


def _escaped(held: str, style: str, *, final: bool) -> tuple[int, list[Span]]:
    if len(held) == 1 and not final:
        return 0, []
    if held[1:2] in _ESCAPABLE and len(held) > 1:
        return 2, [Span(held[1], style)]
    return 1, [Span("\\", style)]


def _found(held: str, before: str) -> re.Match[str] | None:
    match held[0]:
        case "`":
            return _CODE.match(held)
        case "[" | "!":
            return _LINK.match(held)
        case "_" if before.isalnum() or before == "_":
            return None
        case _:
            return _STRONG.match(held) or _EMPHASIS.match(held)


def _may_open(held: str, before: str) -> bool:
    """Whether more text could still make this a span."""
    match held[0]:
        case "`":
            return True
        case "!":
            return held[1] == "[" and _may_link(held[2:])
        case "[":
            return _may_link(held[1:])
        case "_" if before.isalnum() or before == "_":
            return False
        case mark:
            rest = held.lstrip(mark)
            return not rest or not rest[0].isspace()


def _may_link(after: str) -> bool:
    text, closed, target = after.partition("]")
    if "[" in text or not closed or not target:
        return "[" not in text
    return target[0] == "(" and not re.search(r"[\s()]", target[1:])


def _styled(found: re.Match[str], style: str) -> list[Span]:
    inner = found["inner"]
    mark = found.groupdict().get("mark")
    if mark is None:
        target = found["target"]
        shown = [] if target == inner else [Span(f" ({target})", f"{style} dim".strip())]
        return [*_nested(inner, f"{style} underline"), *shown]
    if mark[0] == "`":
        return [Span(_unpadded(inner), _with(style, "cyan"))]
    return _nested(inner, _with(style, "bold" if len(mark) == 2 else "italic"))


def _nested(text: str, style: str) -> list[Span]:
    return list(_whole(text, style.strip()))


def _whole(text: str, style: str) -> Iterator[Span]:
    part = Inline()
    yield from part.feed(text, style)
    yield from part.end(style)


def _with(style: str, word: str) -> str:
    return style if word in style.split() else f"{style} {word}".strip()


def _unpadded(code: str) -> str:
    return code[1:-1] if len(code) > 2 and code[0] == code[-1] == " " else code


def inline(text: str, style: str = "") -> list[Span]:
    """A whole line's spans."""
    return _nested(text, style)
