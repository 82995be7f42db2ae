from __future__ import annotations

import pytest

from tests.double.anthropic.conversation import (
    BUDGET,
    MARKER,
    TOOL,
    Json,
    assistant,
    called,
    image,
    outputs,
    request,
    result,
    tool,
    use,
    user,
    without,
    words,
)
from tests.double.anthropic.verdict import texts

LOOP = (user(), called("a"), outputs("a"))


def schema(**extra: object) -> Json:
    return request(tools=[tool(input_schema={"type": "object", **extra})])


TOOLS: list[tuple[Json, str]] = [
    (request(tools="x"), "tools: Input should be a valid array"),
    (request(tools=[7]), "tools.0: Input should be an object"),
    (request(tools=[without(TOOL, "name")]), "tools.0.custom.name: Field required"),
    (request(tools=[tool(name="")]), "tools.0.custom.name: String should have at least 1 character"),
    (request(tools=[tool(name="a" * 129)]), "tools.0.custom.name: String should have at most 128 characters"),
    (request(tools=[tool(name="a.b")]), "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"),
    (request(tools=[tool(name=7)]), "tools.0.custom.name: Input should be a valid string"),
    (request(tools=[tool(description=7)]), "tools.0.custom.description: Input should be a valid string"),
    (request(tools=[tool(strict="yes")]), "tools.0.custom.strict: Input should be a valid boolean"),
    (request(tools=[tool(cache_control="x")]), "tools.0.custom.cache_control: Input should be an object"),
    (request(tools=[TOOL, TOOL]), "tools: Tool names must be unique."),
    (request(tools=[tool(parameters={})]), "tools.0.custom.parameters: Extra inputs are not permitted"),
    (request(tools=[without(TOOL, "input_schema")]), "tools.0.custom.input_schema: Field required"),
    (request(tools=[tool(input_schema={})]), "tools.0.custom.input_schema.type: Field required"),
    (request(tools=[tool(input_schema={"type": "array"})]),
     "tools.0.custom.input_schema.type: Input should be 'object'"),
    (request(tools=[{"type": "function", "function": TOOL}]),
     "tools.0: Input tag 'function' found using 'type' does not match any of the expected tags: 'custom'"),
    (schema(anyOf=[{"required": ["a"]}]),
     "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"),
    (schema(properties={"a b": {"type": "string"}}),
     "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    (schema(properties={"a": {"type": "object", "properties": {"ä": {}}}}),
     "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    (schema(properties={"a": {"anyOf": [{"type": "object", "properties": {"b c": True}}]}}),
     "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    (schema(properties={"a": {"type": "array", "items": {"type": "object", "properties": {"b c": True}}}}),
     "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"),
    (request(tools=[tool(strict=True)]),
     "tools.0.custom: For 'object' type, 'additionalProperties' must be explicitly set to false"),
    (request(tools=[], tool_choice={"type": "auto"}), "tool_choice.auto may only be specified while providing tools"),
    (request(tool_choice="auto"), "tool_choice: Input should be an object"),
    (request(tool_choice={"type": "required"}),
     "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: 'auto', 'any', "
     "'tool', 'none'"),
    (request(tool_choice={"type": "auto", "disable_parallel_tool_use": 1}),
     "tool_choice.auto.disable_parallel_tool_use: Input should be a valid boolean"),
    (request(tool_choice={"type": "tool", "name": "x"}), "Tool 'x' not found in provided tools"),
    (request(tool_choice={"type": "none", "name": "x"}), "tool_choice.none.name: Extra inputs are not permitted"),
    (without(request(*LOOP), "tools"),
     "Requests which include `tool_use` or `tool_result` blocks must define tools."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text"), TOOLS, ids=str)
def test_a_wrong_tool_or_choice_is_refused(body: Json, text: str) -> None:
    assert texts(body) == [text]


DRAFTS: list[Json] = [
    {"a": {"type": "number", "exclusiveMinimum": True}},
    {"a": {"type": "array", "items": [{"type": "string"}]}},
    {"a": {"type": "string", "required": True}},
    {"a": {"type": "any"}},
    {"a": None},
]


@pytest.mark.parametrize("properties", DRAFTS, ids=str)
def test_a_schema_must_be_one_of_draft_2020_12(properties: Json) -> None:
    [text] = texts(schema(properties=properties))
    assert text.startswith(
        "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12"
    )


PARAMETERS: list[tuple[Json, str]] = [
    (without(request(), "model"), "model: Field required"),
    (request(model=""), "model: String should have at least 1 character"),
    (without(request(), "messages"), "messages: Field required"),
    ({**request(), "messages": []}, "messages: at least one message is required"),
    ({**request(), "messages": "x"}, "messages: Input should be a valid array"),
    (without(request(), "max_tokens"), "max_tokens: Field required"),
    (request(max_tokens=0), "max_tokens: must be greater than or equal to 1"),
    (request(max_tokens=True), "max_tokens: Input should be a valid integer"),
    (request(max_tokens=64_001),
     "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for test-model"),
    (request(stream=False), "stream: this endpoint only streams"),
    (request(system=7), "system: Input should be a valid array"),
    (request(system=[image()]),
     "system.0: Input tag 'image' found using 'type' does not match any of the expected tags: 'text'"),
    (request(system=[words(name="x")]), "system.0.name: Extra inputs are not permitted"),
    (request(system=[words(cache_control="x")]), "system.0.cache_control: Input should be an object"),
    (request(reasoning_effort="low"), "reasoning_effort: Extra inputs are not permitted"),
    (request(temperature="x"), "temperature: Input should be a valid number"),
    (request(temperature=1.5), "temperature: range: 0..1"),
    (request(top_k=0.5), "top_k: Input should be a valid integer"),
    (request(top_k=-1), "top_k: must be greater than or equal to 0"),
    (request(temperature=0.5, top_p=0.5),
     "`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
    (request(stop_sequences="x"), "stop_sequences: Input should be a valid array"),
    (request(stop_sequences=[1]), "stop_sequences.0: Input should be a valid string"),
    (request(stop_sequences=["\n"]), "stop_sequences: each stop sequence must contain non-whitespace"),
    (request(metadata="x"), "metadata: Input should be an object"),
    (request(metadata={"user_id": 7}), "metadata.user_id: Input should be a valid string"),
    (request(metadata={"session": "x"}), "metadata.session: Extra inputs are not permitted"),
    (request(service_tier="fast"), "service_tier: Input should be 'auto' or 'standard_only'"),
    (request(inference_geo="moon"), "inference_geo: must be one of ['global', 'us']"),
    (request(output_config="low"), "output_config: Input should be an object"),
    (request(output_config={"verbosity": "low"}), "output_config.verbosity: Extra inputs are not permitted"),
    (request(output_config={"format": {"type": "json_schema", "schema": "x"}}),
     "output_config.format.schema: Input should be an object"),
    (request(output_config={"format": {"type": "json_schema", "schema": {}, "name": "x"}}),
     "output_config.format.name: Extra inputs are not permitted"),
    (request(output_config={"effort": "minimal"}),
     "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"),
    (request(output_config={"effort": "xhigh"}),
     "This model does not support effort level 'xhigh'. Supported levels: low, medium, high, max."),
    (request(output_config={"format": {"type": "json"}, "effort": "low"}),
     "output_config.format.type: Input should be 'json_schema'"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text"), PARAMETERS, ids=str)
def test_a_wrong_parameter_is_refused(body: Json, text: str) -> None:
    assert texts(body)[0] == text


THINKING: list[tuple[Json, str]] = [
    (request(thinking="on"), "thinking: Input should be an object"),
    (request(thinking={}), "thinking.type: Field required"),
    (request(thinking={"type": "auto"}),
     "thinking: Input tag 'auto' found using 'type' does not match any of the expected tags: 'adaptive', 'enabled', "
     "'disabled', 'between_tools'"),
    (request(thinking={"type": "enabled"}), "thinking.enabled.budget_tokens: Field required"),
    (request(thinking={"type": "enabled", "budget_tokens": "2000"}),
     "thinking.enabled.budget_tokens: Input should be a valid integer"),
    (request(thinking={"type": "enabled", "budget_tokens": 1023}),
     "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"),
    (request(thinking={"type": "enabled", "budget_tokens": 4096}),
     "`max_tokens` must be greater than `thinking.budget_tokens`."),
    (request(thinking={"type": "adaptive", "budget_tokens": 2048}),
     "thinking.adaptive.budget_tokens: Extra inputs are not permitted"),
    (request(thinking={"type": "adaptive", "display": "full"}),
     "thinking.adaptive.display: Input should be 'summarized' or 'omitted'"),
    (request(thinking=BUDGET, temperature=0.5), "`temperature` may only be set to 1 when thinking is enabled"),
    (request(thinking=BUDGET, top_p=0.9), "`top_p` must be greater than or equal to 0.95 or unset"),
    (request(thinking=BUDGET, top_k=5), "`top_k` must be unset when thinking is enabled"),
    (request(thinking=BUDGET, tool_choice={"type": "any"}),
     "Thinking may not be enabled when tool_choice forces tool use."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "text"), THINKING, ids=str)
def test_a_wrong_thinking_parameter_is_refused(body: Json, text: str) -> None:
    [found] = texts(body)
    assert found.startswith(text)


def marked(*ttls: str | None, **extra: object) -> Json:
    blocks = [
        words(str(n), cache_control={"type": "ephemeral", "ttl": ttl} if ttl else None) for n, ttl in enumerate(ttls)
    ]
    return {**without(request(user(blocks)), "cache_control"), **extra}


CACHE: list[tuple[Json, list[str]]] = [
    (marked("5m", "5m", "5m", "5m"), []),
    (marked("1h", "5m"), []),
    (marked("5m", "5m", "5m", "5m", cache_control=MARKER), []),
    (marked("5m", "5m", "5m", None, cache_control=MARKER), []),
    (marked("5m", "5m", "5m", "5m", None, cache_control=MARKER),
     ["A maximum of 4 blocks with cache_control may be provided. Found 5."]),
    (marked("5m", "5m", "5m", "5m", "5m"), ["A maximum of 4 blocks with cache_control may be provided. Found 5."]),
    (marked("5m", "1h"),
     ["messages.0.content.1: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block. Note "
      "that blocks are processed in the following order: `tools`, `system`, `messages`."]),
    (marked("1h", cache_control=MARKER),
     ["cache_control: the last block has a ttl='1h' cache_control, the request a ttl='5m' one"]),
    (marked(None), ["The request asks for no prompt cache."]),
    (request(cache_control="ephemeral"), ["cache_control: Input should be an object",
                                          "The request asks for no prompt cache."]),
    (request(cache_control={"type": "forever"}), ["cache_control.type: Input should be 'ephemeral'"]),
    (request(cache_control={"type": "ephemeral", "ttl": "2h"}), ["cache_control.ttl: Input should be '5m' or '1h'"]),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), CACHE, ids=str)
def test_cache_markers_are_few_ordered_and_asked_for(body: Json, expected: list[str]) -> None:
    assert texts(body) == expected


def test_a_marker_counts_wherever_it_stands() -> None:
    body = request(
        user([words(cache_control=MARKER)]),
        assistant(use(cache_control=MARKER)),
        user([result("a", [words(cache_control=MARKER)], cache_control=MARKER)]),
        tools=[tool(cache_control=MARKER)],
        system=[words(cache_control=MARKER)],
    )
    assert texts(body) == ["A maximum of 4 blocks with cache_control may be provided. Found 6."]
