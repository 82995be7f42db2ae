"""What a caller sets, as each vendor wants it said; the strict double refuses every slip."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from penguin_harness import InputError
from penguin_harness.contracts import Outcome, Request, ThinkingLevel
from penguin_harness.omnimessage import Text, ToolSchema
from tests.double.client import Double
from tests.providers.dialects import ANTHROPIC, CHAT, GEMINI, RESPONSES, Dialect, against

OBJECT = b'{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}'
TOOLS = (ToolSchema("note", "Note a number.", Raw(OBJECT)), ToolSchema("look", "Look."))


async def accepted(dialect: Dialect, double: Double, request: Request, **demands: Any) -> dict[str, Any]:
    """The request as the double took it."""
    double.load(dialect.script(dialect.build.reply("Fine."), **demands))
    model = dialect.model(double)
    items = [item async for item in model.stream(request)]
    await model.aclose()
    assert isinstance(items[-1], Outcome)
    assert items[-1].status == "completed", items[-1].error_message
    return msgspec.json.decode(double.requests()[-1].body)


def asking(tools: Sequence[ToolSchema] = TOOLS, **options: Any) -> Request:
    return Request("Be brief.", (Text("user", "hi"),), tuple(tools), **options)


@pytest.mark.parametrize("level", [None, "none", "low", "medium", "high", "max"])
async def test_every_thinking_level_is_taken(dialect: Dialect, double: Double, level: ThinkingLevel | None) -> None:
    await accepted(dialect, double, asking(thinking_level=level))


@pytest.mark.parametrize("choice", [None, "auto", "none", "required", "look"])
@pytest.mark.parametrize("level", [None, "high"])
async def test_every_tool_choice_is_taken(
    dialect: Dialect, double: Double, choice: str | None, level: ThinkingLevel | None
) -> None:
    body = await accepted(dialect, double, asking(tool_choice=choice, thinking_level=level))
    named = ("tool_choice" in body) or ("toolConfig" in body)
    assert named == (choice not in (None, "auto"))


@pytest.mark.parametrize("choice", [None, "none", "required"])
async def test_b181_without_tools_nothing_is_said_of_them(dialect: Dialect, double: Double, choice: str | None) -> None:
    body = await accepted(dialect, double, asking((), tool_choice=choice))
    assert not {"tools", "tool_choice", "toolConfig"} & set(body)


async def test_a_tool_choice_holds_for_the_first_turn(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    def note(n: int) -> str:
        """Note."""
        return "noted"

    build = dialect.build
    turns = [build.turn(build.call("note", {"n": 1}, id="a")), build.reply("Done.")]
    async with against(dialect, double, tmp_path, *turns, tools=[note]) as session:
        await session.run("go", tool_choice="note")
        with pytest.raises(InputError, match=r"'nope'.*auto, none, required, .*note"):
            session.session.run(tool_choice="nope")
    first, second = double.bodies()
    key = "toolConfig" if dialect is GEMINI else "tool_choice"
    assert (key in first, key in second) == (True, False)


LIMITS = {CHAT: "max_tokens", RESPONSES: "max_output_tokens", ANTHROPIC: "max_tokens"}


def limit_of(dialect: Dialect, body: dict[str, Any]) -> Any:
    if dialect is GEMINI:
        return body.get("generationConfig", {}).get("maxOutputTokens")
    return body.get(LIMITS[dialect])


async def test_the_output_limit_is_clamped_to_what_the_window_leaves(dialect: Dialect, double: Double) -> None:
    """The window of the double's model is 128,000 tokens for us."""
    body = await accepted(dialect, double, asking(max_output_tokens=4_000))
    assert limit_of(dialect, body) == 4_000
    full = msgspec.structs.replace(asking(max_output_tokens=4_000), input_tokens=125_000)
    body = await accepted(dialect, double, full)
    assert limit_of(dialect, body) == 128_000 - 125_000 - 1024


async def test_without_a_system_prompt_none_is_sent(dialect: Dialect, double: Double) -> None:
    body = await accepted(dialect, double, Request(" \n", (Text("user", "hi"),)))
    assert not {"system", "instructions", "systemInstruction"} & set(body)


SCHEMAS: dict[str, Any] = {
    "refs": {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}},
        "$defs": {"a": {"type": "object", "properties": {"b": {"type": "string"}}}},
    },
    "recursive refs": {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    },
    "reference to itself": {"type": "object", "properties": {"child": {"$ref": "#"}}},
    "reference to nowhere": {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}},
    "array without items": {"type": "object", "properties": {"a": {"type": "array"}}},
    "array of anything": {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
    "list of types": {"type": "object", "properties": {"a": {"type": ["string", "null"]}}},
    "additional properties": {
        "type": "object",
        "properties": {"a": {"type": "object", "additionalProperties": {"type": "string"}}},
        "additionalProperties": False,
    },
    "choice in items": {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}},
    },
    "choice at the top": {
        "anyOf": [
            {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]},
            {"type": "object", "properties": {"b": {"type": "string"}}, "required": ["b"]},
        ]
    },
    "constants and formats": {
        "type": "object",
        "properties": {
            "kind": {"const": "x"},
            "when": {"type": "string", "format": "date-time", "pattern": "^.+$"},
            "n": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5, "default": 1.0},
            "e": {"enum": ["a", "b"]},
            "m": {"type": "integer", "enum": [1, 2]},
        },
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Zoo",
        "examples": [{"kind": "x"}],
    },
    "odd names": {"type": "object", "properties": {"a b/ü": {"type": "string"}, "ok": {"type": "string"}}},
    "no type": {"properties": {"a": {"type": "string"}}},
    "no properties": {"type": "object"},
    "required of nothing": {"type": "object", "properties": {}, "required": ["ghost"]},
    "unknown type": {"type": "object", "properties": {"a": {"type": "date"}}},
    "properties that are no object": {"type": "object", "properties": []},
    "true as a schema": {"type": "object", "properties": {"a": True}},
    "nullable": {"type": "object", "properties": {"a": {"type": "string", "nullable": True}}},
    "if and then": {"type": "object", "properties": {"a": {"type": "string"}}, "if": {}, "then": {"required": ["a"]}},
    "no object": [1, 2],
}


@pytest.mark.parametrize("name", SCHEMAS)
async def test_b162_no_schema_makes_a_request_fail(dialect: Dialect, double: Double, name: str) -> None:
    odd = ToolSchema("odd", "From an MCP server.", Raw(msgspec.json.encode(SCHEMAS[name])))
    body = await accepted(dialect, double, asking((*TOOLS, odd)))
    assert "odd" in str(body["tools"])
