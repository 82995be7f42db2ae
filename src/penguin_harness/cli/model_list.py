"""`penguin model list`: the models of the project, of the catalogue, and of an endpoint's own list."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import msgspec
from cyclopts import Parameter
from msgspec import Struct

from penguin_harness.cli.console import DONE, FAILED, say
from penguin_harness.cli.explain import failure_text
from penguin_harness.cli.model import all_models, key_source, read_key
from penguin_harness.cli.model_entry import HEAD, Entry, about, entries, row
from penguin_harness.cli.model_options import BaseUrl, ClientType, KeyOnStdin
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Line, Span
from penguin_harness.cli.terminal.table import aligned
from penguin_harness.contracts import ModelRef
from penguin_harness.errors import ConfigError
from penguin_harness.llm.catalog import presets
from penguin_harness.llm.gateway import preset_of
from penguin_harness.state.config import Default, Model, ProjectConfig, load_config
from penguin_harness.state.paths import agent_paths

_INDENT = "     "
_PRICES = "prices are US dollars per million tokens, public ones of the day that stands behind them"


class Listed(Struct, frozen=True):
    """What the list says about a configured model; of its key, only the place."""

    provider: str
    model_id: str
    is_default: bool
    key: str
    base_url: str | None
    context_window: int | None
    client_type: str | None


class Reach(Struct, frozen=True):
    """Where and how a provider is asked."""

    base_url: str | None
    api_key: str | None
    client_type: str | None


async def list_models(
    *,
    provider: Annotated[str | None, Parameter(help="List what the catalogue knows of this provider's models.")] = None,
    remote: Annotated[bool, Parameter(negative="", help="Ask the provider which models it serves.")] = False,
    base_url: BaseUrl = None,
    client_type: ClientType = None,
    api_key_stdin: KeyOnStdin = False,
    as_json: Json = False,
) -> int:
    """List the models of the project, or of a provider. Keys are never shown, only where they come from.

    `*` marks the default model and `+` one that is configured.
    """
    config = load_config(agent_paths().config)
    if not remote and (base_url or client_type or api_key_stdin):
        raise ConfigError("--base-url, --client-type and --api-key-stdin go with --remote")
    if provider is None and remote:
        raise ConfigError("--remote needs --provider; any address is provider custom with --base-url")
    if provider is None:
        _list_configured(config, as_json=as_json)
    elif remote:
        given = Reach(base_url, read_key() if api_key_stdin else None, client_type)
        return await _list_served(provider, config, _reach(provider, config, given), as_json=as_json)
    else:
        preset_of(ModelRef(provider, ""))
        _print(entries(provider, config), as_json=as_json)
    return DONE


def _list_configured(config: ProjectConfig, *, as_json: bool) -> None:
    listed = [_listed(model, config) for model in all_models(config)]
    if as_json:
        _print_json(listed)
        return
    if not listed:
        names = ", ".join(presets())
        sys.stdout.write(f"No models yet. Add one: penguin model add PROVIDER MODEL_ID, with a provider of {names}.\n")
        return
    screen = screen_for(sys.stdout)
    head: list[Line] = [[Span(name, "dim")] for name in ("", "provider", "model", "window", "key", "address")]
    screen.lines(aligned([head, *map(_row, listed)], screen.width))
    screen.close()


async def _list_served(provider: str, config: ProjectConfig, reach: Reach, *, as_json: bool) -> int:
    from penguin_harness.llm.failure import TransportError  # only who asks pays for HTTP
    from penguin_harness.llm.remote import place_of, served_models

    place = place_of(provider, base_url=reach.base_url, api_key=reach.api_key, client_type=reach.client_type)
    try:
        served = await served_models(place)
    except TransportError as failure:
        say(f"{place.list_url}: {failure_text(failure.code, failure.message)}")
        return FAILED
    found = entries(provider, config, served)
    known = sum(entry.known is not None for entry in found if entry.served)
    notes = [f"{_counted(len(served))} at {place.list_url}, {known} of them in the catalogue"]
    notes += [f"configured, and not in this list: {entry.model_id}" for entry in found if not entry.served]
    _print(found, notes, as_json=as_json)
    return DONE


def _reach(provider: str, config: ProjectConfig, given: Reach) -> Reach:
    """Where the provider is asked: as given, else as its models are configured; a key goes to its own address only."""
    own = preset_of(ModelRef(provider, "")).base_url
    models = [model for model in all_models(config) if model.provider == provider]
    places = list(dict.fromkeys(address for model in models if (address := model.base_url or own)))
    if given.base_url is None and len(places) > 1 and own is None:
        raise ConfigError(f"{provider} is configured at {', '.join(places)}: say with --base-url which one to ask")
    address = given.base_url or own or (places[0] if places else None)
    there = [model for model in models if address and (model.base_url or own or "").rstrip("/") == address.rstrip("/")]
    key = given.api_key or next((model.api_key for model in there if model.api_key), None)
    client_type = given.client_type or next((model.client_type for model in there if model.client_type), None)
    return Reach(address, key, client_type)


def _print(found: Sequence[Entry], notes: Sequence[str] = (), *, as_json: bool) -> None:
    if as_json:
        _print_json(found)
        return
    if not found and not notes:
        sys.stdout.write("The catalogue describes no model of this provider; --remote asks for what it serves.\n")
        return
    screen = screen_for(sys.stdout)
    shown = [entry for entry in found if entry.served is not False]
    heading: list[Line] = [[Span(name, "dim")] for name in HEAD]
    head, *lines = aligned([heading, *map(row, shown)], screen.width)
    screen.lines([head] if lines else [])
    for entry, line in zip(shown, lines, strict=True):
        screen.lines([line])
        for text in about(entry):
            put_line(screen, [Span(f"{_INDENT}{one_line(text)}", "dim")], margin=len(_INDENT))
    if lines:
        screen.gap()
        notes = [*notes, _PRICES]
    for note in notes:
        put_line(screen, [Span(one_line(note))])
    screen.close()


def _print_json(values: Sequence[Struct]) -> None:
    encoded = msgspec.json.encode(msgspec.to_builtins(values, enc_hook=str))
    sys.stdout.write(f"{msgspec.json.format(encoded).decode()}\n")


def _counted(number: int) -> str:
    return f"{number:,} model{'' if number == 1 else 's'}"


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
