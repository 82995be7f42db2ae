"""Refusals, worded as the vendor words them."""

from __future__ import annotations

from typing import cast

from msgspec import Struct


class Refusal(Struct, frozen=True):
    """One reason why a request is not answered."""

    message: str
    param: str | None = None
    code: str | None = None
    status: int = 400


def unknown(param: str) -> Refusal:
    return Refusal(f"Unknown parameter: '{param}'.", param, "unknown_parameter")


def missing(param: str) -> Refusal:
    return Refusal(f"Missing required parameter: '{param}'.", param, "missing_required_parameter")


def wrong_type(param: str, expected: str, value: object) -> Refusal:
    text = f"Invalid type for '{param}': expected {expected}, but got {kind_of(value)} instead."
    return Refusal(text, param, "invalid_type")


def invalid(param: str, why: str, code: str = "invalid_value") -> Refusal:
    return Refusal(f"Invalid '{param}': {why}", param, code)


def kind_of(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
        case _:
            return "an object"


def as_object(value: object) -> dict[str, object] | None:
    """The value if it is a JSON object."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def as_list(value: object) -> list[object] | None:
    """The value if it is a JSON array."""
    return cast("list[object]", value) if isinstance(value, list) else None
