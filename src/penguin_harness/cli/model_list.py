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
from penguin_harness.cli.model_entry import HEAD, Entry, entries, rows
from penguin_harness.cli.model_options import BaseUrl, ClientType, KeyOnStdin
from penguin_harness.cli.options import Json
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


class Listed(Struct, frozen=True):
    """What the list says about a configured model; of its key, only the place."""

    provider: str
    model_id: str
    is_default: bool
    key: str
    base_url: str | None
    context_window: int | None
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

    Prices are US dollars per million tokens, public ones of the day that stands beside them.
    """
    config = load_config(agent_paths().config)
    if not remote and (base_url or client_type or api_key_stdin):
        raise ConfigError("--base-url, --client-type and --api-key-stdin go with --remote")
    if provider is None and remote:
        raise ConfigError("--remote needs --provider; any address is provider custom with --base-url")
    if provider is None:
        _list_configured(config, as_json=as_json)
    elif remote:
        return await _list_served(provider, config, base_url, client_type, api_key_stdin=api_key_stdin, as_json=as_json)
    else:
        preset_of(ModelRef(provider, ""))
        _print(entries(provider, config), as_json=as_json)
    return DONE
