"""What a strict endpoint refuses: a pure function of the request, of the endpoint's demands and of what was said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tests.double import strict_json
from tests.double.protocol import Answer, Asked
from tests.double.refusal import Refusal, as_list, as_object, wrong_type
from tests.double.responses.endpoint import ResponsesEndpoint
from tests.double.responses.history import items_of
from tests.double.responses.items import check_items
from tests.double.responses.order import check_order
from tests.double.responses.parameters import check_parameters
from tests.double.responses.prefix import check_prefix
from tests.double.responses.replay import check_replay
from tests.double.responses.seal import check_seals
from tests.double.responses.storage import brought, check_named, kept_items
from tests.double.responses.tools import check_tools
from tests.double.responses.wording import empty


def check(asked: Asked, endpoint: ResponsesEndpoint, past: Sequence[Answer] = ()) -> list[Refusal]:
    """Every reason to refuse this request; what was said before counts once the request itself is right."""
    found = list(check_headers(asked.headers, endpoint))
    try:
        body = as_object(strict_json.loads(asked.body))
    except ValueError as error:
        return [*found, Refusal(f"We could not parse the JSON body of your request. ({error})", code="invalid_json")]
    if body is None:
        return [*found, Refusal("The body of your request must be a JSON object.", code="invalid_json")]
    kept = kept_items(past, endpoint)
    items = brought(items_of(body), kept)
    found += check_size(asked.body, endpoint)
    found += check_parameters(body, endpoint)
    found += check_input(body, endpoint)
    found += check_tools(body)
    found += check_named(items, kept)
    found += check_order(items)
    if found:
        return found
    found += check_seals(asked.body, items, endpoint)
    if past:
        found += check_prefix(past[-1].asked.body, asked.body, endpoint)
    return found + list(check_replay(items, past, endpoint))


def check_headers(headers: Mapping[str, str], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    given = headers.get("authorization", "")
    if endpoint.key is not None and given != f"Bearer {endpoint.key}":
        yield wrong_key(given)
    kind, _, parameters = headers.get("content-type", "").partition(";")
    if kind.strip().lower() != "application/json" or parameters.strip().lower() not in ("", "charset=utf-8"):
        text = f"Unsupported content type: '{kind}'. This API method only accepts 'application/json' requests."
        yield Refusal(text, code="unsupported_content_type")


def wrong_key(authorization: str) -> Refusal:
    scheme, _, key = authorization.partition(" ")
    if scheme != "Bearer" or not key:
        return Refusal("Missing bearer authentication in header", status=401)
    shown = f"{key[:8]}{'*' * max(1, len(key) - 12)}{key[-4:]}"
    return Refusal(f"Incorrect API key provided: {shown}.", code="invalid_api_key", status=401)


def check_size(body: bytes, endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    if endpoint.max_body_bytes is not None and len(body) > endpoint.max_body_bytes:
        text = "Your input exceeds the context window of this model. Please adjust your input and try again."
        yield Refusal(text, "input", "context_length_exceeded")


def check_input(body: dict[str, object], endpoint: ResponsesEndpoint) -> Iterator[Refusal]:
    given = body.get("input")
    if given is None:
        text = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided."
        yield Refusal(text, "input", "missing_required_parameter")
    elif not isinstance(given, str) and as_list(given) is None:
        yield wrong_type("input", "one of an array of input items or a string", given)
    elif given == []:
        yield empty("input")
    yield from check_items(items_of(body), endpoint)
