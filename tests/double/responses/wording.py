"""The vendor's phrases that many rules share."""

from __future__ import annotations

from collections.abc import Sequence

from tests.double.refusal import Refusal


def not_one_of(at: str, value: object, values: Sequence[str]) -> Refusal:
    """The value is not among those that are documented."""
    return Refusal(f"Invalid value: '{value}'. Supported values are: {listed(values)}.", at, "invalid_value")


def unsupported(at: str) -> Refusal:
    """The model does not know this parameter."""
    return Refusal(f"Unsupported parameter: '{at}' is not supported with this model.", at, "unsupported_parameter")


def too_long(at: str, text: str, most: int) -> Refusal:
    """A string above its limit."""
    why = f"Expected a string with maximum length {most}, but got a string with length {len(text)} instead."
    return Refusal(f"Invalid '{at}': string too long. {why}", at, "string_above_max_length")


def too_many(at: str, count: int, most: int) -> Refusal:
    """An array above its limit."""
    why = f"Expected an array with maximum length {most}, but got an array with length {count} instead."
    return Refusal(f"Invalid '{at}': array too long. {why}", at, "array_above_max_length")


def no_match(at: str, pattern: str) -> Refusal:
    """A string that breaks its pattern."""
    why = f"Expected a string that matches the pattern '{pattern}'."
    return Refusal(f"Invalid '{at}': string does not match pattern. {why}", at, "invalid_value")


def empty(at: str) -> Refusal:
    """An array that must hold something."""
    why = "Expected an array with minimum length 1, but got an empty array instead."
    return Refusal(f"Invalid '{at}': empty array. {why}", at, "empty_array")


def not_found(item_id: str) -> Refusal:
    """An item that only the server could know, and it keeps none."""
    text = f"Item with id '{item_id}' not found. Items are not persisted when `store` is set to false. Try again with"
    return Refusal(f"{text} `store` set to true, or remove this item from your input.", "input", None, 404)


def listed(values: Sequence[str]) -> str:
    """`'a', 'b', and 'c'`."""
    quoted = [f"'{value}'" for value in values]
    match quoted:
        case [] | [_]:
            return "".join(quoted)
        case [first, second]:
            return f"{first} and {second}"
        case _:
            return f"{', '.join(quoted[:-1])}, and {quoted[-1]}"
