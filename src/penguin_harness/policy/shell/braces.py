"""Brace expansion: `a{b,c}` are two words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from penguin_harness.policy.shell.syntax import Parameter, Piece, Text, Unreadable, Word

MOST = 1_000
MOST_BRACES = 100
_TOO_MANY = "its braces stand for too many words"

_Unit: TypeAlias = str | Piece
"""An unquoted character, or a piece that braces do not reach into."""
_IN_A_NAME = re.compile(r"[A-Za-z0-9_]")
_RANGE = re.compile(r"(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?")


def expand_braces(word: Word) -> list[Word]:
    """The words that it stands for, itself when there are no braces. Raises Unreadable when they are too many."""
    if not any(isinstance(piece, Text) and not piece.quoted and "{" in piece.text for piece in word.pieces):
        return [word]
    units = [unit for piece in word.pieces for unit in _units(piece)]
    if units.count("{") > MOST_BRACES:
        raise Unreadable(_TOO_MANY)
    found = _expanded(units)
    return [word] if len(found) == 1 else [Word(_pieces(each), word.source) for each in found]


def _units(piece: Piece) -> Sequence[_Unit]:
    return piece.text if isinstance(piece, Text) and not piece.quoted else (piece,)


def _pieces(units: Sequence[_Unit]) -> tuple[Piece, ...]:
    pieces: list[Piece] = []
    run = ""
    for unit in (*units, Text("", quoted=False)):
        if isinstance(unit, str):
            if run or not _goes_on(pieces, unit):
                run += unit
            continue
        if run:
            pieces.append(Text(run))
        run = ""
        pieces.append(unit)
    return tuple(pieces[:-1])


def _goes_on(pieces: list[Piece], unit: str) -> bool:
    """Braces come before variables: of `$a{b,c}` the variables are `ab` and `ac`."""
    last = pieces[-1] if pieces else None
    if not isinstance(last, Parameter) or last.source != f"${last.name}" or last.quoted:
        return False
    if not last.name.isidentifier() or _IN_A_NAME.fullmatch(unit) is None:
        return False
    pieces[-1] = Parameter(f"{last.name}{unit}", f"{last.source}{unit}")
    return True


def _expanded(units: Sequence[_Unit]) -> list[list[_Unit]]:
    for start, unit in enumerate(units):
        if unit != "{":
            continue
        end = _closing(units, start)
        choices = _choices(units[start + 1 : end]) if end is not None else None
        if end is None or choices is None:
            continue
        tails = _expanded(units[end + 1 :])
        if len(choices) * len(tails) > MOST:
            raise Unreadable(_TOO_MANY)
        return [[*units[:start], *choice, *tail] for choice in choices for tail in tails]
    return [list(units)]


def _closing(units: Sequence[_Unit], start: int) -> int | None:
    depth = 0
    for at in range(start, len(units)):
        depth += _opened(units[at])
        if depth == 0:
            return at
    return None


def _opened(unit: _Unit) -> int:
    return 1 if unit == "{" else -1 if unit == "}" else 0


def _choices(inner: Sequence[_Unit]) -> list[list[_Unit]] | None:
    """What stands between the commas, or the members of a range; None when it is neither."""
    parts: list[list[_Unit]] = [[]]
    depth = 0
    for unit in inner:
        depth += _opened(unit)
        if unit == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(unit)
    if len(parts) > 1:
        return [choice for part in parts for choice in _expanded(part)]
    text = "".join(unit for unit in inner if isinstance(unit, str))
    found = _RANGE.fullmatch(text) if len(text) == len(inner) else None
    return None if found is None else [list(member) for member in _members(found)]


def _members(found: re.Match[str]) -> Iterator[str]:
    first, last, step = found.groups()
    numeric = [end.lstrip("-").isdigit() for end in (first, last)]
    if not all(numeric) and any(numeric):
        yield f"{{{found[0]}}}"
        return
    low, high = (int(first), int(last)) if all(numeric) else (ord(first), ord(last))
    stride = abs(int(step or 1)) or 1
    members = range(low, high + 1, stride) if low <= high else range(low, high - 1, -stride)
    if len(members) > MOST:
        raise Unreadable(_TOO_MANY)
    for member in members:
        yield str(member) if all(numeric) else chr(member)
