"""`penguin model list`: what the catalogue knows of a provider, and what its endpoint serves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cli.process import Home
from tests.double.client import Double
from tests.llm.routes import Gives, Routes, serving
from tests.providers.dialects import DIALECTS, KEY, Dialect

LIST = ("model", "list", "--provider")
SECRET = "sk-very-secret-0123456789"


@pytest.fixture
def routes() -> Iterator[Routes]:
    with serving() as found:
        yield found


def row(out: str, model_id: str) -> list[str]:
    """The mark of a model, the columns of its row, and the line below it."""
    lines = out.splitlines()
    at = next(number for number, line in enumerate(lines) if line[3:].startswith(f"{model_id} "))
    columns = [column.strip() for column in lines[at][3:].split("  ") if column.strip()]
    return [lines[at][:1], *columns, lines[at + 1].strip()]


def entry(listed: list[dict[str, Any]], model_id: str) -> dict[str, Any]:
    return next(one for one in listed if one["model_id"] == model_id)


def test_the_catalogue_says_window_limit_abilities_price_and_its_source(home: Home) -> None:
    home.penguin("model", "add", "openai", "gpt-5", "--default")
    home.penguin("model", "add", "openai", "gpt-99")
    done = home.penguin(*LIST, "openai")
    assert (done.code, done.err) == (0, "")
    mark, *columns = row(done.out, "gpt-5")
    assert mark == "*"
    assert columns[1:4] == ["400,000", "128,000", "yes"]
    assert columns[-1].startswith("$1.25 input, $0.125 from cache, $10.00 output; 20")
    assert ", https://" in columns[-1]
    assert row(done.out, "gpt-5.6-sol")[-1].startswith("price unknown; 20")
    assert row(done.out, "gpt-99")[0] == "+"
    assert row(done.out, "gpt-99")[1:] == ["gpt-99", "?", "?", "?", "?", "not in the catalogue, price unknown"]
    assert "above 272,000 tokens: $" in done.out
    assert "US dollars per million tokens" in done.out
    assert "at least $" in home.penguin(*LIST, "deepseek").out


def test_programs_get_all_of_it_exact_to_the_last_digit(home: Home) -> None:
    home.penguin("model", "add", "openai", "gpt-5")
    listed = json.loads(home.penguin(*LIST, "openai", "--json").out)
    known = entry(listed, "gpt-5")
    assert (known["configured"], known["is_default"], known["served"]) == (True, True, None)
    price = known["known"]["price"]
    assert (price["input"], price["cache_read"], price["output"]) == ("1.25", "0.125", "10.00")
    assert known["known"]["checked"]
    assert entry(listed, "gpt-5.6-sol")["known"]["price"] is None


def test_a_provider_of_which_nothing_is_described(home: Home) -> None:
    done = home.penguin(*LIST, "ollama")
    assert (done.code, done.err) == (0, "")
    assert "--remote" in done.out


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.client_type)
def test_what_an_endpoint_serves_in_each_protocol(home: Home, double: Double, dialect: Dialect) -> None:
    double.load(dialect.script(model="first"), dialect.script(model="second"))
    reach = ("--base-url", double.base_url(dialect.client_type), "--client-type", dialect.client_type)
    done = home.penguin(*LIST, "custom", "--remote", *reach, "--api-key-stdin", given=f"{KEY}\n")
    assert (done.code, done.err) == (0, "")
    assert all(row(done.out, name) for name in ("first", "second"))
    assert "2 models at " in done.out
    as_json = home.penguin(*LIST, "custom", "--remote", *reach, "--json", "--api-key-stdin", given=f"{KEY}\n")
    listed = json.loads(as_json.out)
    assert [(one["model_id"], one["served"], one["known"]) for one in listed] == [
        ("first", True, None),
        ("second", True, None),
    ]
    assert KEY not in done.out + as_json.out


def test_a_remote_list_is_marked_with_what_is_known_and_configured(home: Home, routes: Routes) -> None:
    data = [{"id": "gpt-5"}, {"id": "house-model", "context_length": 7000}]
    routes.answers["GET /v1/models"] = Gives({"data": data})
    added = home.penguin(
        *("model", "add", "openai", "gpt-4o", "--base-url", f"{routes.url}/v1", "--client-type", "openai_chat"),
        *("--api-key-stdin", "--default"),
        given=f"{SECRET}\n",
    )
    assert added.code == 0
    reach = ("--remote", "--base-url", f"{routes.url}/v1/")
    done = home.penguin(*LIST, "openai", *reach)
    assert (done.code, done.err) == (0, "")
    assert "$10.00 output" in row(done.out, "gpt-5")[-1]
    assert "7,000" in row(done.out, "house-model")
    assert "2 models at " in done.out
    assert "1 of them in the catalogue" in done.out
    assert "configured, and not in this list: gpt-4o" in done.out
    assert routes.came[0].headers["authorization"] == f"Bearer {SECRET}"
    listed = json.loads(home.penguin(*LIST, "openai", *reach, "--json").out)
    assert entry(listed, "gpt-4o")["served"] is False
    assert entry(listed, "house-model")["listed"] == {"model_id": "house-model", "context_window": 7000}


def test_a_stored_key_goes_to_its_own_address_only(home: Home, routes: Routes) -> None:
    routes.answers["GET /v1/models"] = Gives({"data": []})
    elsewhere = "http://127.0.0.1:1/v1"
    home.penguin("model", "add", "custom", "m", "--base-url", elsewhere, "--api-key-stdin", given=f"{SECRET}\n")
    assert home.penguin(*LIST, "custom", "--remote", "--base-url", f"{routes.url}/v1").code == 0
    assert "authorization" not in routes.came[0].headers
    assert home.penguin("model", "add", "custom", "n", "--base-url", f"{routes.url}/v1").code == 0
    several = home.penguin(*LIST, "custom", "--remote")
    assert several.code == 2
    assert f"configured at {elsewhere}, {routes.url}/v1: say with --base-url" in several.err


def test_the_address_protocol_and_key_of_a_configured_model_are_used(home: Home, routes: Routes) -> None:
    routes.answers["GET /v1/models"] = Gives({"data": [{"id": "m"}], "has_more": False})
    reach = ("--base-url", routes.url, "--client-type", "anthropic", "--api-key-stdin")
    home.penguin("model", "add", "custom", "m", *reach, given=f"{SECRET}\n")
    done = home.penguin(*LIST, "custom", "--remote")
    assert (done.code, row(done.out, "m")[0]) == (0, "*")
    assert routes.came[0].headers["x-api-key"] == SECRET


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (Gives({"error": {"message": f"No such key {SECRET}"}}, 401), "(auth): HTTP 401: No such key [redacted]"),
        (Gives("", 404), "(rejected): HTTP 404"),
        (Gives({"error": {"message": "Slow\ndown"}}, 429), "(network): HTTP 429: Slow down"),
        (Gives("", 308, {"Location": "https://other.example/v1"}), "redirects to https://other.example/v1"),
        (Gives("<html>"), "(malformed): this is no list of models"),
    ],
    ids=lambda value: "" if isinstance(value, str) else str(value.status),
)
def test_a_failure_says_what_and_why_in_one_line(home: Home, routes: Routes, gives: Gives, said: str) -> None:
    routes.answers["GET /v1/models"] = gives
    reach = ("--remote", "--base-url", f"{routes.url}/v1", "--api-key-stdin")
    done = home.penguin(*LIST, "custom", *reach, given=f"{SECRET}\n")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"penguin: {routes.url}/v1/models: ")
    assert said in done.err
    assert done.err.count("\n") == 1
    assert SECRET not in done.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--remote"], "--remote needs --provider"),
        (["--provider", "openai", "--base-url", "http://x"], "go with --remote"),
        (["--provider", "nobody"], "unknown provider 'nobody'"),
        (["--provider", "nobody", "--remote"], "unknown provider 'nobody'"),
        (["--provider", "custom", "--remote"], "pass --base-url"),
        (["--provider", "openai", "--remote"], "no API key for provider 'openai'"),
        (
            ["--provider", "custom", "--remote", "--base-url", "http://x", "--client-type", "pigeon"],
            "known are openai_chat, openai_responses, anthropic, gemini",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
)
def test_what_cannot_be_listed_is_one_line_and_exit_code_2(home: Home, arguments: list[str], said: str) -> None:
    done = home.penguin("model", "list", *arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "command",
    [
        ("run", "-m", "hi", "--provider", "custom", "--model-id", "m"),
        ("model", "add", "custom", "m"),
        ("model", "test", "custom", "m"),
    ],
    ids=" ".join,
)
def test_a_client_type_is_one_of_four_and_an_error_names_them(home: Home, command: tuple[str, ...]) -> None:
    for wrong in ("openai", "OPENAI_CHAT", "gemini "):
        done = home.penguin(*command, "--base-url", "http://127.0.0.1:1", "--client-type", wrong)
        assert (done.code, done.out) == (2, "")
        assert f"unknown client type {wrong!r}; known are openai_chat, openai_responses, anthropic, gemini" in (
            done.err.replace("'gemini'", repr(wrong))
        )
        assert done.err.count("\n") == 1


def test_chat_takes_no_other_client_type_either(home: Home) -> None:
    reach = ("--provider", "custom", "--model-id", "m", "--base-url", "http://127.0.0.1:1")
    with home.on_terminal("chat", *reach, "--client-type", "pigeon") as terminal:
        terminal.expect("unknown client type 'pigeon'; known are openai_chat")
        assert terminal.ended() == 2


@pytest.mark.parametrize("client_type", [dialect.client_type for dialect in DIALECTS])
def test_each_client_type_is_accepted(home: Home, client_type: str) -> None:
    reach = ("--base-url", "http://127.0.0.1:1", "--client-type", client_type)
    assert home.penguin("model", "add", "custom", "m", *reach).code == 0
    [listed] = json.loads(home.penguin("model", "list", "--json").out)
    assert listed["client_type"] == client_type
