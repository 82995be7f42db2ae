"""What is refused in the list of tools and in the choice among them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.double.refusal import Refusal, as_list, as_object, invalid, missing, unknown, wrong_type
from tests.double.responses.schema import faults
from tests.double.responses.wording import no_match, not_one_of, too_long, too_many

KEYS = frozenset({
    "type", "name", "description", "parameters", "strict", "async", "allowed_callers", "defer_loading", "output_schema"
})  # fmt: skip
HOSTED = frozenset({
    "apply_patch", "code_interpreter", "computer", "computer_use_preview", "custom", "file_search", "image_generation",
    "local_shell", "mcp", "namespace", "programmatic_tool_calling", "shell", "tool_search", "web_search",
    "web_search_preview",
})  # fmt: skip
PATTERN = "^[a-zA-Z0-9_-]+$"
NAME = re.compile("[a-zA-Z0-9_-]+")
MOST_NAME = 64
MOST_TOOLS = 128


def check_tools(body: dict[str, object]) -> Iterator[Refusal]:
    """Each tool, their number and their names, then the choice."""
    tools = as_list(body.get("tools", []))
    if tools is None:
        yield wrong_type("tools", "an array of objects", body["tools"])
        return
    if len(tools) > MOST_TOOLS:
        yield too_many("tools", len(tools), MOST_TOOLS)
    names: set[str] = set()
    for number, tool in enumerate(tools):
        yield from check_tool(f"tools[{number}]", tool, names, str(body.get("model")))
    yield from check_choice(body.get("tool_choice"), names)


def check_tool(at: str, value: object, names: set[str], model: str) -> Iterator[Refusal]:
    tool = as_object(value)
    if tool is None:
        yield wrong_type(at, "an object", value)
        return
    match tool.get("type"):
        case "function":
            yield from check_function(at, tool, names)
        case None:
            yield missing(f"{at}.type")
        case str() as kind if kind in HOSTED:
            yield Refusal(f"Hosted tool '{kind}' is not supported with {model}.", "tools")
        case kind:
            yield not_one_of(f"{at}.type", kind, ("function",))


def check_function(at: str, tool: dict[str, object], names: set[str]) -> Iterator[Refusal]:
    for key in ("name", "parameters", "strict"):
        if key not in tool:
            yield missing(f"{at}.{key}")
    for key in tool:
        if key not in KEYS:
            yield unknown(f"{at}.{key}")
    yield from check_tool_name(f"{at}.name", tool, names)
    if not isinstance(tool.get("description", ""), str | None):
        yield wrong_type(f"{at}.description", "a string", tool["description"])
    if not isinstance(tool.get("strict", False), bool | None):
        yield wrong_type(f"{at}.strict", "a boolean", tool["strict"])
    if tool.get("parameters") is not None:
        yield from check_schema(f"{at}.parameters", tool)


def check_tool_name(at: str, tool: dict[str, object], names: set[str]) -> Iterator[Refusal]:
    if "name" not in tool:
        return
    yield from check_name(at, tool["name"])
    name = str(tool["name"])
    if name in names:
        yield invalid(at, f"'{name}' is not unique.")
    names.add(name)


def check_name(at: str, name: object) -> Iterator[Refusal]:
    """The name of a function, in a tool or in a call."""
    if not isinstance(name, str):
        yield wrong_type(at, "a string", name)
    elif len(name) > MOST_NAME:
        yield too_long(at, name, MOST_NAME)
    elif not NAME.fullmatch(name):
        yield no_match(at, PATTERN)


def check_schema(at: str, tool: dict[str, object]) -> Iterator[Refusal]:
    """Without a `strict` of false the vendor makes a strict schema of it, so it must be one."""
    if as_object(tool["parameters"]) is None:
        yield wrong_type(at, "an object", tool["parameters"])
        return
    for fault in faults(tool["parameters"], strict=tool.get("strict") is not False):
        text = f"Invalid schema for function '{tool.get('name')}': {fault}"
        yield Refusal(text, at, "invalid_function_parameters")


def check_choice(choice: object, names: set[str]) -> Iterator[Refusal]:
    """A mode, one function, or some of them."""
    if choice in (None, "auto", "none"):
        return
    if not names:
        shown = choice if isinstance(choice, str) else (as_object(choice) or {}).get("type")
        yield Refusal(f"Tool choice '{shown}' must be specified with 'tools' parameter.", "tool_choice")
    elif choice != "required":
        yield from check_chosen("tool_choice", choice, names)


def check_chosen(at: str, value: object, names: set[str]) -> Iterator[Refusal]:
    chosen = as_object(value) or {}
    match chosen.get("type"):
        case "function":
            yield from (unknown(f"{at}.{key}") for key in chosen if key not in ("type", "name"))
            if str(chosen.get("name")) not in names:
                yield Refusal(f"Tool choice '{chosen.get('name')}' not found in 'tools' parameter.", at)
        case "allowed_tools" if at == "tool_choice":
            yield from (unknown(f"{at}.{key}") for key in chosen if key not in ("type", "mode", "tools"))
            if chosen.get("mode") not in ("auto", "required"):
                yield not_one_of(f"{at}.mode", chosen.get("mode"), ("auto", "required"))
            allowed = as_list(chosen.get("tools"))
            if not allowed:
                yield missing(f"{at}.tools")
            for number, tool in enumerate(allowed or ()):
                yield from check_chosen(f"{at}.tools[{number}]", tool, names)
        case kind:
            shown = value if isinstance(value, str) else kind
            yield not_one_of(at, shown, ("none", "auto", "required", "function", "allowed_tools"))
