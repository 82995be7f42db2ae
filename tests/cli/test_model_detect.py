"""`penguin model detect`, and what `penguin model add` does with it: which protocols an address speaks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from penguin_harness.state.config import Model, load_config
from tests.cli.process import Home
from tests.double.client import Double
from tests.llm.routes import Gives, Routes, serving
from tests.providers.dialects import ANTHROPIC, CHAT, DIALECTS, KEY, Dialect

NO_MODEL = "penguin-no-such-model"
SECRET = "sk-very-secret-0123456789"
CALLS = {
    "openai_chat": "POST /v1/chat/completions",
    "openai_responses": "POST /v1/responses",
    "anthropic": "POST /v1/messages",
    "gemini": f"POST /v1beta/models/{NO_MODEL}:streamGenerateContent",
}
OPENAI = {"error": {"message": f"The model `{NO_MODEL}` does not exist.", "type": "invalid_request_error"}}
REFUSALS: dict[str, Gives] = {
    "openai_chat": Gives(OPENAI, 404),
    "openai_responses": Gives(OPENAI, 400),
    "anthropic": Gives({"type": "error", "error": {"type": "not_found_error", "message": f"model: {NO_MODEL}"}}, 404),
    "gemini": Gives({"error": {"code": 404, "message": "No model.", "status": "NOT_FOUND"}}, 404),
}
KEY_WANTED = Gives({"error": {"message": "Missing API key.", "type": "invalid_request_error"}}, 401)


@pytest.fixture
def routes() -> Iterator[Routes]:
    with serving() as found:
        yield found


def speaking(routes: Routes, *client_types: str) -> None:
    routes.answers |= {CALLS[each]: REFUSALS[each] for each in client_types}


def findings(home: Home, *arguments: str, given: str = "") -> list[dict[str, Any]]:
    """As programs see them; those that speak are first."""
    done = home.penguin("model", "detect", *arguments, "--json", given=given)
    assert done.err == ""
    found = json.loads(done.out)
    assert len(found) == 4
    assert done.code == (0 if found[0]["proof"] in ("answers", "refuses") else 1)
    return found


def spoken(found: list[dict[str, Any]]) -> list[str]:
    return [one["client_type"] for one in found if one["proof"] in ("answers", "refuses")]


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.client_type)
def test_each_protocol_is_told_from_the_others(home: Home, double: Double, dialect: Dialect) -> None:
    double.load(dialect.script())
    base = double.base_url(dialect.client_type)
    done = home.penguin("model", "detect", base, "--api-key-stdin", given=f"{KEY}\n")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line[0] for line in lines if line[0] in "✓✗?"] == ["✓", "✗", "✗", "✗"]
    assert lines[0].split()[1:3] == [dialect.client_type, base]
    assert "lists 1 model" in lines[0]
    assert NO_MODEL in lines[1]
    assert f"next: penguin model add custom MODEL_ID --base-url {base} --client-type {dialect.client_type}" in done.out
    assert KEY not in done.out
    assert double.refusals()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.client_type)
def test_a_model_that_is_named_answers(home: Home, double: Double, dialect: Dialect) -> None:
    double.load(dialect.script(dialect.build.reply("pong")))
    base = double.base_url(dialect.client_type)
    found = findings(home, base, "--model-id", "test-model", "--api-key-stdin", given=f"{KEY}\n")
    assert (found[0]["client_type"], found[0]["proof"]) == (dialect.client_type, "answers")
    assert double.left() == 0
    assert double.refusals()


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.client_type)
def test_a_wrong_key_is_refused_in_the_protocols_words(home: Home, double: Double, dialect: Dialect) -> None:
    double.load(dialect.script())
    given = "sk-wrong-987654321"
    reach = (double.base_url(dialect.client_type), "--model-id", "test-model", "--api-key-stdin")
    done = home.penguin("model", "detect", *reach, given=f"{given}\n")
    assert done.code == 0
    assert done.out.splitlines()[0].split()[1] == dialect.client_type
    assert given not in done.out
    assert double.refusals()


@pytest.mark.parametrize(
    ("client_type", "given", "works"),
    [
        ("openai_chat", "", "/v1"),
        ("openai_chat", "/v1/chat/completions", "/v1"),
        ("openai_chat", "/v1/completions/", "/v1"),
        ("openai_chat", "/api", "/v1"),
        ("openai_responses", "", "/v1"),
        ("openai_responses", "/v1/models", "/v1"),
        ("anthropic", "", ""),
        ("anthropic", "/v1/messages", "/v1"),
        ("anthropic", "/api/tags", ""),
        ("gemini", "", ""),
        ("gemini", "/v1", "/v1beta"),
        ("gemini", "/v1beta/models", "/v1beta"),
    ],
)
def test_the_base_url_that_works_is_found(home: Home, routes: Routes, client_type: str, given: str, works: str) -> None:
    speaking(routes, client_type)
    found = findings(home, f"{routes.url}{given}")
    assert spoken(found) == [client_type]
    assert found[0]["base_url"] == f"{routes.url}{works}"


def test_an_address_that_speaks_several_lists_them_best_first(home: Home, routes: Routes) -> None:
    speaking(routes, "anthropic", "openai_responses", "openai_chat")
    routes.answers["GET /v1/models"] = Gives({"object": "list", "data": [{"id": "a"}, {"id": "b"}]})
    done = home.penguin("model", "detect", routes.url)
    named = [line.split()[1] for line in done.out.splitlines() if line[0] in "✓✗"]
    assert named == ["openai_chat", "openai_responses", "anthropic", "gemini"]
    assert "and lists 2 models" in done.out
    assert "openai_chat is first: most servers that speak several have had it the longest" in done.out
    assert f"--base-url {routes.url}/v1 --client-type openai_chat" in done.out


def test_what_answers_is_before_what_refuses(home: Home, routes: Routes) -> None:
    speaking(routes, "openai_chat", "openai_responses")
    event = {"type": "response.output_text.delta", "output_index": 0, "item_id": "i", "delta": "pong"}
    routes.answers[CALLS["openai_responses"]] = Gives(f"data: {json.dumps(event)}\n\n")
    assert spoken(findings(home, routes.url)) == ["openai_responses", "openai_chat"]
    assert "it has answered, the others have only refused" in home.penguin("model", "detect", routes.url).out


def test_a_door_that_says_the_same_of_every_path_proves_nothing(home: Home, routes: Routes) -> None:
    routes.otherwise = KEY_WANTED
    done = home.penguin("model", "detect", routes.url)
    assert (done.code, done.err) == (1, "")
    assert [line[0] for line in done.out.splitlines() if line[0] in "✓✗?"] == ["?", "?", "✗", "✗"]
    assert "--api-key-stdin" in done.out
    with_key = home.penguin("model", "detect", routes.url, "--api-key-stdin", given=f"{SECRET}\n")
    assert "--model-id" in with_key.out


def test_a_door_before_one_call_only_is_proof(home: Home, routes: Routes) -> None:
    routes.answers[CALLS["openai_responses"]] = KEY_WANTED
    assert spoken(findings(home, routes.url)) == ["openai_responses"]


def test_each_protocol_presents_the_key_its_own_way_and_no_key_is_shown(home: Home, routes: Routes) -> None:
    said = {"error": {"message": f"Wrong key {SECRET}."}}
    routes.otherwise = Gives(said, 401)
    done = home.penguin("model", "detect", routes.url, "--api-key-stdin", given=f"{SECRET}\n")
    assert SECRET not in done.out + done.err
    assert "Wrong key [redacted]." in done.out
    ways = [{name for name, value in came.headers.items() if SECRET in value} for came in routes.came]
    assert {name for way in ways for name in way} == {"authorization", "x-api-key", "x-goog-api-key"}
    assert all(len(way) == 1 for way in ways)


def test_a_redirect_is_told_and_not_followed(home: Home, routes: Routes) -> None:
    routes.otherwise = Gives("", 301, {"Location": "https://other.example/v1"})
    done = home.penguin("model", "detect", routes.url)
    assert done.code == 1
    assert "redirects to https://other.example/v1" in done.out


def test_nobody_there(home: Home) -> None:
    with serving() as gone:
        pass
    done = home.penguin("model", "detect", f"{gone.url}/api")
    assert (done.code, done.err) == (1, "")
    assert done.out.count("nothing answers there") == 4
    assert "cannot connect to 127.0.0.1" in done.out
    assert "check the address" in done.out


@pytest.mark.parametrize("wrong", ["", "localhost:8080", "ftp://x/v1", "http://", "http://me:pw@host/v1"])
def test_what_is_no_base_url_is_one_line_and_exit_code_2(home: Home, wrong: str) -> None:
    done = home.penguin("model", "detect", wrong)
    assert (done.code, done.out) == (2, "")
    assert "base URL" in done.err
    assert "pw" not in done.err
    assert done.err.count("\n") == 1


def stored(home: Home) -> Model | None:
    return load_config(home.data / "default_project/.project_config.toml").find("custom", "m")


def test_adding_an_address_says_which_protocol_is_assumed(home: Home) -> None:
    reach = ("custom", "m", "--base-url", "http://127.0.0.1:1/v1")
    assert "openai_chat is assumed; --detect asks" in home.penguin("model", "add", *reach).out
    assert "assumed" not in home.penguin("model", "add", *reach, "--client-type", "gemini").out
    assert "assumed" not in home.penguin("model", "add", "openai", "gpt-5").out


def test_adding_with_detect_stores_what_works(home: Home, double: Double) -> None:
    double.load(ANTHROPIC.script())
    given = f"{double.base_url('anthropic')}/v1/messages"
    reach = ("custom", "m", "--base-url", given, "--detect", "--api-key-stdin")
    done = home.penguin("model", "add", *reach, given=f"{KEY}\n")
    assert (done.code, done.err) == (0, "")
    works = given.removesuffix("/messages")
    assert f"it is reached at {works} by anthropic" in done.out
    assert stored(home) == Model("custom", "m", works, "anthropic", None, KEY)
    assert KEY not in done.out
    assert double.refusals()


def test_adding_with_detect_stores_nothing_where_nothing_is_spoken(home: Home, routes: Routes) -> None:
    done = home.penguin("model", "add", "custom", "m", "--base-url", routes.url, "--detect")
    assert (done.code, done.out) == (2, "")
    assert f"{routes.url} speaks no protocol of ours" in done.err
    assert f"penguin model detect {routes.url}" in done.err
    assert stored(home) is None


def test_a_protocol_that_is_named_is_not_asked_for(home: Home) -> None:
    reach = ("--base-url", "http://127.0.0.1:1", "--client-type", CHAT.client_type, "--detect")
    done = home.penguin("model", "add", "custom", "m", *reach)
    assert (done.code, done.out) == (2, "")
    assert "--detect asks for the client type: leave --client-type out" in done.err
