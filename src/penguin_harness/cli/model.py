"""`penguin model`: which models the project knows, and where their keys come from."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import msgspec
from cyclopts import App, Parameter
from msgspec import Struct

from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.errors import ConfigError
from penguin_harness.llm.catalog import Preset, presets
from penguin_harness.models import REPLAY, open_model
from penguin_harness.state.config import Default, Model, ProjectConfig, load_config, save_config
from penguin_harness.state.paths import agent_paths

app = App(name="model", help="Add, list, test and remove models.")
app.command("penguin_harness.cli.model_probe:probe_model", name="test", help="Ask a model for a word.")


class Listed(Struct, frozen=True):
    """What the list says about a model; of its key, only the place."""

    provider: str
    model_id: str
    is_default: bool
    key: str
    base_url: str | None
    context_window: int | None
    client_type: str | None


@app.command
def add(
    provider: str,
    model_id: str,
    *,
    base_url: Annotated[str | None, Parameter(help="Where the provider is reached.")] = None,
    context_window: Annotated[int | None, Parameter(help="Tokens that fit in a request and its answer.")] = None,
    client_type: Annotated[str | None, Parameter(help="The wire protocol.")] = None,
    api_key_stdin: Annotated[bool, Parameter(negative="", help="Read the key from standard input.")] = False,
    default: Annotated[bool, Parameter(negative="", help="Make it the model of sessions that name none.")] = False,
) -> None:
    """Add a model, or change one. On a terminal its key is asked for, and not shown."""
    path = agent_paths().config
    config = load_config(path)
    known = config.find(provider, model_id)
    key = _key(provider, asked=api_key_stdin) or (known.api_key if known else None)
    model = Model(provider, model_id, base_url, client_type, context_window, key)
    _require_usable(model)
    config = config.add(model)
    if default:
        config = ProjectConfig(Default(provider, model_id), config.models)
    save_config(path, config)
    is_default = config.default == Default(provider, model_id)
    where = key_source(model)
    _say(f"{model.name} is stored{', and is the default' if is_default else ''}; key: {where}")


@app.command(name="list")
def list_models(*, as_json: Json = False) -> None:
    """List the models. Keys are never shown, only where they come from."""
    config = load_config(agent_paths().config)
    listed = [_listed(model, config) for model in all_models(config)]
    if as_json:
        sys.stdout.write(f"{msgspec.json.format(msgspec.json.encode(listed)).decode()}\n")
        return
    if not listed:
        _say(f"No models yet. Add one: penguin model add PROVIDER MODEL_ID, with a provider of {', '.join(presets())}.")
        return
    screen = screen_for(sys.stdout)
    head: list[Line] = [[Span(name, "dim")] for name in ("", "provider", "model", "window", "key", "address")]
    screen.lines(aligned([head, *map(_row, listed)], screen.width))
    screen.close()


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
    found = next((name for name in preset.key_variables if os.environ.get(name, "").strip()), None)
    if found:
        return f"${found}"
    names = " or ".join(f"${name}" for name in preset.key_variables)
    return f"missing ({names})" if preset.key_required else "none"


def _key(provider: str, *, asked: bool) -> str | None:
    """A key from standard input or a hidden prompt; never from the command line, which others can read."""
    if asked:
        key = sys.stdin.readline().strip() if sys.stdin else ""
        if not key:
            raise ConfigError("--api-key-stdin: there is no key on standard input")
        return key
    if provider == REPLAY or not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        return None
    import getpass  # only who is asked pays for it

    preset = presets().get(provider, Preset("", 0))
    instead = next((f"${name}" for name in preset.key_variables), "none")
    return getpass.getpass(f"API key for {provider} (empty: {instead}): ").strip() or None


def _require_usable(model: Model) -> None:
    """Raises ConfigError for what no session could open; a key may still be missing."""
    open_model(msgspec.structs.replace(model, api_key=model.api_key or "unset"))


def all_models(config: ProjectConfig) -> list[Model]:
    """The configured models, the default among them even when nothing else is stored of it."""
    default = config.default_model()
    return [*config.models, *([default] if default is not None and default not in config.models else [])]


def _listed(model: Model, config: ProjectConfig) -> Listed:
    preset = presets().get(model.provider)
    return Listed(
        model.provider,
        model.model_id,
        config.default == Default(model.provider, model.model_id),
        key_source(model),
        model.base_url or (preset.base_url if preset else None),
        model.context_window or (preset.window(model.model_id) if preset else None),
        model.client_type or (preset.client_type if preset else None),
    )


def _row(listed: Listed) -> list[Line]:
    missing = listed.key.startswith("missing")
    return [
        [Span("*" if listed.is_default else " ", "bold green")],
        [Span(one_line(listed.provider))],
        [Span(one_line(listed.model_id), "bold")],
        [Span(f"{listed.context_window:,}" if listed.context_window else "?", "dim")],
        [Span(listed.key, "red" if missing else "")],
        [Span(one_line(listed.base_url or ""), "dim")],
    ]


def _say(text: str) -> None:
    sys.stdout.write(f"{one_line(text)}\n")
