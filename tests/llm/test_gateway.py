"""A model's name becomes a model, or an error that names the way out."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import msgspec
import pytest

from penguin_harness.contracts import Model, ModelRef, Request
from penguin_harness.errors import ConfigError
from penguin_harness.llm import create_model, key_variables
from penguin_harness.llm.adapter import Adapter
from penguin_harness.llm.catalog import presets
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.omnimessage import Text
from tests.llm.conftest import ModelFactory
from tests.llm.server import RawServer, answer

REF = ModelRef("custom", "m")


def make(provider: str, model_id: str = "m", **options: Any) -> Model:
    return create_model(ModelRef(provider, model_id), environ=options.pop("environ", {}), **options)


@pytest.mark.parametrize("provider", presets())
def test_every_preset_makes_a_model(provider: str) -> None:
    model = make(provider, api_key="sk-1234567", base_url="http://127.0.0.1:1/v1")
    assert isinstance(model, Adapter)
    assert model.ref == ModelRef(provider, "m")
    assert model.context_window == presets()[provider].context_window


def test_windows_of_well_known_models_and_of_the_callers_choice() -> None:
    assert make("openai", "gpt-5", api_key="k").context_window == 400_000
    assert make("openai", "gpt-5", api_key="k", context_window=1000).context_window == 1000


async def test_the_first_key_that_is_set_is_used(server: RawServer, model_at: ModelFactory) -> None:
    environ = {"CUSTOM_API_KEY": " from-environ\n"}
    cases: list[dict[str, Any]] = [{"api_key": "given"}, {"api_key": " "}, {"environ": {}}]
    for options in cases:
        server.answers(*answer("ok"))
        async for _ in model_at(**{"environ": environ, **options}).stream(Request("", [Text("user", "hi")])):
            pass
    keys = [line for request in server.requests for line in request.head.splitlines() if "Authorization" in line]
    assert keys == ["Authorization: Bearer given", "Authorization: Bearer from-environ"]


@pytest.mark.parametrize(
    ("provider", "options", "parts"),
    [
        (
            "opena1",
            {},
            ["'opena1'", ", ".join(presets()), "'custom' with its base URL"],
        ),
        ("openai", {}, ["'openai'", "OPENAI_API_KEY", "`penguin model add`"]),
        ("openai", {"api_key": "  "}, ["OPENAI_API_KEY"]),
        ("custom", {}, ["'custom'", "base URL"]),
        ("ollama", {"client_type": "grpc"}, ["'grpc'", "openai_chat"]),
        ("custom", {"base_url": "api.example.com/v1"}, ["'api.example.com/v1'", "https://"]),
        ("custom", {"base_url": "ftp://a/v1"}, ["'ftp://a/v1'"]),
        ("custom", {"base_url": "http://"}, ["'http://'"]),
        ("custom", {"base_url": "http://a:port/v1"}, ["'http://a:port/v1'"]),
        ("custom", {"base_url": "http://[::1/v1"}, ["'http://[::1/v1'"]),
        ("ollama", {"api_key": "sk-\nx"}, ["'ollama'", "characters"]),
        ("ollama", {"api_key": "clé"}, ["'ollama'", "characters"]),
    ],
)
def test_errors_name_the_value_and_the_way_out(provider: str, options: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(ConfigError) as raised:
        make(provider, **options)
    assert [part for part in parts if part not in str(raised.value)] == []


def test_b171_no_secret_is_in_a_configuration_error_or_a_repr() -> None:
    for options in ({"base_url": "http://me:sk-secret@a/v1"}, {"base_url": "http://a", "api_key": "sk-secret\x00"}):
        with pytest.raises(ConfigError) as raised:
            make("custom", **options)
        assert "sk-secret" not in str(raised.value)
    assert "sk-secret" not in repr(Endpoint(REF, "http://a", 1, "sk-secret"))


@pytest.mark.parametrize(
    ("base_url", "url"),
    [
        ("http://a/v1", "http://a/v1/chat/completions"),
        ("http://a/v1/", "http://a/v1/chat/completions"),
        ("http://a", "http://a/chat/completions"),
        ("http://a/v1/chat/completions", "http://a/v1/chat/completions"),
        ("https://a/x?api-version=1#top", "https://a/x/chat/completions?api-version=1"),
    ],
)
def test_addresses(base_url: str, url: str) -> None:
    assert Endpoint(REF, base_url, 1).url("chat/completions") == url


def test_the_field_for_the_output_limit_fits_the_provider() -> None:
    request = Request("", [Text("user", "hi")], max_output_tokens=5)
    for provider, field in (("openai", "max_completion_tokens"), ("ollama", "max_tokens")):
        model = make(provider, api_key="sk-1234567", client_type="openai_chat")
        assert isinstance(model, Adapter)
        assert msgspec.json.decode(model.body(request))[field] == 5


def test_key_variables_are_all_that_may_hold_a_key() -> None:
    assert key_variables() >= {"OPENAI_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY", "CUSTOM_API_KEY"}


def test_importing_the_gateway_does_not_import_http() -> None:
    code = "import sys, penguin_harness.llm; print('aiohttp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
