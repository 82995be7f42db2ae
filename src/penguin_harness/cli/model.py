"""`penguin model`: which models the project knows, and where their keys come from."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from penguin_harness.cli.model_options import BaseUrl, ClientType, KeyOnStdin
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.errors import ConfigError
from penguin_harness.llm.catalog import Preset, presets
from penguin_harness.models import REPLAY, open_model
from penguin_harness.state.config import Default, Model, ProjectConfig, load_config, save_config
from penguin_harness.state.paths import agent_paths

app = App(name="model", help="Add, list, test and remove models.")
_HERE = "penguin_harness.cli"
app.command(f"{_HERE}.model_list:list_models", name="list", help="List the models, or what a provider serves.")
app.command(f"{_HERE}.model_probe:probe_model", name="test", help="Try a model: what of it works, step by step.")
app.command(f"{_HERE}.model_detect:detect_protocols", name="detect", help="Ask an address which protocols it speaks.")


@app.command
def add(
    provider: str,
    model_id: str,
    *,
    base_url: BaseUrl = None,
    context_window: Annotated[int | None, Parameter(help="Tokens that fit in a request and its answer.")] = None,
    client_type: ClientType = None,
    detect: Annotated[bool, Parameter(negative="", help="Ask the address which protocol it speaks.")] = False,
    api_key_stdin: KeyOnStdin = False,
    default: Annotated[bool, Parameter(negative="", help="Make it the model of sessions that name none.")] = False,
) -> None:
    """Add a model, or change one. On a terminal its key is asked for, and not shown."""
    if detect and client_type:
        raise ConfigError("--detect asks for the client type: leave --client-type out")
    path = agent_paths().config
    config = load_config(path)
    said = {"base_url": base_url, "client_type": client_type, "context_window": context_window}
    said["api_key"] = _key(provider, asked=api_key_stdin)
    known = config.find(provider, model_id) or Model(provider, model_id)
    model = msgspec.structs.replace(known, **{name: value for name, value in said.items() if value is not None})
    _require_usable(model)
    if detect:
        model = asyncio.run(_detected(model))
    config = config.add(model)
    if default:
        config = ProjectConfig(Default(provider, model_id), config.models)
    save_config(path, config)
    is_default = config.default == Default(provider, model_id)
    where = key_source(model)
    _say(f"{model.name} is stored{', and is the default' if is_default else ''}; key: {where}")
    if detect:
        _say(f"it is reached at {model.base_url} by {model.client_type}")
    elif model.client_type is None and (preset := presets()[provider]).base_url is None:
        _say(f"client type: {preset.client_type} is assumed; --detect asks, --client-type says it")


@app.command(name="default")
def set_default(provider: str, model_id: str) -> None:
    """Make a model the one of sessions that name none."""
    path = agent_paths().config
    config = load_config(path)
    _require_usable(config.find(provider, model_id) or Model(provider, model_id))
    save_config(path, ProjectConfig(Default(provider, model_id), config.models))
    _say(f"{provider} / {model_id} is the default")


@app.command
def remove(provider: str, model_id: str) -> None:
    """Remove a model and its key."""
    path = agent_paths().config
    config = load_config(path)
    if config.find(provider, model_id) is None:
        raise ConfigError(f"{provider} / {model_id} is not configured; see `penguin model list`")
    save_config(path, config.remove(provider, model_id))
    _say(f"{provider} / {model_id} is removed")


def key_source(model: Model) -> str:
    """Where the model's key comes from, in words."""
    preset = presets().get(model.provider)
    if model.api_key:
        return "stored"
    if preset is None or not preset.key_variables:
        return "none needed"
    if (found := _set_variable(preset)) is not None:
        return f"${found}"
    names = " or ".join(f"${name}" for name in preset.key_variables)
    return f"missing ({names})" if preset.key_required else "none"


def environment_key(provider: str) -> str | None:
    """The key that the environment holds for a provider."""
    preset = presets().get(provider)
    name = _set_variable(preset) if preset else None
    return os.environ[name].strip() if name else None


def _set_variable(preset: Preset) -> str | None:
    return next((name for name in preset.key_variables if os.environ.get(name, "").strip()), None)


def read_key() -> str:
    """The key on standard input. Raises ConfigError without one."""
    key = sys.stdin.readline().strip() if sys.stdin else ""
    if not key:
        raise ConfigError("--api-key-stdin: there is no key on standard input")
    return key


def _key(provider: str, *, asked: bool) -> str | None:
    """A key from standard input or a hidden prompt; never from the command line, which others can read."""
    if asked:
        return read_key()
    if provider == REPLAY or not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    import getpass  # only who is asked pays for it

    preset = presets().get(provider, Preset("", 0))
    instead = next((f"${name}" for name in preset.key_variables), "none")
    return getpass.getpass(f"API key for {provider} (empty: {instead}): ").strip() or None


async def _detected(model: Model) -> Model:
    """The model with the protocol and the base URL that work. Raises ConfigError when none does."""
    from penguin_harness.llm.detect import detect  # only who asks pays for HTTP

    address = model.base_url or presets()[model.provider].base_url or ""
    best = (await detect(address, api_key=model.api_key or environment_key(model.provider)))[0]
    if not best.speaks:
        raise ConfigError(f"{address} speaks no protocol of ours: {best.said}; see `penguin model detect {address}`")
    return msgspec.structs.replace(model, base_url=best.base_url, client_type=best.client_type)


def _require_usable(model: Model) -> None:
    """Raises ConfigError for what no session could open; a key may still be missing."""
    open_model(msgspec.structs.replace(model, api_key=model.api_key or "unset"))


def all_models(config: ProjectConfig) -> list[Model]:
    """The configured models, the default among them even when nothing else is stored of it."""
    default = config.default_model()
    return [*config.models, *([default] if default is not None and default not in config.models else [])]


def _say(text: str) -> None:
    sys.stdout.write(f"{one_line(text)}\n")
