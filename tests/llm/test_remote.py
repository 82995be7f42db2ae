"""The list of models of an endpoint: all its pages, in each vendor's way, and what goes wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.llm.failure import TransportError
from penguin_harness.llm.listing import Served
from penguin_harness.llm.remote import place_of, served_models
from tests.llm.routes import Gives, Routes, serving

KEY = "sk-test-1234567"


@pytest.fixture
def routes() -> Iterator[Routes]:
    with serving() as found:
        yield found


async def served(routes: Routes, client_type: str = "openai_chat", **options: Any) -> tuple[Served, ...]:
    reach: dict[str, Any] = {"base_url": f"{routes.url}/v1", "api_key": KEY, "environ": {}, **options}
    return await served_models(place_of("custom", client_type=client_type, **reach))


def named(*names: str) -> list[dict[str, Any]]:
    return [{"id": name} for name in names]


@pytest.mark.parametrize("client_type", ["openai_chat", "openai_responses"])
async def test_openais_list_with_the_windows_that_servers_add(routes: Routes, client_type: str) -> None:
    data = [
        {"id": "a", "object": "model", "created": 1, "owned_by": "x"},
        {"id": "b", "context_length": 1000, "pricing": {"prompt": "0"}},
        {"id": "c", "max_model_len": 2000},
        {"id": "d", "context_window": 3000, "max_completion_tokens": 300},
        {"id": "e", "max_context_length": 4000, "context_length": None},
    ]
    routes.answers["GET /v1/models"] = Gives({"object": "list", "data": data})
    assert await served(routes, client_type) == (
        Served("a"),
        Served("b", 1000),
        Served("c", 2000),
        Served("d", 3000, 300),
        Served("e", 4000),
    )
    [came] = routes.came
    assert came.headers["authorization"] == f"Bearer {KEY}"
    assert came.headers["accept"] == "application/json"
    assert "content-type" not in came.headers
    assert came.query == {}


async def test_a_bare_array_is_a_list_too(routes: Routes) -> None:
    routes.answers["GET /v1/models"] = Gives([{"id": "a", "context_length": 8}, {"id": "b"}])
    assert await served(routes) == (Served("a", 8), Served("b"))


async def test_all_pages_of_anthropics_list(routes: Routes) -> None:
    about = {"type": "model", "max_input_tokens": 200_000, "max_tokens": 64_000}
    pages = [
        Gives({"data": [{**about, "id": "a"}, {"id": "b", "max_tokens": None}], "has_more": True, "last_id": "b"}),
        Gives({"data": named("c"), "has_more": True, "last_id": "c"}),
        Gives({"data": named("d"), "has_more": False, "last_id": "d"}),
    ]
    routes.answers["GET /v1/models"] = pages
    found = await served(routes, "anthropic", base_url=routes.url)
    assert found == (Served("a", 200_000, 64_000), Served("b"), Served("c"), Served("d"))
    assert [came.query for came in routes.came] == [
        {"limit": "1000"},
        {"limit": "1000", "after_id": "b"},
        {"limit": "1000", "after_id": "c"},
    ]
    assert {(came.headers["x-api-key"], came.headers["anthropic-version"]) for came in routes.came} == {
        (KEY, "2023-06-01")
    }


async def test_all_pages_of_geminis_list_without_what_only_embeds(routes: Routes) -> None:
    limits = {"inputTokenLimit": 1_048_576, "outputTokenLimit": 65_536}
    generates = {"supportedGenerationMethods": ["generateContent", "countTokens"]}
    first = [
        {"name": "models/a", **limits, **generates},
        {"name": "models/e", "supportedGenerationMethods": ["embedContent"]},
    ]
    routes.answers["GET /v1beta/models"] = [
        Gives({"models": first, "nextPageToken": "t/+="}),
        Gives({"models": [{"name": "models/b"}]}),
    ]
    found = await served(routes, "gemini", base_url=routes.url)
    assert found == (Served("a", 1_048_576, 65_536), Served("b"))
    assert [came.query for came in routes.came] == [{"pageSize": "1000"}, {"pageSize": "1000", "pageToken": "t/+="}]
    assert {came.headers["x-goog-api-key"] for came in routes.came} == {KEY}


async def test_a_cut_list_of_openais_kind_goes_on(routes: Routes) -> None:
    routes.answers["GET /v1/models"] = [
        Gives({"data": named("a", "b"), "has_more": True}),
        Gives({"data": named("c"), "has_more": False}),
    ]
    assert [one.model_id for one in await served(routes)] == ["a", "b", "c"]
    assert routes.came[1].query == {"after": "b"}


async def test_a_list_that_begins_anew_ends(routes: Routes) -> None:
    routes.answers["GET /v1/models"] = Gives({"data": named("a"), "has_more": True, "last_id": "a"})
    assert await served(routes, "anthropic") == (Served("a"),)
    assert len(routes.came) == 2


@pytest.mark.parametrize(
    ("client_type", "base", "path"),
    [
        ("openai_chat", "/v1", "/v1/models"),
        ("openai_chat", "/v1/chat/completions", "/v1/models"),
        ("openai_responses", "/v1/responses/", "/v1/models"),
        ("anthropic", "", "/v1/models"),
        ("anthropic", "/proxy/v1/messages", "/proxy/v1/models"),
        ("gemini", "/proxy", "/proxy/v1beta/models"),
        ("gemini", "/v1", "/v1/models"),
    ],
)
async def test_the_list_stands_beside_the_call(routes: Routes, client_type: str, base: str, path: str) -> None:
    key = "models" if client_type == "gemini" else "data"
    routes.answers[f"GET {path}"] = Gives({key: []})
    assert await served(routes, client_type, base_url=f"{routes.url}{base}?api-version=1") == ()
    [came] = routes.came
    assert came.query.get("api-version") == (None if client_type == "gemini" else "1")


async def test_a_refusal_is_classified_and_does_not_show_the_key(routes: Routes) -> None:
    error = {"error": {"message": f"Incorrect API key provided: {KEY}."}}
    routes.answers["GET /v1/models"] = Gives(error, 401, {"x-request-id": "req_1"})
    with pytest.raises(TransportError) as caught:
        await served(routes)
    assert (caught.value.status, caught.value.code) == ("fatal", "auth")
    assert caught.value.message == "HTTP 401 (request id req_1): Incorrect API key provided: [redacted]."


async def test_a_redirect_is_not_followed(routes: Routes) -> None:
    routes.answers["GET /v1/models"] = Gives("", 307, {"Location": f"{routes.url}/elsewhere"})
    with pytest.raises(TransportError, match=f"redirects to {routes.url}/elsewhere"):
        await served(routes)
    assert [came.path for came in routes.came] == ["/v1/models"]


@pytest.mark.parametrize("body", ["<html></html>", {"data": [{"name": "a"}]}, {"models": []}, "[" * 5000, ""])
async def test_what_is_no_list_is_malformed(routes: Routes, body: Any) -> None:
    routes.answers["GET /v1/models"] = Gives(body)
    with pytest.raises(TransportError, match="no list of models") as caught:
        await served(routes)
    assert caught.value.code == "malformed"


async def test_an_answer_that_breaks_off_is_malformed(routes: Routes) -> None:
    routes.answers["GET /v1/models"] = Gives(
        {"data": named("a")}, headers={"Content-Length": "9999", "Connection": "close"}
    )
    with pytest.raises(TransportError, match="broke off"):
        await served(routes)


async def test_nobody_there_is_a_network_failure() -> None:
    with serving() as gone:
        pass
    with pytest.raises(TransportError, match=r"cannot connect to 127\.0\.0\.1") as caught:
        await served(gone)
    assert caught.value.code == "network"


def test_where_a_provider_is_asked() -> None:
    assert place_of("openai", api_key=KEY).list_url == "https://api.openai.com/v1/models"
    assert place_of("anthropic", api_key=KEY).list_url == "https://api.anthropic.com/v1/models"
    assert place_of("gemini", api_key=KEY).list_url == "https://generativelanguage.googleapis.com/v1beta/models"
    environ = {"OPENAI_API_KEY": KEY}
    assert place_of("openai", environ=environ).endpoint.api_key == KEY


@pytest.mark.parametrize(
    ("provider", "options", "said"),
    [
        ("nobody", {}, "unknown provider"),
        ("openai", {}, "no API key for provider 'openai'"),
        ("custom", {}, "pass --base-url"),
        ("custom", {"base_url": "ftp://x"}, "no base URL"),
        (
            "custom",
            {"base_url": "http://x", "client_type": "pigeon"},
            "openai_chat, openai_responses, anthropic, gemini",
        ),
    ],
)
def test_what_cannot_be_asked_names_the_way_out(provider: str, options: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        place_of(provider, environ={}, **options)
