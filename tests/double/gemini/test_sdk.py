"""The vendor's own client talks to the double."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from google import genai
from google.genai import errors, types

from tests.double.client import Double
from tests.double.gemini.build import (
    blocked,
    call,
    counts,
    error,
    fails,
    finish,
    heartbeats,
    limit,
    malformed,
    refusal,
    reply,
    script,
    text,
    thinking,
    turn,
)
from tests.double.gemini.conversation import DECLARATION, PNG
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.script import Comment, Step, Turn
from tests.double.steps import MODEL, between

KEY = "a-key"
TOOL = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="read_file",
            description="Read.",
            parameters_json_schema=DECLARATION["parametersJsonSchema"],
        )
    ]
)
CONFIG = types.GenerateContentConfig(
    system_instruction="Be brief.",
    tools=[TOOL],
    max_output_tokens=1000,
    thinking_config=types.ThinkingConfig(include_thoughts=True, thinking_level=types.ThinkingLevel.LOW),
    automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
)


@pytest.fixture
def client(double: Double) -> Iterator[genai.Client]:
    """The vendor's client, without retries."""
    options = types.HttpOptions(
        base_url=double.base_url("gemini").removesuffix("/v1beta"),
        api_version="v1beta",
        retry_options=types.HttpRetryOptions(attempts=1),
    )
    with genai.Client(api_key=KEY, http_options=options) as made:
        yield made


def load(double: Double, *turns: Turn) -> None:
    double.load(script(*turns, endpoint=GeminiEndpoint(key=KEY)))


def streamed(client: genai.Client, *contents: types.Content) -> list[types.GenerateContentResponse]:
    models: Any = client.models
    return list(models.generate_content_stream(model=MODEL, contents=[*contents], config=CONFIG))


def parts_of(chunks: list[types.GenerateContentResponse]) -> list[types.Part]:
    candidates = [candidate for chunk in chunks for candidate in chunk.candidates or ()]
    return [part for one in candidates if one.content is not None for part in one.content.parts or ()]


def user(words: str) -> types.Content:
    return types.UserContent(parts=[types.Part.from_text(text=words)])


def given_back(chunks: list[types.GenerateContentResponse]) -> types.Content:
    """The answer as the client's own history keeps it: every part that holds something."""
    parts = [part for part in parts_of(chunks) if part.text != "" or part.thought_signature is not None]
    return types.ModelContent(parts=list(parts))


def test_text_thoughts_and_usage_arrive(double: Double, client: genai.Client) -> None:
    load(
        double, turn(thinking("Hm.", parts=2), text("Hello", parts=3), tokens=counts(100, 30, cached=40, reasoning=20))
    )
    chunks = streamed(client, user("Hi"))
    assert "".join(part.text or "" for part in parts_of(chunks) if part.thought) == "Hm."
    assert "".join(part.text or "" for part in parts_of(chunks) if not part.thought) == "Hello"
    usage = chunks[-1].usage_metadata
    assert usage is not None
    assert (usage.prompt_token_count, usage.cached_content_token_count) == (100, 40)
    assert (usage.candidates_token_count, usage.thoughts_token_count, usage.total_token_count) == (10, 20, 130)
    assert (chunks[-1].model_version, chunks[-1].response_id) == (MODEL, "response-0")


def test_a_call_and_its_result_go_round(double: Double, client: genai.Client) -> None:
    load(
        double,
        turn(thinking("Hm."), text("I look."), call("read_file", {"path": "a"}), call("read_file", id="call_2")),
        turn(text("Done.")),
        reply("You are welcome."),
    )
    history = [user("Look")]
    chunks = streamed(client, *history)
    calls = [made for part in parts_of(chunks) if (made := part.function_call) is not None]
    assert [(made.id, made.name, made.args) for made in calls] == [
        ("call_1", "read_file", {"path": "a"}),
        ("call_2", "read_file", {}),
    ]
    responses = [types.FunctionResponse(id=made.id, name=made.name, response={"output": "x"}) for made in calls]
    history += [given_back(chunks), types.UserContent(parts=[types.Part(function_response=one) for one in responses])]
    history += [given_back(streamed(client, *history)), user("Thanks")]
    assert "".join(part.text or "" for part in parts_of(streamed(client, *history))) == "You are welcome."


def test_a_chat_of_the_client_goes_on(double: Double, client: genai.Client) -> None:
    load(double, turn(thinking("Hm."), text("One", parts=2)), reply("Two"))
    chat: Any = client.chats.create(model=MODEL, config=CONFIG)
    for words, expected in (("First", "One"), ("Second", "Two")):
        answer = [chunk.text or "" for chunk in chat.send_message_stream(words)]
        assert "".join(answer) == expected


def test_an_image_passes(double: Double, client: genai.Client) -> None:
    load(double, reply("A dot."))
    picture = types.Part.from_bytes(data=base64.b64decode(PNG), mime_type="image/png")
    assert parts_of(streamed(client, types.UserContent(parts=[picture])))[0].text == "A dot."


ENDINGS: list[tuple[list[Step], types.FinishReason]] = [
    (limit(), types.FinishReason.MAX_TOKENS),
    (refusal("No"), types.FinishReason.SAFETY),
    (malformed(), types.FinishReason.MALFORMED_FUNCTION_CALL),
    *(
        (finish(reason.value), reason)
        for reason in (
            types.FinishReason.RECITATION,
            types.FinishReason.UNEXPECTED_TOOL_CALL,
            types.FinishReason.PROHIBITED_CONTENT,
            types.FinishReason.BLOCKLIST,
            types.FinishReason.SPII,
            types.FinishReason.OTHER,
            types.FinishReason.LANGUAGE,
            types.FinishReason.MISSING_THOUGHT_SIGNATURE,
        )
    ),
]


@pytest.mark.parametrize(("ending", "reason"), ENDINGS, ids=str)
def test_every_ending_is_understood(
    double: Double, client: genai.Client, ending: list[Step], reason: types.FinishReason
) -> None:
    load(double, turn(text("So"), ending))
    candidates = streamed(client, user("Hi"))[-1].candidates
    assert candidates is not None
    assert candidates[0].finish_reason == reason


def test_a_blocked_prompt_is_understood(double: Double, client: genai.Client) -> None:
    load(double, turn(blocked()))
    [chunk] = streamed(client, user("Hi"))
    assert chunk.prompt_feedback is not None
    assert chunk.prompt_feedback.block_reason == types.BlockedReason.PROHIBITED_CONTENT


def test_heartbeats_disturb_nothing(double: Double, client: genai.Client) -> None:
    beats = [step for step in heartbeats() if not isinstance(step, Comment)]  # this client cannot read comments
    load(double, turn(between(text("Hello", parts=3), beats)))
    assert "".join(part.text or "" for part in parts_of(streamed(client, user("Hi")))) == "Hello"


FAILURES: list[tuple[Turn, type[errors.APIError], str]] = [
    (fails(429, "Slow down", retry=17), errors.ClientError, "RESOURCE_EXHAUSTED"),
    (fails(403, "No"), errors.ClientError, "PERMISSION_DENIED"),
    (fails(503, "Overloaded"), errors.ServerError, "UNAVAILABLE"),
    (fails(500), errors.ServerError, "INTERNAL"),
]


@pytest.mark.parametrize(("one", "kind", "status"), FAILURES, ids=str)
def test_an_error_raises_its_class(
    double: Double, client: genai.Client, one: Turn, kind: type[errors.APIError], status: str
) -> None:
    load(double, one)
    with pytest.raises(kind) as raised:
        streamed(client, user("Hi"))
    assert raised.value.status == status


def test_a_refusal_raises_with_the_vendors_words(double: Double, client: genai.Client) -> None:
    load(double, reply("Hi"))
    picture = types.Part.from_bytes(data=b"GIF89a", mime_type="image/gif")
    with pytest.raises(errors.ClientError, match="Unsupported MIME type: image/gif"):
        streamed(client, types.UserContent(parts=[picture]))
    assert [refused.code for refused in double.refusals()] == ["unsupported_mime_type"]


def test_an_error_in_the_stream_raises(double: Double, client: genai.Client) -> None:
    load(double, turn(text("So"), error("Overloaded", code=503)))
    with pytest.raises(errors.ServerError, match="Overloaded"):
        streamed(client, user("Hi"))


def test_the_models_are_listed(double: Double, client: genai.Client) -> None:
    load(double, reply("Hi"))
    [model] = client.models.list(config={"page_size": 10})
    assert (model.name, model.input_token_limit, model.output_token_limit) == (f"models/{MODEL}", 1_048_576, 65_536)
    assert "generateContent" in (model.supported_actions or ())
