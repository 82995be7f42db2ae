"""The request's parameters beside its messages, its tools and its thinking."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double import strict_json
from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.wording import check_keys, invalid, one_of, required, should_be
from tests.double.refusal import Refusal, as_list, as_object

EFFORTS = ("low", "medium", "high", "xhigh", "max")


def check_parameters(body: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """What a request must say and may say."""
    model = body.get("model")
    if not isinstance(model, str):
        yield should_be("model", "a valid string") if "model" in body else required("model")
    elif not model:
        yield invalid("model", "String should have at least 1 character")
    if body.get("stream") is not True:
        yield invalid("stream", "this endpoint only streams")
    yield from _check_max_tokens(body, endpoint)
    yield from _check_sampling(body, endpoint)
    yield from _check_output(body, endpoint)
    yield from _check_rest(body)


def _check_max_tokens(body: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    value = body.get("max_tokens")
    if "max_tokens" not in body:
        yield required("max_tokens")
    elif not isinstance(value, int) or isinstance(value, bool):
        yield should_be("max_tokens", "a valid integer")
    elif value < 1:
        yield invalid("max_tokens", "must be greater than or equal to 1")
    elif value > endpoint.output_limit:
        text = f"{value} > {endpoint.output_limit}, which is the maximum allowed number of output tokens"
        yield invalid("max_tokens", f"{text} for {body.get('model')}")


def _check_sampling(body: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    for key in ("temperature", "top_p", "top_k"):
        value = body.get(key, 0)
        if key in body and not endpoint.sampling:
            yield Refusal(f"`{key}` is deprecated for this model.", key, "unsupported_parameter")
        elif isinstance(value, bool) or not isinstance(value, int if key == "top_k" else int | float):
            yield should_be(key, f"a valid {'integer' if key == 'top_k' else 'number'}")
        elif key != "top_k" and not 0 <= value <= 1:
            yield invalid(key, "range: 0..1")
        elif value < 0:
            yield invalid(key, "must be greater than or equal to 0")
    if "temperature" in body and "top_p" in body:
        text = "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
        yield Refusal(text, "top_p", "invalid_value")


def _check_output(body: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    config = as_object(body.get("output_config", {}))
    if config is None:
        yield should_be("output_config", "an object")
        return
    yield from check_keys("output_config", config, {"effort", "format"})
    effort = config.get("effort")
    if effort is not None and effort not in EFFORTS:
        yield one_of("output_config.effort", EFFORTS)
    elif effort is not None and not endpoint.efforts:
        text = "This model does not support the effort parameter."
        yield Refusal(text, "output_config.effort", "unsupported_parameter")
    elif effort is not None and effort not in endpoint.efforts:
        text = f"This model does not support effort level '{effort}'. Supported levels: {', '.join(endpoint.efforts)}."
        yield Refusal(text, "output_config.effort", "unsupported_value")
    if config.get("format") is not None:
        yield from _check_format(as_object(config["format"]) or {})


def _check_format(format_: dict[str, object]) -> Iterator[Refusal]:
    at = "output_config.format"
    yield from check_keys(at, format_, {"type", "schema"})
    if format_.get("type") != "json_schema":
        yield one_of(f"{at}.type", ["json_schema"])
    if as_object(format_.get("schema")) is None:
        yield should_be(f"{at}.schema", "an object")


def _check_rest(body: dict[str, object]) -> Iterator[Refusal]:
    stops = as_list(body.get("stop_sequences", []))
    if stops is None:
        yield should_be("stop_sequences", "a valid array")
    for number, stop in enumerate(stops or ()):
        if not isinstance(stop, str):
            yield should_be(f"stop_sequences.{number}", "a valid string")
        elif not strict_json.is_visible(stop):
            yield invalid("stop_sequences", "each stop sequence must contain non-whitespace")
    metadata = as_object(body.get("metadata", {}))
    if metadata is None:
        yield should_be("metadata", "an object")
    else:
        yield from check_keys("metadata", metadata, {"user_id"})
        if not isinstance(metadata.get("user_id", ""), str | None):
            yield should_be("metadata.user_id", "a valid string")
    if body.get("service_tier", "auto") not in ("auto", "standard_only"):
        yield one_of("service_tier", ["auto", "standard_only"])
    if body.get("inference_geo", "us") not in ("us", "global", None):
        yield invalid("inference_geo", "must be one of ['global', 'us']")
