"""What is refused in the parameters of a request, its items and tools aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.double.refusal import Refusal, as_list, as_object, missing, unknown, wrong_type
from tests.double.responses.endpoint import EFFORTS, ResponsesEndpoint
from tests.double.responses.wording import not_one_of, too_long, unsupported

Rule = Callable[[str, object], Iterator[Refusal]]

MOVED = {
    "messages": "input",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "reasoning_effort": "reasoning.effort",
    "response_format": "text.format",
    "verbosity": "text.verbosity",
}
INCLUDABLE = (
    "file_search_call.results", "web_search_call.results", "web_search_call.action.sources",
    "message.input_image.image_url", "computer_call_output.output.image_url", "code_interpreter_call.outputs",
    "reasoning.encrypted_content", "message.output_text.logprobs",
)  # fmt: skip
ENCRYPTED = "reasoning.encrypted_content"


def check_parameters(body: dict[str, object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    """Each parameter by itself, then what they mean together and to this model."""
    for key, value in body.items():
        if key in endpoint.extra_keys:
            continue
        if key in MOVED:
            text = f"Unsupported parameter: '{key}'. In the Responses API, this parameter has moved to '{MOVED[key]}'."
            yield Refusal(f"{text} Try again with the new parameter.", None, "unsupported_parameter")
        elif key not in RULES or key in endpoint.forbidden_keys:
            yield unknown(key)
        elif value is not None or key not in NULLABLE:
            yield from RULES[key](key, value)
    if not isinstance(body.get("model"), str):
        yield missing("model")
    if body.get("stream") is not True:
        yield Refusal("This endpoint only streams: 'stream' must be true.", "stream", "unsupported_value")
    yield from check_store(body, endpoint)
    yield from check_model(body, endpoint)


def check_store(body: dict[str, object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    if endpoint.stored:
        return
    if body.get("store") is not False:
        yield Refusal("Store must be set to false.", "store", "invalid_value")
    before = body.get("previous_response_id")
    if before is not None:
        text = f"Previous response with id '{before}' not found."
        yield Refusal(text, "previous_response_id", "previous_response_not_found")
    if body.get("conversation") is not None:
        yield Refusal("Conversation not found.", "conversation", None, 404)


def check_model(body: dict[str, object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    """What reasoning models and others do not take of each other's parameters."""
    reasoning = as_object(body.get("reasoning")) or {}
    effort = reasoning.get("effort")
    if endpoint.efforts:
        if effort in EFFORTS and effort not in endpoint.efforts:
            text = f"Unsupported value: '{effort}' is not supported with the '{body.get('model')}' model."
            supported = not_one_of("reasoning.effort", effort, endpoint.efforts).message.partition(". ")[2]
            yield Refusal(f"{text} {supported}", "reasoning.effort", "unsupported_value")
        for key in ("temperature", "top_p", "top_logprobs"):
            if body.get(key) is not None and effort != "none":
                yield unsupported(key)
        return
    for key in reasoning:
        yield unsupported(f"reasoning.{key}")
    if ENCRYPTED in (as_list(body.get("include")) or ()):
        yield Refusal("Encrypted content is not supported with this model.", "include")
    verbosity = (as_object(body.get("text")) or {}).get("verbosity")
    if verbosity in ("low", "high"):
        text = f"Unsupported value: '{verbosity}' is not supported with the '{body.get('model')}' model."
        yield Refusal(f"{text} Supported values are: 'medium'.", "text.verbosity", "unsupported_value")


def boolean(at: str, value: object) -> Iterator[Refusal]:
    if not isinstance(value, bool):
        yield wrong_type(at, "a boolean", value)


def anything(at: str, value: object) -> Iterator[Refusal]:
    """Other rules look at it, or none does."""
    yield from ()


def string(most: int | None = None) -> Rule:
    def rule(at: str, value: object) -> Iterator[Refusal]:
        if not isinstance(value, str):
            yield wrong_type(at, "a string", value)
        elif most is not None and len(value) > most:
            yield too_long(at, value, most)

    return rule


def integer(least: int) -> Rule:
    def rule(at: str, value: object) -> Iterator[Refusal]:
        if isinstance(value, bool) or not isinstance(value, int):
            yield wrong_type(at, "an integer", value)
        elif value < least:
            text = f"Invalid '{at}': integer below minimum value. Expected a value >= {least}, but got {value} instead."
            yield Refusal(text, at, "integer_below_min_value")

    return rule


def decimal(most: float) -> Rule:
    def rule(at: str, value: object) -> Iterator[Refusal]:
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield wrong_type(at, "a decimal", value)
        elif not 0 <= value <= most:
            side, sign, end = ("above maximum", "<=", most) if value > most else ("below minimum", ">=", 0)
            text = f"Invalid '{at}': decimal {side} value. Expected a value {sign} {end}, but got {value} instead."
            yield Refusal(text, at, f"decimal_{'above_max' if value > most else 'below_min'}_value")

    return rule


def one_of(*values: str) -> Rule:
    def rule(at: str, value: object) -> Iterator[Refusal]:
        if value not in values:
            yield not_one_of(at, value, values)

    return rule


def each(rule: Rule) -> Rule:
    def of_array(at: str, value: object) -> Iterator[Refusal]:
        members = as_list(value)
        if members is None:
            yield wrong_type(at, "an array", value)
        for number, member in enumerate(members or ()):
            yield from rule(f"{at}[{number}]", member)

    return of_array


def fields(*required: str, **rules: Rule) -> Rule:
    """An object of these members; one that is not required may be null."""

    def rule(at: str, value: object) -> Iterator[Refusal]:
        members = as_object(value)
        if members is None:
            yield wrong_type(at, "an object", value)
            return
        for key in required:
            if key not in members:
                yield missing(f"{at}.{key}")
        for key, member in members.items():
            if key not in rules:
                yield unknown(f"{at}.{key}")
            elif member is not None or key in required:
                yield from rules[key](f"{at}.{key}", member)

    return rule


def metadata(at: str, value: object) -> Iterator[Refusal]:
    pairs = as_object(value)
    if pairs is None:
        yield wrong_type(at, "an object", value)
        return
    if len(pairs) > 16:
        why = f"Expected an object with at most 16 properties, but got an object with {len(pairs)} properties instead."
        yield Refusal(f"Invalid '{at}': too many properties. {why}", at, "object_above_max_properties")
    for key, member in pairs.items():
        if len(key) > 64:
            yield too_long(f"{at} key", key, 64)
        yield from string(512)(f"{at}.{key}", member)


def text_format(at: str, value: object) -> Iterator[Refusal]:
    kind = (as_object(value) or {}).get("type")
    match kind:
        case "text" | "json_object":
            yield from fields("type", type=anything)(at, value)
        case "json_schema":
            members: dict[str, Rule] = {"description": string(), "strict": boolean, "type": anything}
            yield from fields("name", "schema", name=string(64), schema=schema, **members)(at, value)
        case _:
            yield not_one_of(f"{at}.type", kind, ("text", "json_schema", "json_object"))


def schema(at: str, value: object) -> Iterator[Refusal]:
    if as_object(value) is None:
        yield wrong_type(at, "an object", value)


RULES: dict[str, Rule] = {
    "access_programs": fields(cyber=one_of("standard", "daybreak_blue", "daybreak_red")),
    "background": boolean,
    "background_options": fields(completion_window=one_of("soonest", "2h", "8h"), continuation_id=string()),
    "context_management": each(fields("type", type=one_of("compaction"), compact_threshold=integer(1))),
    "conversation": anything,
    "image": fields(context_compression=one_of("auto", "enabled", "disabled")),
    "include": each(one_of(*INCLUDABLE)),
    "input": anything,
    "instructions": string(),
    "max_output_tokens": integer(16),
    "max_tool_calls": integer(1),
    "metadata": metadata,
    "model": string(),
    "moderation": fields("model", model=string(), policy=anything),
    "parallel_tool_calls": boolean,
    "previous_response_id": string(),
    "prompt": fields("id", id=string(), variables=anything, version=string()),
    "prompt_cache_key": string(64),
    "prompt_cache_options": fields(
        comparison_response_id=string(), mode=one_of("implicit", "explicit"), prewarm=boolean, ttl=one_of("30m", "12h")
    ),
    "prompt_cache_retention": one_of("in_memory", "24h"),
    "reasoning": fields(
        context=one_of("auto", "current_turn", "all_turns"),
        effort=one_of(*EFFORTS),
        generate_summary=one_of("auto", "concise", "detailed"),
        mode=string(),
        summary=one_of("auto", "concise", "detailed"),
    ),
    "safety_identifier": string(128),
    "service_tier": one_of("auto", "default", "flex", "scale", "priority", "fast", "ultrafast"),
    "store": boolean,
    "stream": boolean,
    "stream_options": fields(include_obfuscation=boolean),
    "temperature": decimal(2),
    "text": fields(format=text_format, verbosity=one_of("low", "medium", "high")),
    "tool_choice": anything,
    "tools": anything,
    "top_logprobs": integer(0),
    "top_p": decimal(1),
    "truncation": one_of("auto", "disabled"),
    "user": string(),
}
NULLABLE = frozenset({
    "background", "context_management", "conversation", "include", "instructions", "max_output_tokens",
    "max_tool_calls", "metadata", "moderation", "parallel_tool_calls", "previous_response_id", "prompt",
    "prompt_cache_key", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store",
    "stream_options", "temperature", "top_logprobs", "top_p", "truncation",
})  # fmt: skip
