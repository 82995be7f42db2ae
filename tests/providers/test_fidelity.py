"""The fidelity law: opaque data goes out as it came in, byte for byte, live, after a resume and after a fork."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from penguin_harness import Agent, Session, create_agent, user_text
from penguin_harness.omnimessage.check import check
from penguin_harness.trace import read_lines
from tests.llm.server import RawServer
from tests.providers.dialects import KEY
from tests.support import allow, assert_conforms

Answer: TypeAlias = Callable[[bytes], bytes]
"""The bytes of an answer in which an opaque value stands."""


def sse(*events: bytes) -> bytes:
    return b"".join(b"data: %b\n\n" % event for event in events)


def chat_details(value: bytes) -> bytes:
    """OpenRouter's reasoning details."""
    return sse(
        b'{"choices":[{"delta":{"reasoning":"Hm.","reasoning_details":[{"type":"x","data":%b}]}}]}' % value,
        b'{"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}',
        b"[DONE]",
    )


def chat_call(value: bytes) -> bytes:
    """What Gemini's compatible endpoint keeps beside a call."""
    call = b'{"index":0,"id":"a","function":{"name":"note","arguments":"{}"},"extra_content":{"google":%b}}' % value
    return sse(
        b'{"choices":[{"delta":{"tool_calls":[%b]}}]}' % call,
        b'{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}',
        b"[DONE]",
    )


def anthropic_block(block: bytes) -> Answer:
    """A content block with a member that nobody knows, and text behind it."""

    def answer(value: bytes) -> bytes:
        return sse(
            b'{"type":"message_start","message":{"usage":{"input_tokens":1}}}',
            b'{"type":"content_block_start","index":0,"content_block":%b}' % block.replace(b"VALUE", value),
            b'{"type":"content_block_stop","index":0}',
            b'{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"Hi."}}',
            b'{"type":"content_block_stop","index":1}',
            b'{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
            b'{"type":"message_stop"}',
        )

    return answer


def responses_item(item: bytes) -> Answer:
    """An output item with a member that nobody knows."""

    def answer(value: bytes) -> bytes:
        whole = item.replace(b"VALUE", value)
        said = b'{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[%b]}' % (
            b'{"type":"output_text","text":"Hi.","annotations":[]}'
        )
        return sse(
            b'{"type":"response.output_item.added","output_index":0,"item":%b}' % whole,
            b'{"type":"response.output_item.done","output_index":0,"item":%b}' % whole,
            b'{"type":"response.output_item.added","output_index":1,"item":%b}' % said,
            b'{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"Hi."}',
            b'{"type":"response.output_item.done","output_index":1,"item":%b}' % said,
            b'{"type":"response.completed","response":{"status":"completed","output":[]}}',
        )

    return answer


def gemini_part(part: bytes) -> Answer:
    """A part with its signature, or a member that nobody knows."""

    def answer(value: bytes) -> bytes:
        whole = part.replace(b"VALUE", value)
        return sse(
            b'{"candidates":[{"content":{"role":"model","parts":[%b]}}]}' % whole,
            b'{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi."}]},"finishReason":"STOP"}]}',
        )

    return answer


PLACES: dict[str, tuple[str, Answer]] = {
    "chat reasoning details": ("openai_chat", chat_details),
    "chat call": ("openai_chat", chat_call),
    "anthropic thinking": (
        "anthropic",
        anthropic_block(b'{"type":"thinking","thinking":"Hm.","signature":"s==","new":VALUE}'),
    ),
    "anthropic redacted thinking": (
        "anthropic",
        anthropic_block(b'{"type":"redacted_thinking","data":"d==","new":VALUE}'),
    ),
    "anthropic call": (
        "anthropic",
        anthropic_block(b'{"type":"tool_use","id":"a","name":"note","input":{},"caller":VALUE}'),
    ),
    "responses reasoning": (
        "openai_responses",
        responses_item(b'{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"e==","new":VALUE}'),
    ),
    "gemini call": (
        "gemini",
        gemini_part(b'{"functionCall":{"name":"note","args":{}},"thoughtSignature":"s==","new":VALUE}'),
    ),
    "gemini text": ("gemini", gemini_part(b'{"text":"So.","thoughtSignature":"s==","new":VALUE}')),
}

STRINGS: dict[str, tuple[str, Answer]] = {
    "anthropic signature": ("anthropic", anthropic_block(b'{"type":"thinking","thinking":"Hm.","signature":VALUE}')),
    "anthropic redacted data": ("anthropic", anthropic_block(b'{"type":"redacted_thinking","data":VALUE}')),
    "responses encrypted content": (
        "openai_responses",
        responses_item(b'{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":VALUE}'),
    ),
    "gemini call signature": (
        "gemini",
        gemini_part(b'{"functionCall":{"name":"note","args":{}},"thoughtSignature":VALUE}'),
    ),
    "gemini text signature": ("gemini", gemini_part(b'{"text":"So.","thoughtSignature":VALUE}')),
}

numbers = st.sampled_from([b"1.0", b"1e400", b"-0", b"1E5", b"0.10", b"123456789012345678901234567890"])
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
plain = st.one_of(
    texts.map(lambda text: json.dumps(text, ensure_ascii=False).encode()), texts.map(json.dumps).map(str.encode)
)
escaped = st.sampled_from([b'"\\u00e9\\/\\u003d"', b'"\\ud83d\\udc27"', b'"a\\u2028b"', b'"\xe2\x80\xa8"'])
strings = st.one_of(plain, escaped)
scalars = st.one_of(numbers, strings, st.sampled_from([b"true", b"false", b"null"]))


def _object(members: list[tuple[bytes, bytes]]) -> bytes:
    return b"{%b}" % b", ".join(b"%b: %b" % member for member in members)


values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: b"[%b]" % b", ".join(items)),
        st.lists(st.tuples(strings, inner), max_size=3).map(_object),
    ),
    max_leaves=8,
)
DUPLICATES = b'{"a":1.0,"a":1e400, "b":[ {} , {"a":null,"a":null} ]}'
DEEP = b"[" * 60 + b"1.0" + b"]" * 60


def note() -> str:
    """Note."""
    return "noted"


async def finished(session: Session, text: str) -> None:
    async for _ in session.run([user_text(text)], approve=allow):
        pass


async def goes_back(server: RawServer, agent: Agent, client_type: str, answer: Answer, value: bytes) -> None:
    """The value is in every later request exactly as it came: live, of a fork, after a resume."""
    server.requests.clear()
    reach = {"base_url": server.url, "api_key": KEY, "client_type": client_type}
    options: dict[str, Any] = {"tools": [note], **reach}
    first = answer(value)
    later = 4 if b"note" in first else 3
    server.answers(first)
    for _ in range(later):
        server.answers(_closing(client_type))
    async with await agent.create_session(
        workspace=agent.paths.state.parent, provider="custom", model_id="m", **options
    ) as session:
        await finished(session, "one")
        async with await agent.fork_session(session.session_id, **options) as fork:
            await finished(fork, "of the fork")
        await finished(session, "live")
        name, path = session.session_id, session.trace_path
    async with await agent.resume_session(name, **options) as session:
        await finished(session, "resumed")
    assert_conforms(check(list(read_lines(path)), "trace", finished=True))
    assert len(server.requests) == 1 + later
    for request in server.requests[1:]:
        assert value in request.body, (value, request.body[-600:])


def _closing(client_type: str) -> bytes:
    """An answer of one text."""
    match client_type:
        case "openai_chat":
            return sse(b'{"choices":[{"delta":{"content":"Hi."},"finish_reason":"stop"}]}', b"[DONE]")
        case "anthropic":
            return anthropic_block(b'{"type":"text","text":"So."}')(b"")
        case "openai_responses":
            return responses_item(b'{"type":"web_search_call","id":"ws_1"}')(b"")
        case _:
            return gemini_part(b'{"text":"So."}')(b"")


async def law(server: RawServer, folder: Path, place: tuple[str, Answer], value: bytes) -> None:
    agent = await create_agent(root=folder / "root")
    agent.paths.state.parent.mkdir(parents=True, exist_ok=True)
    await goes_back(server, agent, *place, value)


limits = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
@limits
@example(value=DUPLICATES)
@example(value=DEEP)
@example(value=b'{"b":1.0,"a":"\\u00e9","z":1e5}')
@given(value=values)
async def test_any_json_value_goes_back_as_it_came(
    server: RawServer, tmp_path: Path, place: tuple[str, Answer], value: bytes
) -> None:
    """B032, and every number's spelling, key's order, escape and repeated key."""
    await law(server, tmp_path, place, b'{"mark":%b}' % value)


@pytest.mark.parametrize("place", STRINGS.values(), ids=STRINGS.keys())
@limits
@given(value=st.one_of(strings, st.binary(max_size=40).map(lambda data: json.dumps(data.hex()).encode())))
async def test_any_signature_goes_back_as_it_came(
    server: RawServer, tmp_path: Path, place: tuple[str, Answer], value: bytes
) -> None:
    await law(server, tmp_path, place, b'"sig-' + value[1:])
