"""What goes wrong between us and a vendor: told, tried again where that can help, and nothing run twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penguin_harness import RequestEnd, Text, ToolCall
from penguin_harness.contracts import Model, Outcome, Request
from penguin_harness.omnimessage import OmniMessage
from penguin_harness.omnimessage import Text as TextPayload
from tests.double.client import Double
from tests.double.steps import beat, cut, line, stall
from tests.providers.dialects import ANTHROPIC, CHAT, GEMINI, KEY, RESPONSES, Dialect, against
from tests.support import outputs, texts


def ends(messages: list[OmniMessage]) -> list[tuple[str, str | None]]:
    """How each request ended."""
    payloads = (message.payload for message in messages)
    return [(end.status, end.error_code) for end in payloads if isinstance(end, RequestEnd)]


class Counter:
    """A tool that counts how often it ran."""

    def __init__(self) -> None:
        self.ran = 0

    def tool(self) -> Any:
        def count(n: int = 0) -> str:
            """Count."""
            self.ran += 1
            return f"counted {n}"

        return count


BUSY = {"openai_chat": 503, "openai_responses": 503, "anthropic": 529, "gemini": 503}


@pytest.mark.parametrize("status", [429, 500, "busy"])
async def test_a_busy_vendor_is_asked_again(
    dialect: Dialect, double: Double, tmp_path: Path, status: int | str
) -> None:
    code = BUSY[dialect.client_type] if status == "busy" else status
    turns = [dialect.build.fails(code), dialect.build.reply("Here I am.")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
    assert ends(seen) == [("retryable", "network"), ("completed", None)]
    assert texts(seen) == ["Here I am."]


async def test_b081_the_vendors_wait_is_kept(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    turns = [dialect.build.fails(429, headers={"Retry-After": "7"}), dialect.build.reply("Here I am.")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
    waits = [m.payload.retry_in_ms for m in seen if isinstance(m.payload, RequestEnd)]
    assert waits == [7000, None]


@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_ends_the_run_and_is_never_shown(
    dialect: Dialect, double: Double, tmp_path: Path, status: int
) -> None:
    """B171: the endpoint echoes the key in its error."""
    turns = [dialect.build.fails(status, f"The key {KEY} is not valid.", kind="authentication_error")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
    assert ends(seen) == [("fatal", "auth")]
    assert KEY.encode() not in session.session.trace_path.read_bytes()
    assert "[redacted]" in str(seen[-1].payload)


async def test_a_wrong_key_is_refused_as_the_vendor_refuses_it(dialect: Dialect, double: Double) -> None:
    double.load(dialect.script(dialect.build.reply("never")))
    outcome = await asked(dialect.model(double, api_key="sk-wrong-key-0000"))
    assert (outcome.status, outcome.error_code) == ("fatal", "auth")
    assert "sk-wrong-key-0000" not in (outcome.error_message or "")
    assert double.refusals()


async def asked(model: Model, request: Request | None = None) -> Outcome:
    """What comes of one request, outside a session."""
    last: Any = None
    async for item in model.stream(request or Request("", (TextPayload("user", "hi"),))):
        last = item
    await model.aclose()
    assert isinstance(last, Outcome)
    return last


async def test_b044_a_definitive_refusal_is_not_repeated(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    turns = [dialect.build.fails(400, "messages: something is invalid", kind="invalid_request_error")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
    assert ends(seen) == [("fatal", "rejected")]
    assert "something is invalid" in str(seen[-1].payload)


async def test_b056_an_error_in_the_stream_counts_as_its_status(
    dialect: Dialect, double: Double, tmp_path: Path
) -> None:
    build = dialect.build
    turns = [build.bare(*build.error()), build.reply("Here I am.")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
    assert ends(seen) == [("retryable", "network"), ("completed", None)]
    assert texts(seen) == ["Here I am."]


async def test_b057_a_half_call_before_an_error_is_never_run(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    if dialect is GEMINI:
        pytest.skip("calls come whole in this protocol")
    build, counter = dialect.build, Counter()
    half = build.call("count", '{"n": 1}', id="a", parts=4)[:-2]
    turns = [build.turn(build.text("So:"), *half, *build.error()), build.reply("Done.")]
    async with against(dialect, double, tmp_path, *turns, tools=[counter.tool()]) as session:
        seen = await session.run("go")
    assert (counter.ran, ends(seen)[0][0]) == (0, "retryable")
    cut_off = [m.payload for m in seen if isinstance(m.payload, ToolCall)]
    assert [call.stop_reason for call in cut_off] == ["retryable"]


@pytest.mark.parametrize("how", ["end", "close", "reset"])
async def test_b051_an_answer_that_breaks_off_is_asked_again(
    dialect: Dialect, double: Double, tmp_path: Path, how: Any
) -> None:
    """A polite end of the connection is no end of the answer, also behind "I will run:" (B053)."""
    build = dialect.build
    turns = [build.turn(build.text("I will run:"), *cut(how)), build.reply("A whole answer.")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
        assert ends(seen)[0][0] == "retryable"
        assert ends(seen)[1] == ("completed", None)
        committed = [p.text for p in session.session.history if isinstance(p, Text) and p.role == "assistant"]
    assert committed == ["A whole answer."]


async def test_b059_an_unreadable_event_is_malformed(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build = dialect.build
    turns = [build.turn(build.text("So"), *line('{"broken'), *build.text(" far")), build.reply("Done.")]
    async with against(dialect, double, tmp_path, *turns) as session:
        seen = await session.run("go")
    assert ends(seen) == [("retryable", "malformed"), ("completed", None)]


@pytest.mark.parametrize("silence", [stall(), beat(50)], ids=["silence", "heartbeats"])
async def test_b061_silence_has_two_clocks(dialect: Dialect, double: Double, silence: Any) -> None:
    """One for no byte at all, a longer one for heartbeats without content."""
    double.load(dialect.script(dialect.build.turn(dialect.build.text("Half"), *silence), expect_replay=False))
    model = dialect.model(double, idle_timeout=0.3, content_timeout=0.6)
    outcome = await asked(model)
    assert (outcome.status, outcome.error_code) == ("retryable", "timeout")


OVERFLOWS = {
    "openai_chat": "This model's maximum context length is 1000 tokens.",
    "openai_responses": "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "anthropic": "prompt is too long: 214676 tokens > 200000 maximum",
    "gemini": "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
}


async def test_b083_an_overflow_is_recognised(dialect: Dialect, double: Double) -> None:
    message = OVERFLOWS[dialect.client_type]
    double.load(dialect.script(dialect.build.fails(400, message, kind="invalid_request_error")))
    outcome = await asked(dialect.model(double))
    assert (outcome.status, outcome.error_code, outcome.overflow) == ("fatal", "rejected", True)


async def test_the_vendors_request_id_is_in_the_error(dialect: Dialect, double: Double) -> None:
    name = {CHAT: "x-request-id", RESPONSES: "x-request-id", ANTHROPIC: "request-id", GEMINI: "x-goog-request-id"}
    double.load(dialect.script(dialect.build.fails(500, headers={name[dialect]: "req_4711"})))
    outcome = await asked(dialect.model(double))
    assert "req_4711" in (outcome.error_message or "")


async def test_b067_b068_arguments_that_are_empty_or_broken(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    """Blank means {}; broken is answered and not run, and the history with it is still accepted (B069)."""
    build, counter = dialect.build, Counter()
    turns = [build.turn(build.call("count", "", id="a")), build.reply("One.")]
    if dialect is not GEMINI:  # arguments are an object there
        turns += [build.turn(build.call("count", '{"n": ', id="b")), build.reply("Two."), build.reply("Three.")]
    async with against(dialect, double, tmp_path, *turns, tools=[counter.tool()]) as session:
        seen = await session.run("go")
        if dialect is not GEMINI:
            seen += await session.run("on")
            await session.run("and on")
    answers = list(outputs(seen).values())
    assert (counter.ran, answers[0]) == (1, ("counted 0", "completed"))
    if dialect is not GEMINI:
        assert answers[1][1] == "fatal"
        assert "JSON" in answers[1][0]


async def test_b072_an_unknown_tool_is_answered(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build, counter = dialect.build, Counter()
    turns = [build.turn(build.call("list_sites", {}, id=f"u{n}")) for n in range(3)]
    async with against(dialect, double, tmp_path, *turns, build.reply("Sorry."), tools=[counter.tool()]) as session:
        seen = await session.run("go")
    assert [stop for _, stop in outputs(seen).values()] == ["fatal"] * 3
    assert all("count" in output for output, _ in outputs(seen).values())
