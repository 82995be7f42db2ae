"""Refusals in the words of the vendor's validator: the place, a colon, and what is wrong there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from tests.double.refusal import Refusal


def invalid(at: str, why: str, code: str = "invalid_value") -> Refusal:
    return Refusal(f"{at}: {why}", at, code)


def extra(at: str) -> Refusal:
    return invalid(at, "Extra inputs are not permitted", "unknown_parameter")


def required(at: str) -> Refusal:
    return invalid(at, "Field required", "missing_required_parameter")


def should_be(at: str, what: str) -> Refusal:
    return invalid(at, f"Input should be {what}", "invalid_type")


def one_of(at: str, values: Sequence[str]) -> Refusal:
    *most, last = (f"'{value}'" for value in values)
    return invalid(at, f"Input should be {', '.join(most)} or {last}" if most else f"Input should be {last}")


def wrong_tag(at: str, tag: object, known: Collection[str]) -> Refusal:
    expected = ", ".join(f"'{one}'" for one in known)
    return invalid(at, f"Input tag '{tag}' found using 'type' does not match any of the expected tags: {expected}")


def check_keys(at: str, value: Mapping[str, object], known: Collection[str]) -> Iterator[Refusal]:
    """Each key that the vendor does not know there."""
    yield from (extra(f"{at}.{key}" if at else key) for key in value if key not in known)


def check_string(at: str, value: Mapping[str, object], key: str) -> Iterator[Refusal]:
    """A string that must be there."""
    if key not in value:
        yield required(f"{at}.{key}")
    elif not isinstance(value[key], str):
        yield should_be(f"{at}.{key}", "a valid string")


def check_flag(at: str, value: Mapping[str, object], key: str) -> Iterator[Refusal]:
    """A boolean that may be there."""
    if not isinstance(value.get(key, False), bool):
        yield should_be(f"{at}.{key}", "a valid boolean")
