"""What a strict endpoint refuses: a pure function of the request and of the endpoint's demands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tests.double import strict_json
from tests.double.chat.endpoint import Endpoint
from tests.double.chat.messages import check_messages, check_pairing, check_roles
from tests.double.refusal import Refusal, as_list, as_object, invalid, missing, unknown, wrong_type

DOCUMENTED_KEYS = frozenset({
    "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens", "messages", "metadata",
    "modalities", "model", "n", "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key",
    "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier",
    "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p",
    "user", "verbosity",
})  # fmt: skip
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def check(body: bytes, headers: Mapping[str, str], endpoint: Endpoint) -> list[Refusal]:
    """Every reason to refuse this request; header names are in lower case."""
    found = list(check_headers(headers, endpoint))
    try:
        value = as_object(strict_json.loads(body))
    except ValueError as error:
        return [*found, Refusal(f"We could not parse the JSON body of your request. ({error})", code="invalid_json")]
    if value is None:
        return [*found, Refusal("The body of your request must be a JSON object.", code="invalid_json")]
    if endpoint.max_body_bytes is not None and len(body) > endpoint.max_body_bytes:
        text = f"This model's maximum context length is {endpoint.max_body_bytes} bytes. Your messages resulted in"
        found.append(Refusal(f"{text} {len(body)} bytes.", "messages", "context_length_exceeded"))
    found += check_body(value, endpoint)
    return found


def check_headers(headers: Mapping[str, str], endpoint: Endpoint) -> Iterator[Refusal]:
    given = headers.get("authorization", "")
    if endpoint.key is not None and given != f"Bearer {endpoint.key}":
        yield wrong_key(given)
    kind, _, parameters = headers.get("content-type", "").partition(";")
    if kind.strip().lower() != "application/json" or parameters.strip().lower() not in ("", "charset=utf-8"):
        yield Refusal(f"Unsupported content type: '{kind}'. Use 'application/json'.", code="unsupported_content_type")


def wrong_key(authorization: str) -> Refusal:
    scheme, _, key = authorization.partition(" ")
    if scheme != "Bearer" or not key:
        return Refusal("You didn't provide an API key. Use an Authorization header (Bearer YOUR_KEY).", status=401)
    shown = f"{key[:8]}{'*' * max(1, len(key) - 12)}{key[-4:]}"
    return Refusal(f"Incorrect API key provided: {shown}.", code="invalid_api_key", status=401)


def check_body(body: dict[str, object], endpoint: Endpoint) -> Iterator[Refusal]:
    known = (DOCUMENTED_KEYS | set(endpoint.extra_keys)) - set(endpoint.forbidden_keys)
    for key in body:
        if key not in known:
            yield Refusal(f"Unrecognized request argument supplied: {key}", key, "unknown_parameter")
    if not isinstance(body.get("model"), str):
        yield missing("model")
    messages = as_list(body.get("messages"))
    if not messages:
        yield missing("messages") if "messages" not in body else invalid("messages", "empty array.", "empty_array")
    else:
        yield from check_messages(messages, endpoint)
        yield from check_pairing(messages)
        yield from check_roles(messages, strict=endpoint.strict_roles)
    yield from check_stream(body, endpoint)
    yield from check_tools(body)
    yield from check_numbers(body)


def check_stream(body: dict[str, object], endpoint: Endpoint) -> Iterator[Refusal]:
    if body.get("stream") is not True:
        yield invalid("stream", "this endpoint only streams.")
    options = as_object(body.get("stream_options", {}))
    if options is None:
        yield wrong_type("stream_options", "an object", body["stream_options"])
        return
    for key, value in options.items():
        if key not in ("include_usage", "include_obfuscation"):
            yield unknown(f"stream_options.{key}")
        elif not isinstance(value, bool):
            yield wrong_type(f"stream_options.{key}", "a boolean", value)
    if endpoint.require_usage and options.get("include_usage") is not True:
        yield missing("stream_options.include_usage")


def check_tools(body: dict[str, object]) -> Iterator[Refusal]:
    if "tools" not in body:
        for key in ("tool_choice", "parallel_tool_calls"):
            if key in body:
                yield invalid(key, f"'{key}' is only allowed when 'tools' are specified.")
        return
    tools = as_list(body["tools"])
    if tools is None:
        yield wrong_type("tools", "an array", body["tools"])
        return
    if not tools:
        yield invalid("tools", "empty array. Expected an array with minimum length 1.", "empty_array")
    names: set[str] = set()
    for number, tool in enumerate(tools):
        yield from check_tool(f"tools[{number}]", as_object(tool) or {}, names)
    yield from check_choice(body, names)


def check_tool(at: str, tool: dict[str, object], names: set[str]) -> Iterator[Refusal]:
    function = as_object(tool.get("function"))
    if tool.get("type") != "function" or function is None or set(tool) != {"type", "function"}:
        yield invalid(at, "expected an object with type 'function' and a function.")
        return
    for key in function:
        if key not in ("name", "description", "parameters", "strict"):
            yield unknown(f"{at}.function.{key}")
    name = function.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name):
        yield invalid(f"{at}.function.name", "string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'.")
    elif name in names:
        yield invalid(f"{at}.function.name", f"'{name}' is not unique.")
    if isinstance(name, str):
        names.add(name)
    if not isinstance(function.get("description", ""), str):
        yield wrong_type(f"{at}.function.description", "a string", function["description"])
    parameters = as_object(function.get("parameters", {"type": "object"}))
    if parameters is None or parameters.get("type") != "object":
        why = "schema must be a JSON Schema of 'type: \"object\"'."
        yield invalid(f"{at}.function.parameters", why, "invalid_function_parameters")


def check_choice(body: dict[str, object], names: set[str]) -> Iterator[Refusal]:
    choice = body.get("tool_choice", "auto")
    named = as_object((as_object(choice) or {}).get("function"))
    if choice not in ("none", "auto", "required") and (named is None or named.get("name") not in names):
        yield invalid("tool_choice", "expected 'none', 'auto', 'required' or one of the tools.")
    if not isinstance(body.get("parallel_tool_calls", True), bool):
        yield wrong_type("parallel_tool_calls", "a boolean", body["parallel_tool_calls"])


def check_numbers(body: dict[str, object]) -> Iterator[Refusal]:
    for key in ("max_tokens", "max_completion_tokens", "n"):
        value = body.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int):
            yield wrong_type(key, "an integer", value)
        elif value < 1:
            yield invalid(key, "integer below minimum value. Expected a value >= 1.", "integer_below_min_value")
    if "max_tokens" in body and "max_completion_tokens" in body:
        yield invalid("max_tokens", "'max_tokens' and 'max_completion_tokens' cannot both be set.")
    for key, most in (("temperature", 2), ("top_p", 1)):
        value = body.get(key, 1)
        if isinstance(value, bool) or not isinstance(value, int | float):
            yield wrong_type(key, "a decimal", value)
        elif not 0 <= value <= most:
            yield invalid(key, f"expected a value between 0 and {most}.")
    if body.get("reasoning_effort", "none") not in EFFORTS:
        yield invalid("reasoning_effort", f"supported values are: {', '.join(EFFORTS)}.", "unsupported_value")
