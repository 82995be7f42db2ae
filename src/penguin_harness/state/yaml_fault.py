"""What is wrong in a YAML document, in words: the line, the place, and what a misspelt word may have meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any, TypeAlias, TypeVar, cast

from msgspec import inspect

T = TypeVar("T")
Steps: TypeAlias = Sequence[str | int]
_FAULT = re.compile(r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.(?P<key>[^.\[]+)|\[(?P<index>\d+|\.\.\.)\]")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_NO_VALUE = re.compile(r"Invalid enum value '(.*)'", re.DOTALL)
_QUOTED = re.compile(r"""(["'])(?!<).{4,}?\1""", re.DOTALL)


def problem_words(error: Any, above: int) -> str:
    """What the parser says, without the words of the document that it repeats."""
    mark = getattr(error, "problem_mark", None)
    line = f", line {mark.line + 1 + above}" if mark is not None else ""
    said = getattr(error, "problem", None) or str(error).partition("\n")[0]
    key, is_duplicate, _ = said.partition(" with value ")
    said = key if is_duplicate else _QUOTED.sub("…", said)
    hint = "; a text with a colon in it needs quotes" if said.startswith("mapping values") else ""
    return f"{line}: this is no YAML: {said}{hint}"


def fault_words(told: str, kind: type[Any], root: Any, above: int) -> str:
    """What msgspec says of a value of the document below `root`."""
    match = _FAULT.fullmatch(told)
    assert match is not None, "the pattern takes any text"
    what, path = match["what"], _steps(match["path"] or "")
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
    if (unknown := _UNKNOWN.fullmatch(what)) is not None:
        line = _line(root, [*path, unknown[1]], above)
        inside = f" in {place}" if place else ""
        return f"{line}: unknown key {unknown[1]!r}{inside}{did_you_mean(unknown[1], _keys(kind, path))}"
    if match["key"]:
        what = "a key is no text"
    elif (wrong := _NO_VALUE.fullmatch(what)) is not None:
        what = f"this is none of its values{did_you_mean(wrong[1], _values(kind, path))}"
    return f"{_line(root, path, above)}: {f'{place}: ' if place else ''}{what[:1].lower()}{what[1:]}"


def _steps(text: str) -> list[str | int]:
    steps = _STEP.finditer(text)
    return [int(step["index"]) if (step["index"] or "").isdigit() else step["key"] or "…" for step in steps]


def _line(node: Any, path: Steps, above: int) -> str:
    """The line of what the path leads to, or of the deepest part of it that is there."""
    line: int | None = None
    for step in path:
        children = _children(node)
        if isinstance(step, int):
            mark = node = children[step] if step < len(children) else None
        else:
            pairs = [cast("tuple[Any, Any]", child) for child in children if isinstance(child, tuple)]
            mark, node = next((pair for pair in pairs if pair[0].value == step), (None, None))
        if mark is None:
            break
        line = mark.start_mark.line + 1
    return "" if line is None else f", line {line + above}"


def _children(node: Any) -> list[Any]:
    """The entries of a list, or the pairs of a mapping."""
    value: Any = getattr(node, "value", None)
    return cast("list[Any]", value) if isinstance(value, list) else []


def _keys(kind: type[Any], path: Steps) -> list[str]:
    """The keys that may stand at a place."""
    struct = _option(_type_at(kind, path), inspect.StructType)
    return [field.encode_name for field in struct.fields] if struct is not None else []


def _values(kind: type[Any], path: Steps) -> list[str]:
    """The values that may stand at a place, where they are given."""
    literal = _option(_type_at(kind, path), inspect.LiteralType)
    return [str(value) for value in literal.values] if literal is not None else []


def _type_at(kind: type[Any], path: Steps) -> Any:
    info: Any = inspect.type_info(kind)
    for step in path:
        match info:
            case inspect.ListType(item_type=item) | inspect.VarTupleType(item_type=item):
                info = item
            case inspect.DictType(value_type=value):
                info = value
            case _:
                fields: Any = getattr(_option(info, inspect.StructType), "fields", ())
                info = next((field.type for field in fields if field.encode_name == step), None)
    return info


def _option(info: Any, kind: type[T]) -> T | None:
    """The type itself, or the part of a union that is of that kind."""
    options = info.types if isinstance(info, inspect.UnionType) else (info,)
    return next((option for option in options if isinstance(option, kind)), None)


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """The end of a sentence about a word that is not known."""
    close = difflib.get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(known)}" if known else ""
