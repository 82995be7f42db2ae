"""The vendor's own client talks to the double: what the double says is what the vendor would say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import Any, cast

import openai
import pytest
from openai import OpenAI
from openai.types.responses import Response, ResponseFunctionToolCall, ResponseOutputMessage, ResponseReasoningItem

from tests.double.client import Double
from tests.double.responses.build import (
    EACH_BYTE,
    Delivery,
    Endpoint,
    bare,
    call,
    counts,
    error,
    failed,
    fails,
    filtered,
    heartbeats,
    hidden_thinking,
    limit,
    open_thinking,
    refusal,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.responses.conversation import TOOL, image, output, request, user, without, written
from tests.double.script import Cut, Event, Turn
from tests.double.steps import MODEL, cut


@pytest.fixture
def client(double: Double) -> Iterator[OpenAI]:
    with OpenAI(api_key="sk-test", base_url=double.base_url("openai_responses"), max_retries=0) as client:
        yield client


def streamed(client: OpenAI, *items: Any, **extra: Any) -> Response:
    """The response that the client puts together of the events."""
    options = without(request(**extra), "input", "stream")
    given: Any = list(items) or [user()]
    with client.responses.stream(input=given, **options) as stream:
        return cast("Response", stream.get_final_response())


def events(client: OpenAI, **extra: Any) -> list[Any]:
    stream: Iterable[Any] = cast("Any", client.responses).create(**request(**extra))
    return list(stream)


def test_text_is_streamed_with_its_usage(double: Double, client: OpenAI) -> None:
    tokens = counts(50, 7, cached=40, reasoning=2)
    double.load(script(turn(text("日本🐧 and more", parts=4), tokens=tokens, delivery=Delivery(sizes=EACH_BYTE))))
    response = streamed(client)
    assert (response.output_text, response.status, response.model) == ("日本🐧 and more", "completed", MODEL)
    assert response.usage is not None
    assert response.usage.model_dump(exclude_none=True) == tokens
    assert response.incomplete_details is None


def test_a_tool_call_goes_round_with_its_reasoning(double: Double, client: OpenAI) -> None:
    double.load(
        script(
            turn(thinking("Let me"), thinking("see", parts=2), text("I look."), call("read_file", {"path": "a"})),
            turn(hidden_thinking(), call("read_file", id="call_2"), call("read_file", id="call_3")),
            reply("Done."),
        )
    )  # fmt: skip
    first = streamed(client)
    thought, message, asked = first.output
    assert isinstance(thought, ResponseReasoningItem)
    assert [part.text for part in thought.summary] == ["Let me", "see"]
    assert isinstance(message, ResponseOutputMessage)
    assert message.phase == "commentary"
    assert isinstance(asked, ResponseFunctionToolCall)
    assert (asked.name, asked.arguments, asked.call_id) == ("read_file", '{"path": "a"}', "call_1")
    items: list[Any] = [user(), *first.output, output("call_1", [written("ok"), image()])]
    second = streamed(client, *items)
    items += [*second.output, output("call_2"), output("call_3")]
    assert streamed(client, *items).output_text == "Done."
    assert double.refusals() == []


def test_reasoning_that_is_left_out_is_missed(double: Double, client: OpenAI) -> None:
    double.load(script(turn(thinking("Hm."), call("read_file")), reply("Done.")))
    _, asked = streamed(client).output
    with pytest.raises(openai.BadRequestError, match="was provided without its required 'reasoning' item: 'rs_"):
        streamed(client, user(), asked, output())
    with pytest.raises(openai.BadRequestError, match="does not come back as it was said"):
        streamed(client, user(), without(asked.to_dict(), "id", "parsed_arguments"), output())
    assert [refusal.param for refusal in double.refusals()] == ["input", "input"]


def test_reasoning_that_was_not_asked_for_encrypted_is_not_found(double: Double, client: OpenAI) -> None:
    double.load(script(turn(thinking("Hm."), call("read_file")), reply("Done.")))
    items = streamed(client, include=[]).output
    with pytest.raises(openai.NotFoundError, match="Items are not persisted when `store` is set to false"):
        streamed(client, user(), *items, output())
    assert double.refusals()[0].status == 404


def test_a_server_that_keeps_items_takes_their_names(double: Double, client: OpenAI) -> None:
    double.load(script(reply("Hi"), reply("Done."), endpoint=Endpoint(stored=True)))
    [message] = streamed(client, store=True).output
    named = {"type": "item_reference", "id": message.id}
    assert streamed(client, user(), named, user("So?"), store=True).output_text == "Done."


def test_open_reasoning_is_read_and_sent_back(double: Double, client: OpenAI) -> None:
    said = turn(open_thinking("Hm.", parts=2), call("read_file"))
    double.load(script(said, reply("Done."), endpoint=Endpoint(open_reasoning=True)))
    response = streamed(client)
    thought = response.output[0]
    assert isinstance(thought, ResponseReasoningItem)
    assert [part.text for part in thought.content or []] == ["Hm."]
    assert streamed(client, user(), *response.output, output()).output_text == "Done."


def test_a_refusal_and_a_text_are_parts_of_one_message(double: Double, client: OpenAI) -> None:
    double.load(script(turn(text("Well."), refusal("I cannot.", parts=2)), reply("Fine.")))
    response = streamed(client)
    [message] = response.output
    assert isinstance(message, ResponseOutputMessage)
    assert [part.type for part in message.content] == ["output_text", "refusal"]
    assert streamed(client, user(), message, user("So?")).output_text == "Fine."


KINDS: dict[str, Turn] = {
    "everything": turn(
        heartbeats(), thinking("a"), hidden_thinking(), open_thinking("b"), text("c"), heartbeats(), refusal("d"),
        call("read_file"),
    ),
    "limit": turn(text("Half"), limit()),
    "filter": turn(text("Half"), filtered()),
    "failed": turn(text("Half"), failed()),
    "error": turn(text("Half"), error()),
    "politely cut": turn(text("Half"), cut("end")),
    "bare": bare(heartbeats()),
}  # fmt: skip


@pytest.mark.parametrize("answer", KINDS.values(), ids=KINDS.keys())
def test_the_client_reads_every_kind_of_event(double: Double, client: OpenAI, answer: Turn) -> None:
    double.load(script(answer))
    seen = events(client)
    told = takewhile(lambda step: not isinstance(step, Cut), answer.steps)
    assert len(seen) == sum(isinstance(step, Event) for step in told)
    for event in seen:
        if str(getattr(event, "type", "")).startswith(("response.", "error")):
            cast("Any", type(event)).model_validate(event.to_dict())


@pytest.mark.parametrize("ending", [limit, filtered])
def test_an_answer_that_was_cut_says_why(double: Double, client: OpenAI, ending: Any) -> None:
    double.load(script(turn(text("Half"), call("read_file", '{"path":'), ending(counts(5, 16)))))
    end = events(client)[-1]
    assert end.type == "response.incomplete"
    assert end.response.incomplete_details.reason == ("max_output_tokens" if ending is limit else "content_filter")
    assert [item.status for item in end.response.output] == ["completed", "incomplete"]
    assert end.response.usage.output_tokens == 16


def test_an_error_in_the_stream_has_a_code(double: Double, client: OpenAI) -> None:
    double.load(script(turn(text("Half"), error("Overloaded", code="server_error")), turn(failed("Slow", code="x"))))
    end = events(client)[-1]
    assert (end.type, end.code, end.message, end.param) == ("error", "server_error", "Overloaded", None)
    end = events(client)[-1]
    assert (end.type, end.response.status, end.response.error.code) == ("response.failed", "failed", "x")


ERRORS: list[tuple[int, type[openai.APIStatusError]]] = [
    (400, openai.BadRequestError),
    (401, openai.AuthenticationError),
    (403, openai.PermissionDeniedError),
    (404, openai.NotFoundError),
    (429, openai.RateLimitError),
    (500, openai.InternalServerError),
    (503, openai.InternalServerError),
]


@pytest.mark.parametrize(("status", "kind"), ERRORS, ids=str)
def test_an_http_error_is_the_clients_exception(
    double: Double, client: OpenAI, status: int, kind: type[openai.APIStatusError]
) -> None:
    double.load(script(fails(status, "Not now", code="some_code", kind="some_type")))
    with pytest.raises(kind) as caught:
        streamed(client)
    assert (caught.value.code, caught.value.type, caught.value.request_id) == ("some_code", "some_type", "req_double")


def test_a_refused_request_is_the_clients_exception(double: Double, client: OpenAI) -> None:
    double.load(script(reply("Hi"), endpoint=Endpoint(key="sk-right", max_body_bytes=2000)))
    with pytest.raises(openai.AuthenticationError) as unknown:
        streamed(client)
    assert unknown.value.code == "invalid_api_key"
    with pytest.raises(openai.BadRequestError) as large:
        streamed(client.with_options(api_key="sk-right"), user("long " * 1000))
    assert (large.value.code, large.value.param) == ("context_length_exceeded", "input")
    with pytest.raises(openai.NotFoundError) as missing:
        streamed(client.with_options(api_key="sk-right"), model="other")
    assert missing.value.code == "model_not_found"
    assert streamed(client.with_options(api_key="sk-right"), tools=[TOOL]).output_text == "Hi"
    assert len(double.refusals()) == 3


def test_the_models_are_listed(double: Double, client: OpenAI) -> None:
    double.load(script(reply("Hi"), model="a"), script(reply("Hi"), model="b"))
    assert [model.id for model in client.models.list()] == ["a", "b"]
