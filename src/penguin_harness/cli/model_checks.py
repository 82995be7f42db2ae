"""The requests with which a model is tried, each a conversation of its own, and what their answers say."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from msgspec import UNSET, Raw, Struct

from penguin_harness.cli.model_step import STEPS, Step, failed, with_learnt
from penguin_harness.cli.model_talk import Heard, hear
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.contracts import Model, Request, ThinkingLevel
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineThinking,
    Text,
    Thinking,
    ToolCallOutput,
    ToolSchema,
)

SYSTEM = "You are being tried out. Do what you are asked, in few words."
TOOL = ToolSchema(
    "note_word",
    "Notes a word down.",
    Raw(b'{"type":"object","properties":{"word":{"type":"string"}},"required":["word"]}'),
)
THINKS: ThinkingLevel = "high"
LIMIT = 4096
"""Tokens of an answer that are asked for where nothing is known of the model."""

RED_SQUARE = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7"
    "/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC"
)
_BURST = 0.05
"""The part of an answer's time in which all of its pieces come when something holds them back until the end."""


class Tried(Struct, frozen=True):
    """A model, and what is known of it beforehand."""

    model: Model
    vision: bool | None = None
    thinks: bool = True
    output_limit: int | None = None


async def checks(tried: Tried) -> AsyncGenerator[Step, None]:
    """The steps as they are known, in their order; after one that makes the rest impossible, the rest untried."""
    done = 0
    first = await hear(tried.model, _asks("Count from one to thirty in words, with commas between."))
    for step in basics(first):
        done += 1
        yield step
    if first.completed:
        for check in (tools, images, thinking, output_limit):
            step = await check(tried)
            done += 1
            yield step
            if step.ends:
                break
    for name in STEPS[done:]:
        yield Step(name)


def basics(heard: Heard) -> list[Step]:
    """What one plain request says: up to its failure, or that it is answered, how, and with which counts."""
    code = heard.outcome.error_code
    reached = bool(heard.pieces) or code not in ("network", "timeout") or _is_http(heard)
    if not heard.completed and not reached:
        return [failed("reachable", heard)]
    steps = [Step("reachable", "✓")]
    if code == "auth":
        return [*steps, failed("authorised", heard)]
    if not heard.completed:
        return [*steps, Step("authorised", "✓" if heard.pieces else "-"), failed("answers", heard)]
    answers = Step("answers", "✓", f"first piece after {heard.first:.2f} s", learnt=heard.learnt)
    return [*steps, Step("authorised", "✓"), answers, _streams(heard), _usage(heard)]


def _is_http(heard: Heard) -> bool:
    return (heard.outcome.error_message or "").startswith("HTTP ")


def _streams(heard: Heard) -> Step:
    count = heard.text_pieces
    if count <= 1:
        return Step("streams", "-", "does not stream: the whole answer is one piece")
    spread = heard.total - heard.first
    if heard.total > 1 and spread < _BURST * heard.total:
        return Step("streams", "-", f"does not stream: all {count} pieces come at the end")
    return Step("streams", "✓", f"{count} pieces in {heard.total:.2f} s")


def _usage(heard: Heard) -> Step:
    if (counts := heard.outcome.usage) is None:
        return Step("usage", "-", "none reported; the harness estimates")
    return Step("usage", "✓", f"{counts.total:,} tokens")


async def tools(tried: Tried) -> Step:
    """Whether the model calls a tool and takes its result."""
    messages = (Text("user", "Call note_word with the word pong. Then say what it answered."),)
    first = forced = await hear(tried.model, _asks(*messages, tool_choice="required"))
    if first.outcome.error_code == "rejected" and not first.completed:
        first = await hear(tried.model, _asks(*messages))
    way_out = "take a model with tools; a server of your own may need them switched on"
    if not first.completed:
        return with_learnt(failed("tools", first, way_out=way_out), forced)
    if not first.calls:
        step = Step("tools", "✗", "the model called none, it answered in words", one_line(first.text), way_out)
        return with_learnt(step, forced, first)
    second = await hear(tried.model, _asks(*messages, *_answered(first)), used=first.calls)
    if not second.completed:
        return failed("tools", second, note="the result of a call is refused")
    note = "called, and its result taken" if first is forced else "called, though no call can be forced; result taken"
    return with_learnt(Step("tools", "✓", note), forced, first, second)


async def images(tried: Tried) -> Step:
    """Whether an image is taken. Not taking any is a fact: the model is told of them in words."""
    if tried.vision is False:
        return Step("images", "-", "takes none, as is known of it")
    heard = await hear(tried.model, _asks(ImageUrl("user", RED_SQUARE), Text("user", "Which colour? One word.")))
    if not heard.completed:
        way_out = "say `vision = false` for it in the configuration: it is then told of images in words"
        return failed("images", heard, note="images are refused", way_out=way_out)
    if any("images" in lesson for lesson in heard.learnt):
        return Step("images", "-", "takes none; it is told of them in words", learnt=heard.learnt)
    if "red" in heard.text.lower():
        return Step("images", "✓", "taken and seen", learnt=heard.learnt)
    return Step("images", "✓", f"taken; it sees: {one_line(heard.text)[:40]}", learnt=heard.learnt)


async def thinking(tried: Tried) -> Step:
    """Whether thinking arrives, and goes back with the next request as its vendor wants it."""
    if not tried.thinks:
        return Step("thinking", "-", "thinks at no level, as is known of it")
    messages = (Text("user", "How much is 17 times 23? Think, note the number with note_word, then say it."),)
    first = await hear(tried.model, _asks(*messages, thinking_level=THINKS))
    if not first.completed:
        way_out = "leave the thinking level out"
        return failed("thinking", first, note=f"the level {THINKS} is refused", way_out=way_out)
    more = _answered(first) if first.calls else [*first.payloads, Text("user", "Say it once more.")]
    second = await hear(tried.model, _asks(*messages, *more, thinking_level=THINKS), used=first.calls)
    if not second.completed:
        way_out = "check --client-type: what was thought must go back as it came"
        return failed("thinking", second, note="what goes back is refused", way_out=way_out)
    thoughts = [payload for payload in first.payloads if isinstance(payload, Thinking | InlineThinking)]
    return with_learnt(Step("thinking", "✓" if thoughts else "-", _thought(thoughts)), first, second)


def _thought(thoughts: list[Thinking | InlineThinking]) -> str:
    if not thoughts:
        return "none arrives"
    shown = any(isinstance(thought, InlineThinking) or thought.thinking.strip() for thought in thoughts)
    signed = any(thought.fidelity is not UNSET for thought in thoughts)
    return f"arrives{'' if shown else ' without its text'}{', and goes back as it came' if signed else ''}"


async def output_limit(tried: Tried) -> Step:
    """Whether an answer can be limited to what the model is said to write at most."""
    limit = tried.output_limit or LIMIT
    heard = await hear(tried.model, _asks(Text("user", "Say: pong"), max_output_tokens=limit))
    if not heard.completed:
        way_out = "set a smaller output_limit for it in the configuration"
        return failed("output limit", heard, note=f"{limit:,} tokens are refused", way_out=way_out)
    return Step("output limit", "✓", f"{limit:,} tokens asked for", learnt=heard.learnt)


def _answered(heard: Heard) -> list[CompletePayload]:
    outputs = [ToolCallOutput("user", "Noted: pong.", call.tool_call_id) for call in heard.calls]
    return [*heard.payloads, *outputs]


def _asks(
    *said: CompletePayload | str,
    tool_choice: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    max_output_tokens: int | None = None,
) -> Request:
    messages = tuple(Text("user", one) if isinstance(one, str) else one for one in said)
    return Request(SYSTEM, messages, (TOOL,), thinking_level, max_output_tokens, tool_choice)
