"""What a strict endpoint refuses in the tools on offer and in the choice among them."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.anthropic.blocks import NAME
from tests.double.anthropic.cache import check_marker
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.schema import check_schema
from tests.double.anthropic.turns import Turn
from tests.double.anthropic.wording import (
    check_flag,
    check_keys,
    check_string,
    invalid,
    required,
    should_be,
    wrong_tag,
)
from tests.double.refusal import Refusal, as_list, as_object

KEYS = {
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "strict",
    "eager_input_streaming",
    "input_examples",
}
CHOICES = {
    "auto": {"type", "disable_parallel_tool_use"},
    "any": {"type", "disable_parallel_tool_use"},
    "tool": {"type", "name", "disable_parallel_tool_use"},
    "none": {"type"},
}


def check_tools(body: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """The list of tools and the choice."""
    tools = as_list(body.get("tools", []))
    if tools is None:
        yield should_be("tools", "a valid array")
        return
    names: list[str] = []
    for number, value in enumerate(tools):
        tool = as_object(value)
        if tool is None:
            yield should_be(f"tools.{number}", "an object")
            continue
        yield from _check_tool(number, tool)
        names += [name] if isinstance(name := tool.get("name"), str) else []
    if len(set(names)) < len(names):
        yield invalid("tools", "Tool names must be unique.", "duplicate_tool")
    if "tool_choice" in body:
        yield from _check_choice(body["tool_choice"], names, endpoint)


def check_defined(turns: list[Turn], body: dict[str, object]) -> Iterator[Refusal]:
    """Whoever shows calls must offer tools."""
    kinds = {block.kind for turn in turns for block in turn.blocks}
    if kinds & {"tool_use", "tool_result"} and not body.get("tools"):
        text = "Requests which include `tool_use` or `tool_result` blocks must define tools."
        yield Refusal(text, "tools", "tools_missing")


def _check_tool(number: int, tool: dict[str, object]) -> Iterator[Refusal]:
    if tool.get("type", "custom") not in ("custom", None):
        yield wrong_tag(f"tools.{number}", tool["type"], ["custom"])
        return
    at = f"tools.{number}.custom"
    yield from check_keys(at, tool, KEYS)
    yield from check_marker(at, tool)
    yield from _check_name(f"{at}.name", tool)
    if not isinstance(tool.get("description", ""), str):
        yield should_be(f"{at}.description", "a valid string")
    for key in ("strict", "eager_input_streaming"):
        yield from check_flag(at, tool, key)
    schema = as_object(tool.get("input_schema"))
    if schema is not None:
        yield from check_schema(f"{at}.input_schema", schema, strict=tool.get("strict") is True)
    else:
        at = f"{at}.input_schema"
        yield should_be(at, "an object") if "input_schema" in tool else required(at)


def _check_name(at: str, tool: dict[str, object]) -> Iterator[Refusal]:
    name = tool.get("name")
    if not isinstance(name, str):
        yield from check_string(at.removesuffix(".name"), tool, "name")
    elif not name:
        yield invalid(at, "String should have at least 1 character")
    elif len(name) > 128:
        yield invalid(at, "String should have at most 128 characters")
    elif not NAME.fullmatch(name):
        yield invalid(at, f"String should match pattern '^{NAME.pattern}$'")


def _check_choice(value: object, names: list[str], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    choice = as_object(value)
    if choice is None:
        yield should_be("tool_choice", "an object")
        return
    kind = choice.get("type")
    if not isinstance(kind, str) or kind not in CHOICES:
        yield required("tool_choice.type") if "type" not in choice else wrong_tag("tool_choice", kind, CHOICES)
        return
    at = f"tool_choice.{kind}"
    yield from check_keys(at, choice, CHOICES[kind])
    yield from check_flag(at, choice, "disable_parallel_tool_use")
    if not names:
        yield Refusal(f"{at} may only be specified while providing tools", "tool_choice", "invalid_value")
    elif kind == "tool" and choice.get("name") not in names:
        yield Refusal(f"Tool '{choice.get('name')}' not found in provided tools", "tool_choice", "invalid_value")
    if kind in ("any", "tool") and not endpoint.forced_tools:
        text = 'tool_choice: type "tool" and "any" are not supported for this model.'
        yield Refusal(text, "tool_choice", "unsupported_value")
