"""An exception as the model reads it."""

from __future__ import annotations

from typing import cast


def describe(error: BaseException) -> str:
    """`TypeName: text`, with the innermost cause when there is one."""
    text, root = _name_and_text(error), error
    seen = {id(error)}
    while (cause := _cause_of(root)) is not None and id(cause) not in seen:
        seen.add(id(cause))
        root = cause
    return text if root is error else f"{text} (caused by {_name_and_text(root)})"


def _cause_of(error: BaseException) -> BaseException | None:
    if isinstance(error, BaseExceptionGroup):
        return cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _name_and_text(error: BaseException) -> str:
    text = text_of(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def text_of(error: BaseException) -> str:
    """Its text, also when its class cannot give one."""
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - whatever a broken class raises
        return "<unprintable>"
