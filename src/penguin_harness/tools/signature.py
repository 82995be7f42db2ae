"""A function's signature as a JSON Schema and a strict decoder of its arguments."""

from __future__ import annotations

import copy
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Annotated, Any, cast

import msgspec
from msgspec import Meta, Struct

from penguin_harness.errors import ToolDefinitionError
from penguin_harness.tools.arguments import decode_arguments
from penguin_harness.tools.context import ToolContext

_STRUCT = "Arguments"
_IMMUTABLE = (type(None), bool, int, float, str, bytes, tuple, frozenset, Enum)


class Signature(Struct, frozen=True):
    """What a function takes from the model, and the parameter that takes the context instead."""

    parameters: bytes
    decode: Callable[[str], dict[str, Any]]
    context: str | None


def read_signature(function: Callable[..., object], descriptions: Mapping[str, str]) -> Signature:
    """Read the type hints. Raises ToolDefinitionError naming the function, the parameter and the fix."""
    where = f"tool function {name_of(function)!r}"
    context: str | None = None
    fields: list[tuple[str, Any, Any]] = []
    for parameter in _parameters(function, where):
        place = f"{where}, parameter {parameter.name!r}"
        hint = _hint(function, parameter, place)
        if _bare(hint) is ToolContext and context is None:
            context = parameter.name
            continue
        fields.append((parameter.name, _described(hint, descriptions.get(parameter.name)), _default(parameter)))
        _check(fields[-1], place)
    arguments = msgspec.defstruct(_STRUCT, fields, forbid_unknown_fields=True, kw_only=True)
    schema = msgspec.json.encode(_schema(arguments))
    return Signature(schema, _decode(arguments, tuple(name for name, _, _ in fields), schema), context)


def name_of(function: Callable[..., object]) -> str:
    """The function's own name; that of its class for a callable object."""
    inner = function.func if isinstance(function, functools.partial) else function
    return getattr(inner, "__name__", type(inner).__name__)


def _parameters(function: Callable[..., object], where: str) -> list[inspect.Parameter]:
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, NameError) as error:
        raise ToolDefinitionError(f"{where}: its signature cannot be read ({error}); wrap it in a function") from None
    for parameter in parameters:
        place = f"{where}, parameter {parameter.name!r}"
        match parameter.kind:
            case inspect.Parameter.POSITIONAL_ONLY:
                raise ToolDefinitionError(f"{place}: positional-only; remove the `/`, the model passes names")
            case inspect.Parameter.VAR_POSITIONAL | inspect.Parameter.VAR_KEYWORD:
                raise ToolDefinitionError(f"{place}: a tool takes no *args or **kwargs; name each parameter")
            case _:
                pass
        if parameter.annotation is parameter.empty:
            raise ToolDefinitionError(f"{place}: no type annotation; add one, as `{parameter.name}: str`")
    return parameters


def _hint(function: Callable[..., object], parameter: inspect.Parameter, place: str) -> Any:
    inner = function.func if isinstance(function, functools.partial) else function
    inner = inner if hasattr(inner, "__name__") else type(inner).__call__
    names: dict[str, Any] = getattr(inspect.unwrap(inner), "__globals__", {})

    def holder() -> None: ...

    holder.__annotations__ = {"hint": parameter.annotation}
    try:
        return typing.get_type_hints(holder, names, include_extras=True)["hint"]
    except Exception as error:  # noqa: BLE001 - an annotation is any expression
        raise ToolDefinitionError(
            f"{place}: its annotation cannot be evaluated ({error}); it must name what the module knows at run time"
        ) from None


def _bare(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is Annotated else hint


def _described(hint: Any, documented: str | None) -> Any:
    """The hint with a description for the schema: from Annotated, else from the docstring."""
    extras: tuple[Any, ...] = getattr(hint, "__metadata__", ())
    if any(isinstance(extra, Meta) and extra.description for extra in extras):
        return hint
    text = next((extra for extra in extras if isinstance(extra, str)), documented)
    return Annotated[hint, Meta(description=text)] if text else hint


def _default(parameter: inspect.Parameter) -> Any:
    value: Any = parameter.default
    if value is parameter.empty:
        return msgspec.NODEFAULT
    is_empty = type(value) in {list, dict, set} and not value  # msgspec makes a new one each time
    if not isinstance(value, _IMMUTABLE) and not is_empty:
        return msgspec.field(default_factory=lambda: copy.deepcopy(value))
    return parameter.default


def _check(field: tuple[str, Any, Any], place: str) -> None:
    """Try one field alone, so that the error can name it."""
    try:
        alone = msgspec.defstruct(_STRUCT, [field], kw_only=True)
        msgspec.json.Decoder(alone)
        _schema(alone)
    except Exception as error:  # noqa: BLE001 - whatever the type system of the hint says
        reason = str(error).strip().splitlines()[-1]
        raise ToolDefinitionError(
            f"{place}: {reason}; use str, int, float, bool, list, dict, Literal, Optional, Enum, Struct, dataclass"
            " or TypedDict"
        ) from None


def _schema(struct: type[Struct]) -> dict[str, Any]:
    prefix = "#/$defs/"
    (reference,), definitions = msgspec.json.schema_components([struct], ref_template=prefix + "{name}")
    schema = cast(dict[str, Any], definitions.pop(reference["$ref"].removeprefix(prefix)))
    del schema["title"]
    return schema | ({"$defs": definitions} if definitions else {})


def _decode(arguments: type[Struct], names: tuple[str, ...], schema: bytes) -> Callable[[str], dict[str, Any]]:
    decoder = msgspec.json.Decoder(arguments)

    def decode(text: str) -> dict[str, Any]:
        values = decode_arguments(text, decoder, schema)
        return {name: getattr(values, name) for name in names}

    return decode
