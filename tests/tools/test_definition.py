"""A function becomes a tool: schema, descriptions, and definitions that are refused."""

from __future__ import annotations

import asyncio
import enum
import functools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import msgspec
import pytest
from msgspec import Meta, Struct

from penguin_harness.errors import ToolDefinitionError
from penguin_harness.tools import Tool, ToolContext, ToolResult, as_tool, raw_tool, tool


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Arguments(Struct):
    """Bears the name that the generated struct has too."""

    x: int


@dataclass
class Size:
    width: int


class Options(TypedDict):
    deep: NotRequired[bool]


def schema_of(made: Tool) -> dict[str, Any]:
    return msgspec.json.decode(made.parameters)


def test_hints_become_the_schema_and_the_docstring_its_descriptions() -> None:
    @tool
    def search(
        query: str,
        context: ToolContext,
        limit: Annotated[int, Meta(ge=1, le=50)] = 10,
        kind: Literal["file", "folder"] = "file",
        color: Color | None = None,
        tags: Annotated[list[str], "Only with these tags."] = [],  # noqa: B006 - the model's default
    ) -> str:
        """Find things
        in the project.

        Not for the model.

        Args:
            query: What to look for,
                word by word.
            limit (int): At most so many.

        Returns:
            query: not a parameter here.
        """
        return query

    assert (search.name, search.description) == ("search", "Find things in the project.")
    assert schema_of(search) == {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, word by word."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "At most so many."},
            "kind": {"enum": ["file", "folder"], "default": "file"},
            "color": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}], "default": None},
            "tags": {
                "type": "array",
                "items": {"type": "string"},
                "default": [],
                "description": "Only with these tags.",
            },
        },
        "required": ["query"],
        "additionalProperties": False,
        "$defs": {"Color": {"title": "Color", "enum": ["blue", "red"]}},
    }
    assert search.context == "context"


def test_structs_dataclasses_and_typed_dicts_may_be_nested() -> None:
    @tool(name="nested", permission="r", timeout=3)
    def function(one: Arguments, two: Size, three: Options, four: dict[str, float]) -> None:
        """Nest."""

    properties = schema_of(function)["properties"]
    assert [value.get("$ref", "").rpartition(".")[2].rpartition("/")[2] for value in properties.values()] == [
        "Arguments",
        "Size",
        "Options",
        "",
    ]
    assert (function.name, function.permission, function.timeout) == ("nested", "r", 3)
    decoded = function.decode('{"one": {"x": 1}, "two": {"width": 2}, "three": {"deep": true}, "four": {"a": 1}}')
    assert decoded == {"one": Arguments(1), "two": Size(2), "three": {"deep": True}, "four": {"a": 1.0}}


def test_a_default_is_not_shared_between_calls() -> None:
    @tool
    def function(a: list[int] = [1]) -> None:  # noqa: B006
        """Do."""

    first = function.decode("{}")["a"]
    first.append(2)
    assert function.decode("{}") == {"a": [1]}


def test_a_tool_can_be_called_like_its_function() -> None:
    @tool
    def double(x: int) -> int:
        """Double."""
        return 2 * x

    assert double(4) == 8


def test_plain_functions_methods_and_partials_are_tools_too() -> None:
    def greet(name: str, greeting: str) -> str:
        """Greet."""
        return f"{greeting}, {name}"

    class Shop:
        """A shop."""

        def price(self, item: str) -> str:
            """Ask for a price."""
            return item

        def __call__(self, item: str) -> str:
            return item

    assert as_tool(greet).name == "greet"
    assert as_tool(as_tool(greet)).function is greet
    assert list(schema_of(as_tool(Shop().price))["properties"]) == ["item"]
    assert as_tool(Shop()).name == "Shop"
    partial = tool(name="hello", description="Greet.")(functools.partial(greet, greeting="Hello"))
    assert schema_of(partial)["required"] == ["name"]


def positional(a: int, /) -> None:
    """Do."""


def variadic(*rest: int) -> None:
    """Do."""


def keywords(**rest: int) -> None:
    """Do."""


def unannotated(a) -> None:  # type: ignore[no-untyped-def]
    """Do."""


def undocumented(a: int) -> None: ...


def unsupported(a: Path) -> None:
    """Do."""


def callback(a: Callable[[], int]) -> None:
    """Do."""


def unresolved(a: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Do."""


def bad_default(a: object = object()) -> None:
    """Do."""


def two_contexts(a: ToolContext, b: ToolContext) -> None:
    """Do."""


def generator():  # type: ignore[no-untyped-def]
    """Do."""
    yield "text"


def größe(a: int) -> None:
    """Do."""


REFUSED: list[tuple[Any, list[str]]] = [
    (positional, ["'positional'", "'a'", "remove the `/`"]),
    (variadic, ["'variadic'", "'rest'", "name each parameter"]),
    (keywords, ["'keywords'", "'rest'", "name each parameter"]),
    (unannotated, ["'unannotated'", "'a'", "add one, as `a: str`"]),
    (undocumented, ["'undocumented'", "docstring"]),
    (unsupported, ["'unsupported'", "'a'", "Path", "use str"]),
    (callback, ["'callback'", "'a'", "Callable"]),
    (unresolved, ["'unresolved'", "'a'", "Missing"]),
    (bad_default, ["'bad_default'", "'a'"]),
    (two_contexts, ["'two_contexts'", "'b'", "ToolContext"]),
    (generator, ["'generator'", "async def"]),
    (größe, ["'größe'", "name="]),
    (max, ["'max'"]),
    ("text", ["'text'", "function"]),
]


@pytest.mark.parametrize(("function", "parts"), REFUSED, ids=lambda value: getattr(value, "__name__", ""))
def test_a_definition_that_cannot_be_offered_names_function_parameter_and_fix(function: Any, parts: list[str]) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        as_tool(function)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "a.b", "x" * 65, "a\n", "é"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError, match="name"):
        raw_tool(name, "Do.", b"{}", print)


def test_a_limit_must_be_positive() -> None:
    with pytest.raises(ToolDefinitionError, match="more than 0"):
        raw_tool("a", "Do.", b"{}", print, timeout=0)


async def test_a_raw_tool_gets_the_object_and_the_context(tmp_path: Path) -> None:
    seen: list[object] = []

    async def function(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        seen.append((arguments, context.session_id))
        return ToolResult("done")

    made = raw_tool("mcp__server__tool", "Do.", b'{"type":"object"}', function, permission="r")
    context = ToolContext(workspace=tmp_path, session_id="s", scratchpad=tmp_path)
    assert await made.run(made.decode('{"a": [1]}'), context) == ToolResult("done")
    assert seen == [({"a": [1]}, "s")]


def test_images_are_data_urls() -> None:
    with pytest.raises(ValueError, match="data URLs"):
        ToolResult(images=("https://example.org/a.png",))


async def test_a_tool_of_every_kind_runs_by_itself(tmp_path: Path) -> None:
    pieces: list[str] = []

    async def write(text: str) -> None:
        pieces.append(text)

    async def stream(count: int) -> AsyncIterator[str]:
        """Count."""
        for number in range(count):
            yield str(number)
            await asyncio.sleep(0)

    context = ToolContext(workspace=tmp_path, session_id="s", scratchpad=tmp_path).writing_to(write)
    assert await as_tool(stream).run({"count": 3}, context) == ToolResult()
    assert pieces == ["0", "1", "2"]
