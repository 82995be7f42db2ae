"""A tool: what the model is told of it, and the function behind it."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, TypeAlias, overload

import msgspec
from msgspec import Struct

from penguin_harness.contracts import Permission
from penguin_harness.errors import ToolDefinitionError
from penguin_harness.invoke import invoke, is_async
from penguin_harness.omnimessage import StopReason
from penguin_harness.tools.arguments import decode_arguments
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.docstring import read_docstring
from penguin_harness.tools.signature import name_of, read_signature

Function: TypeAlias = Callable[..., Any]
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class ToolResult(Struct, frozen=True):
    """What a tool returns when a text alone does not say it all."""

    text: str = ""
    images: tuple[str, ...] = ()
    """Data URLs, as `data:image/png;base64,…`."""
    note: str | None = None
    """A closing remark, which stays in sight when the text is cut."""
    stop_reason: StopReason = "completed"

    def __post_init__(self) -> None:
        for image in self.images:
            if not image.startswith("data:"):
                raise ValueError(f"images are data URLs (data:image/png;base64,…), not {image[:40]!r}")


class Tool(Struct, frozen=True, kw_only=True, eq=False):
    """A function that the model may call. Made by `tool`, `as_tool` or `raw_tool`; calling it calls the function."""

    name: str
    description: str
    parameters: bytes
    """JSON Schema of the arguments, as the model is told."""
    function: Function
    decode: Callable[[str], dict[str, Any]]
    """The model's JSON text as the function's keyword arguments; raises ToolFailed."""
    context: str | None = None
    """The parameter that takes the ToolContext."""
    permission: Permission = "rw"
    timeout: float | None = None
    """Seconds; None means the toolbox's own limit."""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ToolDefinitionError(
                f"tool name {self.name!r}: only 1 to 64 of A-Z, a-z, 0-9, _ and - work; pass another as name="
            )
        if not self.description.strip():
            raise ToolDefinitionError(
                f"tool {self.name!r}: no description for the model; give the function a docstring or pass description="
            )
        if self.timeout is not None and self.timeout <= 0:
            raise ToolDefinitionError(f"tool {self.name!r}: timeout={self.timeout} must be more than 0 seconds")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function as if it were no tool."""
        return self.function(*args, **kwargs)

    @property
    def runs_in_thread(self) -> bool:
        """Whether it is a plain function, which cannot be stopped."""
        return not is_async(self.function) and not inspect.isasyncgenfunction(self.function)

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        """Call the function with decoded arguments, streaming what it yields."""
        arguments = self.keywords(arguments, context)
        if not inspect.isasyncgenfunction(self.function):
            return to_result(await invoke(self.function, **arguments))
        async with aclosing(self.function(**arguments)) as pieces:
            async for piece in pieces:
                await context.write(piece)
        return ToolResult()

    def keywords(self, arguments: dict[str, Any], context: ToolContext) -> dict[str, Any]:
        """What the function is called with."""
        return arguments | {self.context: context} if self.context else arguments


def to_result(value: object) -> ToolResult:
    """A function's return value as a result: text as it is, None as nothing, anything else as JSON."""
    match value:
        case ToolResult():
            return value
        case None:
            return ToolResult()
        case str():
            return ToolResult(value)
        case _:
            try:
                return ToolResult(msgspec.json.encode(value).decode())
            except UnicodeEncodeError:  # a lone surrogate somewhere inside: made valid later, with the rest of the text
                return ToolResult(json.dumps(msgspec.to_builtins(value), ensure_ascii=False))


@overload
def tool(function: Function, /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    permission: Permission = "rw",
    timeout: float | None = None,
) -> Callable[[Function], Tool]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    permission: Permission = "rw",
    timeout: float | None = None,
) -> Tool | Callable[[Function], Tool]:
    """Make a tool of a function: its hints are the schema, its docstring is what the model reads.

    The first paragraph of the docstring describes the tool, a Google-style `Args:` section (or `Annotated`) the
    parameters. The function is plain (it runs in a thread), async, or an async generator that yields its output.
    Raises ToolDefinitionError.
    """

    def make(function: Function) -> Tool:
        if inspect.isgeneratorfunction(function):
            raise ToolDefinitionError(f"tool function {name_of(function)!r}: a plain generator; make it `async def`")
        paragraph, descriptions = read_docstring(inspect.getdoc(function) or "")
        signature = read_signature(function, descriptions)
        return Tool(
            name=name or name_of(function),
            description=description or paragraph,
            parameters=signature.parameters,
            function=function,
            decode=signature.decode,
            context=signature.context,
            permission=permission,
            timeout=timeout,
        )

    return make if function is None else make(function)


def as_tool(function: Tool | Function) -> Tool:
    """The tool itself, or a tool made of a plain function. Raises ToolDefinitionError."""
    if isinstance(function, Tool):
        return function
    if not callable(function):
        raise ToolDefinitionError(f"{function!r} is no tool; pass a function or what @tool made of one")
    return tool(function)


def raw_tool(
    name: str,
    description: str,
    parameters: bytes,
    function: Function,
    *,
    permission: Permission = "rw",
    timeout: float | None = None,
) -> Tool:
    """A tool whose schema comes from elsewhere: `function(arguments, context)` gets the JSON object as a dict.

    Only that the arguments are an object is checked here; whoever gave the schema checks the rest.
    """
    decoder = msgspec.json.Decoder(dict[str, Any])

    def decode(text: str) -> dict[str, Any]:
        return {"arguments": decode_arguments(text, decoder, parameters)}

    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        function=function,
        decode=decode,
        context="context",
        permission=permission,
        timeout=timeout,
    )
