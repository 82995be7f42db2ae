"""What a strict model refuses: a pure function of the request and of the endpoint's demands."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.gemini.contents import check_content
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.generation import check_generation
from tests.double.gemini.proto import Json
from tests.double.gemini.request import Target, bytes_of, contents_of, read, target_of
from tests.double.gemini.signature import check_signatures
from tests.double.gemini.tools import check_tools
from tests.double.gemini.turns import check_turns
from tests.double.gemini.wording import field
from tests.double.protocol import Asked
from tests.double.refusal import Refusal, as_object

ANONYMOUS = (
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form"
    " of API consumer identity to call this API."
)


def check(asked: Asked, endpoint: GeminiEndpoint) -> list[Refusal]:
    """Every reason to refuse this request; what cannot be read is not looked at further."""
    target, body = target_of(asked), read(asked.body, endpoint.extra_keys)
    found = [*check_call(asked, target, endpoint), *body.found]
    if not body.found:
        found += check_request(body.message, asked.body, model=target.model, endpoint=endpoint)
    return found


def check_call(asked: Asked, target: Target, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    key = asked.headers.get("x-goog-api-key")
    if "key" in target.query:
        yield Refusal("The key belongs into the header x-goog-api-key, not into the URL.", "key", "key_in_url")
    elif endpoint.key is not None and key is None:
        yield Refusal(ANONYMOUS, code="no_key", status=403)
    elif endpoint.key not in (None, key):
        yield Refusal("API key not valid. Please pass a valid API key.", code="API_KEY_INVALID")
    if target.query.get("alt") != ["sse"]:
        yield Refusal("Only streams of events are answered here: alt=sse.", "alt", "not_sse")
    kind, _, parameters = asked.headers.get("content-type", "").partition(";")
    if kind.strip().lower() != "application/json" or parameters.strip().lower() not in ("", "charset=utf-8"):
        yield Refusal(f"Unsupported content type: '{kind}'. Use 'application/json'.", code="content_type")
    if len(asked.body) > endpoint.max_payload_bytes:
        text = f"Request payload size exceeds the limit: {endpoint.max_payload_bytes} bytes."
        yield Refusal(text, code="payload_size")


def check_request(message: Json, body: bytes, *, model: str, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    contents = contents_of(message)
    if message.get("model", f"models/{model}") not in (model, f"models/{model}"):
        yield field("model", "must be the model of the path.", "other_model")
    for number, content in enumerate(contents):
        yield from check_content(f"contents[{number}]", content, model=model, endpoint=endpoint)
    if contents:
        yield from check_turns(contents, endpoint)
        yield from check_signatures(contents, bytes_of(body).contents, model=model, endpoint=endpoint)
    else:
        yield field("contents", "contents is not specified", "no_contents")
    yield from check_instruction(message, model=model, endpoint=endpoint)
    yield from check_tools(message, endpoint)
    yield from check_generation(message, endpoint)
    if endpoint.max_body_bytes is not None and len(body) > endpoint.max_body_bytes:
        text = f"The input token count ({len(body)}) exceeds the maximum number of tokens allowed"
        yield Refusal(f"{text} ({endpoint.max_body_bytes}).", "contents", "context_length")


def check_instruction(message: Json, *, model: str, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    instruction = as_object(message.get("system_instruction"))
    if instruction is None:
        return
    if not endpoint.system_instruction:
        text = f"Developer instruction is not enabled for models/{model}"
        yield Refusal(text, "system_instruction", "no_instruction")
    yield from check_content("system_instruction", instruction, model=model, endpoint=endpoint)
