from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import httpx
import pytest

from tests.double.chat.build import (
    AT_ONCE,
    EACH_BYTE,
    Delivery,
    Endpoint,
    Expect,
    bare,
    call,
    counts,
    done,
    error,
    fails,
    finish,
    part,
    reply,
    script,
    text,
    thinking,
    turn,
    usage,
)
from tests.double.chat.conversation import Json, called, output, request, said, user
from tests.double.client import ROOT, Double
from tests.double.script import Cut
from tests.double.steps import beat, between, comment, cut, event, gate, line, raw, stall


def ask(double: Double, body: Json | bytes, **headers: str) -> httpx.Response:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {"Content-Type": "application/json"} | headers
    with httpx.Client() as client:
        return client.post(f"{double.url}/chat/completions", content=data, headers=named)


def data_of(answer: str) -> list[Any]:
    lines = [line.removeprefix("data: ") for line in answer.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def deltas(answer: str) -> list[Json]:
    return [choice["delta"] for chunk in data_of(answer) for choice in chunk["choices"]]


def test_a_conversation_passes_and_is_recorded_byte_for_byte(double: Double) -> None:
    double.load(script(turn(thinking("Hm."), text("I look."), call("read_file", {"path": "a"})), reply("Done.")))
    messages = [user(), called("call_1", content="I look.", arguments='{"path": "a"}'), output("call_1")]
    bodies = [json.dumps(request(*messages[:1])).encode(), json.dumps(request(*messages)).encode()]
    answers = [ask(double, body) for body in bodies]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].headers["content-type"] == "text/event-stream; charset=utf-8"
    assert deltas(answers[0].text) == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "Hm."},
        {"content": "I look."},
        {"tool_calls": [{"index": 0, "id": "call_1", "type": "function",
                         "function": {"name": "read_file", "arguments": ""}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": '{"path": "a"}'}}]},
        {},
    ]  # fmt: skip
    assert data_of(answers[0].text)[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert data_of(answers[0].text)[-1]["usage"] == counts()
    assert answers[1].text.endswith("\n\ndata: [DONE]\n\n")
    assert [recorded.body for recorded in double.requests()] == bodies
    assert [(recorded.turn, recorded.outcome) for recorded in double.requests("test-model")] == [
        (0, "served"),
        (1, "served"),
    ]
    assert double.left() == 0
    assert double.refusals() == []


def test_a_refusal_is_answered_logged_and_plays_no_turn(double: Double) -> None:
    double.load(script(reply("Hi")))
    answer = ask(double, request(user(" ")))
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "blank_text"
    assert double.left() == 1
    [refusal] = double.refusals("test-model")
    assert (refusal.request, refusal.code, refusal.param) == (0, "blank_text", "messages[1].content")
    assert ask(double, request()).status_code == 200


def test_unread_refusals_fail_the_test(double: Double) -> None:
    double.load(script(reply("Hi")))
    ask(double, b"{")
    with pytest.raises(AssertionError, match="invalid_json"):
        double.assert_checked()
    double.refusals()
    double.assert_checked()


def test_an_exhausted_script_and_an_unknown_model_say_so(double: Double) -> None:
    double.load(script(reply("Hi")))
    ask(double, request())
    assert ask(double, request()).json()["error"]["message"] == (
        "The script of model 'test-model' is exhausted: it has 1 turns."
    )
    assert ask(double, request(model="other")).status_code == 404
    with httpx.Client() as client:
        assert client.get(f"{double.url}/nowhere").status_code == 404
    assert [refusal.code for refusal in double.refusals()] == ["script_exhausted", "model_not_found", "unknown_url"]


def test_the_key_is_checked(double: Double) -> None:
    double.load(script(reply("Hi"), endpoint=Endpoint(key="sk-test-right")))
    assert ask(double, request(), Authorization="Bearer sk-test-wrong-key").status_code == 401
    assert ask(double, request(), Authorization="Bearer sk-test-right").status_code == 200
    assert [refusal.code for refusal in double.refusals()] == ["invalid_api_key"]


def test_each_request_goes_on_with_the_one_before(double: Double) -> None:
    double.load(script(*(reply("Hi") for _ in range(5))))
    first = request(user("One"))
    assert ask(double, first).status_code == 200
    assert ask(double, request(user("Two"))).json()["error"]["code"] == "prefix_changed"
    assert ask(double, json.dumps(first, separators=(",", ":")).encode()).json()["error"]["code"] == (
        "prefix_bytes_changed"
    )
    assert ask(double, request(user("One"), tools=[*first["tools"], *TWO])).json()["error"]["code"] == "tools_changed"
    assert ask(double, request(user("One"), said("Hi"), user("Two"))).status_code == 200
    assert ask(double, request(user("One"))).json()["error"]["code"] == "prefix_changed"
    assert len(double.refusals()) == 5  # other separators change the tools too


TWO = [{"type": "function", "function": {"name": "two"}}]


def test_a_new_context_begins_where_the_script_says(double: Double) -> None:
    double.load(script(reply("1"), reply("title", context="aside"), reply("2"), reply("3", context="new"), reply("4")))
    first, third = [user("One"), said("1"), user("Two")], [user("Summary"), said("3"), user("Three")]
    for messages in (first[:1], [user("Title?")], first, third[:1], third):
        assert ask(double, request(*messages)).status_code == 200


def test_a_whole_answer_comes_back(double: Double) -> None:
    broken = turn(text("Unheard"), line("{"))
    double.load(script(reply("Hi"), broken, turn(text("half"), cut("end")), fails(500), reply("Yes"), reply("No")))
    assert ask(double, request(user("One"))).status_code == 200
    assert ask(double, request(user("One"), user("Two"))).json()["error"]["code"] == "answer_missing"
    second = request(user("One"), said("Hi"), user("Two"))
    assert [ask(double, second).status_code for _ in range(4)] == [200, 200, 500, 200]
    assert ask(double, second).json()["error"]["code"] == "answer_missing"
    third = request(user("One"), said("Hi"), user("Two"), said("Yes"))
    assert ask(double, third).status_code == 200
    assert len(double.refusals()) == 2


def test_more_turns_keep_the_prefix(double: Double) -> None:
    double.load(script(reply("1")))
    ask(double, request(user("One")))
    double.extend(reply("2"))
    assert ask(double, request(user("Two"))).status_code == 400
    assert ask(double, request(user("One"), said("1"), user("Two"))).status_code == 200
    assert [refusal.code for refusal in double.refusals()] == ["prefix_changed"]


def test_models_and_conversations_have_scripts_of_their_own(double: Double) -> None:
    double.load(script(reply("a"), model="A"), script(reply("b"), model="B"))
    double.load(script(reply("child"), model="A", where="subtask 7"))
    answers = [
        ask(double, request(model="B")),
        ask(double, request(user("Do subtask 7"), model="A")),
        ask(double, request(model="A")),
    ]
    assert [deltas(answer.text)[1] for answer in answers] == [{"content": "b"}, {"content": "child"}, {"content": "a"}]
    assert len(double.requests("A")) == 2


EXPECTATIONS = [
    Expect(last_user="Bye"),
    Expect(last_role="tool"),
    Expect(contains=("Hello", "nowhere")),
    Expect(absent=("Be brief",)),
    Expect(tools=()),
]


@pytest.mark.parametrize("expect", EXPECTATIONS, ids=str)
def test_an_unmet_expectation_is_a_refusal(double: Double, expect: Expect) -> None:
    met = Expect(last_user="ell", last_role="user", contains=("Be brief",), absent=("Bye",), tools=("read_file",))
    double.load(script(turn(text("Hi"), expect=met), turn(text("Hi"), expect=expect, context="new")))
    assert ask(double, request()).status_code == 200
    assert ask(double, request()).json()["error"]["code"] == "expectation"
    assert len(double.refusals()) == 1


def test_pieces_are_sent_as_written(double: Double) -> None:
    pieces = [
        *text("日本🐧", parts=3),
        *between(text("ab", parts=2), event({"type": "ping"}), comment()),
        *event({"choices": None}),
        *event({"n": 1}, name="message"),
        *part(0, '{"a":', id="X", name="f"),
        *part(1, "{}", name="g"),
        *part(0, "1}", id="X"),
        *line("{broken"),
        *raw(b"event: x\rdata: 1\r\r"),
        *error("Overloaded", code=503),
        *finish("length", tokens=counts(1, 2, cached=1)),
        *usage(),
        *done(),
    ]
    double.load(script(bare(*pieces, delivery=Delivery(newline="\r\n"))))
    answer = ask(double, request()).content
    assert "日本🐧" in "".join(delta.get("content", "") for delta in deltas_of_lines(answer))
    assert answer.count(b'data: {"type":"ping"}\r\n\r\n: keep-alive\r\n\r\n') == 2
    assert b'data: {"choices":null}\r\n\r\nevent: message\r\ndata: {"n":1}\r\n\r\n' in answer
    assert b'{"index":1,"type":"function","function":{"name":"g","arguments":"{}"}}' in answer
    assert b"data: {broken\r\n\r\nevent: x\rdata: 1\r\r" in answer
    assert b'data: {"error":{"message":"Overloaded","type":"server_error","param":null,"code":503}}\r\n\r\n' in answer
    assert b'"usage":{"prompt_tokens":1,"completion_tokens":2' in answer
    assert answer.endswith(b"data: [DONE]\r\n\r\n")


def deltas_of_lines(answer: bytes) -> list[Json]:
    lines = [part[6:] for part in answer.split(b"\r\n") if part.startswith(b'data: {"id"')]
    return [choice.get("delta") or {} for line in lines for choice in json.loads(line)["choices"]]


@pytest.mark.parametrize("sizes", [(), EACH_BYTE, AT_ONCE, (5,), (3, 1, 7), (200, 1 << 20)], ids=str)
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_a_body_arrives_whole_however_it_is_cut(double: Double, sizes: tuple[int, ...], framing: Any) -> None:
    delivery = Delivery(sizes=sizes, framing=framing)
    double.load(script(turn(text("日本🐧"), delivery=delivery)))
    assert deltas(ask(double, request()).text)[1] == {"content": "日本🐧"}


def test_the_vendor_says_null_usage_only_if_asked(double: Double) -> None:
    double.load(script(reply("a"), bare(text("b"), context="new"), endpoint=Endpoint(require_usage=False)))
    assert data_of(ask(double, request()).text)[0]["usage"] is None
    body = {key: value for key, value in request().items() if key != "stream_options"}
    assert "usage" not in data_of(ask(double, body).text)[0]


async def test_a_gate_holds_the_answer_until_it_is_released(double: Double) -> None:
    double.load(script(turn(text("before"), gate("middle"), text("after"))))
    async with httpx.AsyncClient() as client, stream(client, double) as response:
        chunks = response.aiter_text()
        await double.at_gate("middle")
        seen = await read_until(chunks, "before")
        assert "after" not in seen
        assert double.report().waiting == [("test-model", "middle")]
        double.release("middle")
        assert "after" in await read_until(chunks, "[DONE]")
    assert (await double.finished(1))[0].outcome == "served"


def stream(client: httpx.AsyncClient, double: Double) -> Any:
    return client.stream("POST", f"{double.url}/chat/completions", json=request())


async def read_until(chunks: Any, word: str) -> str:
    seen = ""
    async with asyncio.timeout(5):
        async for chunk in chunks:
            seen += chunk
            if word in seen:
                return seen
    raise AssertionError(seen)


@pytest.mark.parametrize("silence", [stall(), beat(5), gate("never")], ids=["stall", "beat", "gate"])
async def test_a_client_that_leaves_a_silent_stream_is_noticed(double: Double, silence: Any) -> None:
    double.load(script(turn(text("before"), silence)))
    async with httpx.AsyncClient() as client, stream(client, double) as response:
        chunks = response.aiter_text()
        await read_until(chunks, "before")
        assert (await double.asked(1)).outcome == "open"
    assert (await double.finished(1))[0].outcome == "gone"


@pytest.mark.parametrize(("how", "wrong"), [("close", httpx.RemoteProtocolError), ("reset", httpx.ReadError)])
def test_a_cut_connection_is_an_error_for_the_client(double: Double, how: Any, wrong: type[Exception]) -> None:
    double.load(script(turn(text("half"), cut(how))))
    with pytest.raises(wrong):
        ask(double, request())
    assert double.requests()[0].outcome == "cut"


def test_a_polite_end_is_a_whole_body_without_its_end(double: Double) -> None:
    double.load(script(turn(text("half"), cut("end")), bare(text("half"), delivery=Delivery(framing="close"))))
    for _ in range(2):
        answer = ask(double, request()).text
        assert deltas(answer)[-1] == {"content": "half"}
        assert "[DONE]" not in answer


def test_a_body_can_be_cut_at_any_byte(double: Double) -> None:
    double.load(script(*(turn(text("日"), delivery=Delivery(cut_at=n, cut_how="end")) for n in range(300))))
    with httpx.Client() as client:
        for size in range(300):
            assert len(client.post(f"{double.url}/chat/completions", json=request()).content) == size


@pytest.mark.parametrize("how", ["close", "reset"])
def test_a_connection_can_break_before_the_answer(double: Double, how: Any) -> None:
    double.load(script(turn(text("never"), delivery=Delivery(before=(Cut(how),)))))
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        ask(double, request())
    assert double.requests()[0].sent == 0


def test_an_http_error_has_status_headers_and_body(double: Double) -> None:
    double.load(
        script(
            fails(429, "Slow down", code="rate_limit_exceeded", kind="requests", headers={"Retry-After": "3"}),
            fails(500, body=b"<html>oops", headers={"Content-Type": "text/html"}),
            fails(599, "Upstream stream failed"),
            reply("Hi"),
        )
    )
    answers = [ask(double, request()) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [429, 500, 599, 200]
    assert answers[0].headers["retry-after"] == "3"
    assert answers[0].json()["error"] == {
        "message": "Slow down", "type": "requests", "param": None, "code": "rate_limit_exceeded"
    }  # fmt: skip
    assert (answers[1].content, answers[1].headers["content-type"]) == (b"<html>oops", "text/html")


def test_a_scripted_failure_is_no_refusal_and_keeps_the_prefix(double: Double) -> None:
    double.load(script(fails(500), reply("Hi")))
    ask(double, request(user("One")))
    assert ask(double, request(user("Other"))).status_code == 400
    assert [refusal.code for refusal in double.refusals()] == ["prefix_changed"]


async def test_a_wait_that_runs_out_says_what_is(double: Double) -> None:
    double.load(script(reply("Hi")))
    with pytest.raises(TimeoutError, match="did not come true"):
        await double.asked(1, seconds=0.01)


def test_a_misspelt_command_is_an_error(double: Double) -> None:
    with pytest.raises(ValueError, match="does not take this"):
        double.extend(reply("Hi"), model="not loaded")


async def test_a_reset_ends_open_answers(double: Double) -> None:
    double.load(script(turn(text("before"), stall())))
    async with httpx.AsyncClient() as client, stream(client, double) as response:
        chunks = response.aiter_text()
        await read_until(chunks, "before")
        double.reset()
        with pytest.raises(httpx.RemoteProtocolError):
            await read_until(chunks, "[DONE]")
    assert double.requests() == []


async def test_many_conversations_at_once_do_not_mix(double: Double) -> None:
    names = [f"m{number}" for number in range(20)]
    double.load(*(script(turn(text(name), delivery=Delivery(sizes=EACH_BYTE)), model=name) for name in names))
    async with httpx.AsyncClient() as client:
        posts = [client.post(f"{double.url}/chat/completions", json=request(model=name)) for name in names]
        answers = await asyncio.gather(*posts)
    assert [deltas(answer.text)[1]["content"] for answer in answers] == names


def test_a_request_in_chunks_is_read(double: Double) -> None:
    double.load(script(reply("Hi")))
    data = json.dumps(request()).encode()
    with httpx.Client() as client:
        answer = client.post(
            f"{double.url}/chat/completions",
            content=iter([data[:10], data[10:]]),
            headers={"Content-Type": "application/json"},
        )
    assert answer.status_code == 200
    assert double.requests()[0].body == data


def test_the_process_ends_with_its_stdin_quietly() -> None:
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-X", "dev", "-m", "tests.double.server"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    port = int(process.stdout.readline())
    with process, httpx.Client() as client:
        assert client.get(f"http://127.0.0.1:{port}/v1/models").json() == {"object": "list", "data": []}
        _, errors = process.communicate(timeout=5)
    assert (process.returncode, errors) == (0, b"")
