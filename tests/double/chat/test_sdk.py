"""The vendor's own SDK talks to the double: what the builders write is what the vendor sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from openai import APIError, AuthenticationError, BadRequestError, NotFoundError, OpenAI, RateLimitError
from openai.types.chat import ChatCompletionChunk, ChatCompletionMessage, ParsedChatCompletion

from tests.double.chat.build import (
    MODEL,
    Endpoint,
    call,
    counts,
    error,
    fails,
    heartbeats,
    limit,
    refusal,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.chat.conversation import TOOL, Json, output, user
from tests.double.client import Double
from tests.double.steps import between, comment

KEY = "sk-test-123456"


@pytest.fixture
def sdk(double: Double) -> Iterator[OpenAI]:
    with OpenAI(api_key=KEY, base_url=double.base_url("openai_chat"), max_retries=0) as client:
        yield client


def answer(sdk: OpenAI, *messages: Any) -> ParsedChatCompletion[None]:
    """The whole answer, put together by the SDK."""
    said: list[Any] = list(messages or (user(),))
    tools: list[Any] = [TOOL]
    with sdk.chat.completions.stream(
        model=MODEL, messages=said, tools=tools, stream_options={"include_usage": True}
    ) as stream:
        return stream.until_done().get_final_completion()


def chunks(sdk: OpenAI) -> list[ChatCompletionChunk]:
    """The answer as the SDK reads it, chunk by chunk."""
    said: Any = user()
    return list(
        sdk.chat.completions.create(model=MODEL, messages=[said], stream=True, stream_options={"include_usage": True})
    )


def test_text_and_usage(double: Double, sdk: OpenAI) -> None:
    double.load(script(turn(text("Hello, 🐧!", parts=4), tokens=counts(100, 10, cached=60, reasoning=4))))
    whole = answer(sdk)
    assert (whole.choices[0].message.content, whole.choices[0].finish_reason) == ("Hello, 🐧!", "stop")
    assert (whole.id, whole.model) == ("chatcmpl-0", MODEL)
    usage = whole.usage
    assert usage is not None
    assert usage.prompt_tokens_details is not None
    assert usage.completion_tokens_details is not None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (100, 10, 110)
    assert (usage.prompt_tokens_details.cached_tokens, usage.completion_tokens_details.reasoning_tokens) == (60, 4)


def test_a_tool_call_and_its_result_go_round(double: Double, sdk: OpenAI) -> None:
    endpoint = Endpoint(key=KEY, reasoning_fields=("reasoning_content",))
    calls = [*call("read_file", {"path": "é"}, parts=5), *call("read_file", {"path": "b"}, id="call_2", index=1)]
    double.load(script(turn(thinking("Hm."), text("I look."), calls), reply("Done."), endpoint=endpoint))
    first = answer(sdk, user()).choices[0]
    assert first.finish_reason == "tool_calls"
    named = [(one.id, one.function.name, one.function.arguments) for one in first.message.tool_calls or ()]
    assert named == [("call_1", "read_file", '{"path": "é"}'), ("call_2", "read_file", '{"path": "b"}')]
    back = sent_back(first.message)
    second = answer(sdk, user(), back, output("call_2"), output("call_1"))
    assert second.choices[0].message.content == "Done."
    assert double.refusals() == []


def sent_back(message: ChatCompletionMessage) -> Json:
    """The message as the SDK writes it, without what only its parser put there."""
    said = message.model_dump(exclude_none=True, warnings="error")
    for one in said["tool_calls"]:
        one.pop("index", None)
        one["function"].pop("parsed_arguments", None)
    said.pop("parsed", None)
    return said


def test_reasoning_arrives_under_its_field(double: Double, sdk: OpenAI) -> None:
    double.load(script(turn(thinking("Hm, hm.", field="reasoning", parts=3), text("Yes."))))
    message = answer(sdk).choices[0].message
    assert ((message.model_extra or {})["reasoning"], message.content) == ("Hm, hm.", "Yes.")


def test_a_refusal_of_the_model(double: Double, sdk: OpenAI) -> None:
    double.load(script(turn(refusal("I cannot.", parts=2))))
    assert answer(sdk).choices[0].message.refusal == "I cannot."


def test_the_output_limit_cuts(double: Double, sdk: OpenAI) -> None:
    double.load(script(turn(text("Once upon"), limit(counts(5, 2)))))
    *said, last = chunks(sdk)
    assert [chunk.choices[0].finish_reason for chunk in said] == [None, None, "length"]
    assert last.usage is not None
    assert (last.choices, last.usage.total_tokens) == ([], 7)


def test_the_models_that_have_scripts_are_listed(double: Double, sdk: OpenAI) -> None:
    assert list(sdk.models.list()) == []
    double.load(script(model="B"), script(model="A"), script(model="A", where="child"))
    assert [(model.id, model.object) for model in sdk.models.list()] == [("B", "model"), ("A", "model")]


def test_errors_are_raised_as_what_they_are(double: Double, sdk: OpenAI) -> None:
    double.load(script(fails(429, "Slow down", code="rate_limit_exceeded", kind="requests"), reply("Hi")))
    with pytest.raises(RateLimitError, match="Slow down") as limited:
        answer(sdk)
    assert (limited.value.code, limited.value.type) == ("rate_limit_exceeded", "requests")
    with pytest.raises(BadRequestError, match="visible character") as refused:
        answer(sdk, user(" "))
    assert (refused.value.code, refused.value.param) == ("blank_text", "messages[0].content")
    with pytest.raises(NotFoundError) as lost:
        sdk.models.retrieve("nowhere")
    assert lost.value.code == "unknown_url"
    double.load(script(endpoint=Endpoint(key="sk-test-other-key")))
    with pytest.raises(AuthenticationError):
        answer(sdk)
    assert len(double.refusals()) == 3


def test_an_error_inside_the_stream_is_raised(double: Double, sdk: OpenAI) -> None:
    double.load(script(turn(text("half"), error("Overloaded", code="overloaded"))))
    with pytest.raises(APIError, match="Overloaded") as raised:
        answer(sdk)
    assert raised.value.code == "overloaded"


def test_heartbeats_do_not_disturb_the_sdks_reader(double: Double, sdk: OpenAI) -> None:
    double.load(script(turn(between(text("Hello", parts=5), *heartbeats()), comment())))
    choices = [choice for chunk in chunks(sdk) for choice in chunk.choices or ()]
    assert "".join(choice.delta.content or "" for choice in choices) == "Hello"
