"""What the vendor refuses in the configuration of a generation."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.proto import Json
from tests.double.gemini.tools import declared
from tests.double.gemini.wording import field
from tests.double.refusal import Refusal, as_list, as_object

AT = "generation_config"


def check_generation(request: Json, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    """Limits, sampling and thinking."""
    config = as_object(request.get(AT)) or {}
    yield from check_sampling(config, endpoint)
    yield from check_thinking(as_object(config.get("thinking_config")) or {}, endpoint)
    kind = config.get("response_mime_type", "text/plain")
    if kind == "application/json" and declared(request):
        text = "Function calling with a response mime type: 'application/json' is unsupported"
        yield Refusal(text, f"{AT}.response_mime_type", "json_with_functions")


def check_sampling(config: Json, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    output = config.get("max_output_tokens")
    if isinstance(output, int) and not 1 <= output <= endpoint.max_output:
        text = f"Unable to submit request because it has a maxOutputTokens value of {output} but the supported range"
        text = f"{text} is from 1 (inclusive) to {endpoint.max_output + 1} (exclusive). Update the value and try again."
        yield Refusal(text, f"{AT}.max_output_tokens", "out_of_range")
    for name, most in (("temperature", 2.0), ("top_p", 1.0)):
        value = config.get(name)
        if isinstance(value, int | float) and not 0 <= value <= most:
            yield field(f"{AT}.{name}", f"{name} must be in the range [0.0, {most}].", "out_of_range")
    top_k = config.get("top_k")
    if isinstance(top_k, int | float) and top_k < 1:
        yield field(f"{AT}.top_k", "top_k must be positive.", "out_of_range")
    if config.get("candidate_count", 1) != 1:
        yield Refusal("Multiple candidates is not enabled for this model", f"{AT}.candidate_count", "candidates")
    if len(as_list(config.get("stop_sequences")) or ()) > 5:
        yield field(f"{AT}.stop_sequences", "at most 5 stop sequences are allowed.", "out_of_range")


def check_thinking(config: Json, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    at = f"{AT}.thinking_config"
    budget, level = config.get("thinking_budget"), config.get("thinking_level")
    least, most = endpoint.thinking_budget
    if budget is not None and level is not None:
        yield Refusal("You can only set only one of thinking budget and thinking level.", at, "budget_and_level")
    if level is not None and not endpoint.thinking_levels:
        yield Refusal("Thinking level is not supported for this model.", f"{at}.thinking_level", "no_levels")
    elif level is not None and level not in endpoint.thinking_levels:
        text = f"Thinking level {level} is not supported for this model. Please retry with other thinking level."
        yield Refusal(text, f"{at}.thinking_level", "unknown_level")
    if budget == 0 and endpoint.thinks_always:
        text = "Budget 0 is invalid. This model only works in thinking mode."
        yield Refusal(text, f"{at}.thinking_budget", "thinks_always")
    elif isinstance(budget, int) and budget not in (-1, 0) and not least <= budget <= most:
        text = f"The thinking budget {budget} is invalid. Please choose a value between {least} and {most}."
        yield Refusal(text, f"{at}.thinking_budget", "out_of_range")
    if budget == 0 and config.get("include_thoughts"):
        text = "Thinking_config.include_thoughts is only enabled when thinking is enabled."
        yield Refusal(f"Unable to submit request because {text}", f"{at}.include_thoughts", "thoughts_without_thinking")
