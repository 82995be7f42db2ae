"""The thinking parameter, and where thinking must stand in the conversation."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.anthropic.endpoint import AnthropicEndpoint
from tests.double.anthropic.turns import Block, Turn
from tests.double.anthropic.wording import check_keys, invalid, one_of, required, should_be, wrong_tag
from tests.double.refusal import Refusal, as_object

KEYS = {
    "adaptive": {"type", "display"},
    "enabled": {"type", "display", "budget_tokens"},
    "disabled": {"type"},
    "between_tools": {"type"},
}
LEAST_BUDGET = 1024
DOCUMENTATION = (
    "Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking"
)


def kind_of_thinking(body: dict[str, object]) -> str | None:
    """The type that the parameter has, if there is one."""
    kind = (as_object(body.get("thinking")) or {}).get("type")
    return kind if isinstance(kind, str) else None


def check_thinking(body: dict[str, object], endpoint: AnthropicEndpoint) -> Iterator[Refusal]:
    """The parameter, and what it forbids beside itself."""
    thinking = as_object(body.get("thinking", {"type": "disabled"}))
    if thinking is None:
        yield should_be("thinking", "an object")
        return
    kind = thinking.get("type")
    if not isinstance(kind, str) or kind not in KEYS:
        yield required("thinking.type") if "type" not in thinking else wrong_tag("thinking", kind, KEYS)
        return
    yield from check_keys(f"thinking.{kind}", thinking, KEYS[kind])
    if "thinking" in body and kind not in endpoint.thinking:
        yield _unsupported(kind)
    if thinking.get("display", "summarized") not in ("summarized", "omitted", None):
        yield one_of(f"thinking.{kind}.display", ["summarized", "omitted"])
    if kind == "enabled":
        yield from _check_budget(thinking, body.get("max_tokens"))
    if kind in ("enabled", "adaptive"):
        yield from _check_company(body)


def _unsupported(kind: str) -> Refusal:
    if kind == "adaptive":
        return Refusal("adaptive thinking is not supported on this model", "thinking", "unsupported_value")
    text = f'"thinking.type.{kind}" is not supported for this model. Use "thinking.type.adaptive" and'
    return Refusal(f'{text} "output_config.effort" to control thinking behavior.', "thinking", "unsupported_value")


def _check_budget(thinking: dict[str, object], max_tokens: object) -> Iterator[Refusal]:
    at, budget = "thinking.enabled.budget_tokens", thinking.get("budget_tokens")
    if "budget_tokens" not in thinking:
        yield required(at)
    elif not isinstance(budget, int) or isinstance(budget, bool):
        yield should_be(at, "a valid integer")
    elif budget < LEAST_BUDGET:
        yield invalid(at, f"Input should be greater than or equal to {LEAST_BUDGET}")
    elif isinstance(max_tokens, int) and budget >= max_tokens:
        text = f"`max_tokens` must be greater than `thinking.budget_tokens`. {DOCUMENTATION}"
        yield Refusal(text, "max_tokens", "invalid_value")


def _check_company(body: dict[str, object]) -> Iterator[Refusal]:
    while_ = f"when thinking is enabled or in adaptive mode. {DOCUMENTATION}"
    top_p = body.get("top_p")
    if body.get("temperature", 1) != 1:
        yield Refusal(f"`temperature` may only be set to 1 {while_}", "temperature", "invalid_value")
    if isinstance(top_p, int | float) and top_p < 0.95:
        text = f"`top_p` must be greater than or equal to 0.95 or unset {while_}"
        yield Refusal(text, "top_p", "invalid_value")
    if "top_k" in body:
        yield Refusal(f"`top_k` must be unset {while_}", "top_k", "invalid_value")
    if (as_object(body.get("tool_choice")) or {}).get("type") in ("any", "tool"):
        text = "Thinking may not be enabled when tool_choice forces tool use."
        yield Refusal(text, "tool_choice", "invalid_value")


def check_order(turns: list[Turn]) -> Iterator[Refusal]:
    """With a budget, thinking comes before all else in its message, and first in a loop of calls that goes on."""
    for turn in turns:
        if any(block.is_thinking for block in turn.blocks) and not turn.blocks[0].is_thinking:
            text = "If an assistant message contains any thinking blocks, the first block must be `thinking` or"
            found = f"{text} `redacted_thinking`. Found `{turn.blocks[0].kind}`."
            yield invalid(turn.blocks[0].at, found, "thinking_misplaced")
    first = _first_of_loop(turns)
    if first is not None and not first.is_thinking:
        text = f"Expected `thinking` or `redacted_thinking`, but found `{first.kind}`. When `thinking` is enabled, a"
        text = f"{text} final `assistant` message must start with a thinking block (preceeding the lastmost set of"
        text = f"{text} `tool_use` and `tool_result` blocks). {DOCUMENTATION}"
        yield invalid(f"{first.at}.type", text, "thinking_missing")


def _first_of_loop(turns: list[Turn]) -> Block | None:
    """The first block that the model said in the loop of calls and results that the request ends with."""
    first: Block | None = None
    for turn in reversed(turns):
        if turn.role == "assistant" and turn.blocks:
            first = turn.blocks[0]
        elif not turn.blocks or turn.blocks[0].kind != "tool_result":
            break
    return first
