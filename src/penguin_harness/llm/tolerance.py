"""Reading events that are not quite what they should be: half characters, control characters, numbers as strings."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any, NoReturn, TypeVar, cast

import msgspec
from msgspec import Raw

from penguin_harness.llm.failure import malformed
from penguin_harness.omnimessage import clean

T = TypeVar("T")

_encode = msgspec.json.Encoder().encode


def read_json(data: bytes) -> dict[str, Any]:
    """An event's object; {} for any other value. Raises TransportError when it is no JSON."""
    try:
        text = data.decode(errors="replace")
        value: object = json.loads(text, strict=False, parse_float=_spelled, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise malformed(f"an event is no JSON ({error}): {data[:200].decode(errors='replace')}") from None
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def fitted(fields: dict[str, Any], kind: type[T], opaque: Collection[str]) -> T:
    """The object in this shape; `opaque` are the members, at any depth, that are kept as raw JSON.

    Raises msgspec.ValidationError when it has another one.
    """
    return msgspec.convert(with_raw(fields, opaque), kind, strict=False)


def with_raw(value: object, opaque: Collection[str]) -> object:
    """The value with those members as raw JSON, whose half characters are replaced."""
    match value:
        case dict():
            members = cast(dict[str, object], value).items()
            return {name: as_raw(sub) if name in opaque else with_raw(sub, opaque) for name, sub in members}
        case list():
            return [with_raw(item, opaque) for item in cast(list[object], value)]
        case Raw():
            return float(bytes(value))
        case _:
            return value


def _spelled(number: str) -> Raw:
    """A number as it was written."""
    return Raw(number.encode())


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def as_raw(value: object) -> Raw:
    """What `read_json` read, as JSON again: numbers as they were written, half characters replaced."""
    return Raw(_encode(_cleaned(value)))


def _cleaned(value: object) -> object:
    match value:
        case dict():
            return {clean(name): _cleaned(sub) for name, sub in cast(dict[str, object], value).items()}
        case list():
            return [_cleaned(item) for item in cast(list[object], value)]
        case str():
            return clean(value)
        case _:
            return value
