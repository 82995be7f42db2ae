"""What the vendor refuses in tools and in their configuration."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.gemini.contents import check_name
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.proto import Json
from tests.double.gemini.schema import check_json_schema, check_parameters
from tests.double.gemini.wording import argument, field
from tests.double.refusal import Refusal, as_list, as_object


def check_tools(request: Json, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    """Tools, their declarations and which of them may be called."""
    for number, tool in enumerate(tools_of(request)):
        at = f"tools[{number}]"
        if not tool or tool == {"function_declarations": []}:
            text = "required one_of 'tool_type' must have one initialized field"
            yield field(f"{at}.tool_type", text, "empty_tool")
        for place, declaration in enumerate(_declarations(tool)):
            yield from check_declaration(f"{at}.function_declarations[{place}]", declaration, endpoint)
    names = declared(request)
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield Refusal(f"Duplicate function declaration found: {name}", "tools", "duplicate_name")
    yield from check_config(request, names)


def check_declaration(at: str, declaration: Json, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    yield from check_name(f"{at}.name", declaration.get("name"), endpoint)
    if not declaration.get("description"):
        yield field(f"{at}.description", "must be specified.", "missing_description")
    for plain, schema in (("parameters", "parameters_json_schema"), ("response", "response_json_schema")):
        if plain in declaration and schema in declaration:
            yield argument(f"{at}.{schema}", "two_schemas")
    if "parameters" in declaration:
        yield from check_parameters(f"{at}.parameters", as_object(declaration["parameters"]) or {})
    if "parameters_json_schema" in declaration:
        yield from check_json_schema(f"{at}.parameters_json_schema", declaration["parameters_json_schema"])


def check_config(request: Json, names: list[str]) -> Iterator[Refusal]:
    config = as_object(request.get("tool_config")) or {}
    calling = as_object(config.get("function_calling_config"))
    if calling is None:
        return
    at = "tool_config.function_calling_config"
    allowed = as_list(calling.get("allowed_function_names")) or []
    if not names:
        yield Refusal("Function calling config is set without function_declarations.", at, "no_declarations")
    elif not set(allowed) <= set(names):
        text = "allowed_function_names should be a subset of the provided function_declarations"
        yield Refusal(text, f"{at}.allowed_function_names", "undeclared_name")
    if allowed and calling.get("mode") not in ("ANY", "VALIDATED"):
        yield argument(f"{at}.allowed_function_names", "names_without_any")


def tools_of(request: Json) -> list[Json]:
    return [as_object(tool) or {} for tool in as_list(request.get("tools")) or ()]


def declared(request: Json) -> list[str]:
    """The names of the functions on offer, in their order."""
    return [str(declaration.get("name", "")) for tool in tools_of(request) for declaration in _declarations(tool)]


def _declarations(tool: Json) -> list[Json]:
    return [as_object(one) or {} for one in as_list(tool.get("function_declarations")) or ()]
