"""The scripted model: what is written down is what is streamed."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import Raw

from penguin_harness.contracts import (
    BlockDelta,
    BlockEnd,
    CallDelta,
    Model,
    ModelItem,
    ModelRef,
    Outcome,
    Request,
    TextDelta,
    ThinkingDelta,
)
from penguin_harness.llm.script import Script, call, fail, say, think
from penguin_harness.omnimessage import CompletePayload, InlineData, Text, TokenCounts, ToolCall

REQUEST = Request("", [Text("user", "hi")])


async def ask(model: Model) -> list[ModelItem]:
    return [item async for item in model.stream(REQUEST)]


async def test_a_turn_is_streamed_in_fragments() -> None:
    model: Model = Script([[think("hmm", fidelity=b'{"a":1}'), say("Hello."), call("add", a=1, b="x")]], fragment=4)
    assert await ask(model) == [
        ThinkingDelta("hmm", 0, Raw(b'{"a":1}')),
        BlockEnd(),
        TextDelta("Hell", 1),
        TextDelta("o.", 1),
        BlockEnd(),
        CallDelta(2, "", "call_1_3", "add"),
        CallDelta(2, '{"a"'),
        CallDelta(2, ':1,"'),
        CallDelta(2, 'b":"'),
        CallDelta(2, 'x"}'),
        BlockEnd(),
        Outcome("completed"),
    ]


async def test_ids_are_given_or_unique_in_the_script() -> None:
    model = Script([[call("f"), call("f", id="mine"), call("f")], [call("f")]])
    items = [*await ask(model), *await ask(model)]
    ids = [item.id for item in items if isinstance(item, CallDelta) and item.name]
    assert ids == ["call_1_1", "mine", "call_1_3", "call_2_1"]


async def test_raw_items_outcomes_and_data_pass_as_they_are() -> None:
    usage = TokenCounts.of(cache_write=3, output=1)
    image = InlineData("assistant", "aGk=", "image/png")
    model = Script([
        [TextDelta("a"), CallDelta(7, "{"), Outcome("completed", usage=usage), say("never")],
        [image, ToolCall("assistant", "f", "not json", "x#7#1")],
        [say(""), fail("retryable", "network", "down", retry_after_ms=5)],
    ])  # fmt: skip
    assert await ask(model) == [TextDelta("a"), CallDelta(7, "{"), Outcome("completed", usage=usage)]
    assert await ask(model) == [
        BlockDelta(image),
        BlockEnd(),
        CallDelta(1, "", "x#7", "f"),
        CallDelta(1, "not json"),
        BlockEnd(),
        Outcome("completed"),
    ]
    assert await ask(model) == [
        TextDelta(""),
        BlockEnd(),
        Outcome("retryable", "network", "down", retry_after_ms=5),
    ]


async def test_a_script_can_wait_and_raise() -> None:
    gate = asyncio.Event()
    model = Script([[say("a"), gate, say("b")], [RuntimeError("bug")]])
    stream = model.stream(REQUEST)
    assert [await anext(stream), await anext(stream)] == [TextDelta("a"), BlockEnd()]
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.wait({waiting}, timeout=0.01)
    assert not waiting.done()
    gate.set()
    assert await waiting == TextDelta("b", 2)
    await stream.aclose()
    with pytest.raises(RuntimeError, match="bug"):
        await ask(model)


async def test_requests_are_recorded_as_they_were() -> None:
    model = Script([[say("a")]], ref=ModelRef("p", "m"), context_window=9)
    messages: list[CompletePayload] = [Text("user", "one")]
    async for _ in model.stream(Request("s", messages)):
        pass
    messages.append(Text("user", "two"))
    assert model.requests == [Request("s", (Text("user", "one"),))]
    assert (model.ref, model.context_window, model.closed) == (ModelRef("p", "m"), 9, False)
    await model.aclose()
    assert model.closed


async def test_more_requests_than_turns_fail_clearly() -> None:
    model = Script([[say("a")]])
    await ask(model)
    assert await ask(model) == [Outcome("fatal", "rejected", "request 2 came, the script ends with turn 1")]
