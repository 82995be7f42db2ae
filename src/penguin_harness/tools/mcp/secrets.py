"""The credentials in a server's configuration: where they come from, and what must not be told of them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.mcp.config import McpServer
from penguin_harness.tools.redact import Redactor

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SENSITIVE = re.compile(r"auth|cookie|credential|key|pass|secret|token", re.IGNORECASE)
_KEY_IN_PATH = 16
"""Characters from which on a part of an address's path is taken for a key, as some services put it there."""


def filled_in(server: McpServer, variables: Mapping[str, str]) -> McpServer:
    """The server with every `${NAME}` replaced. Raises ToolFailed when there is no such variable."""

    def fill(text: str) -> str:
        return _VARIABLE.sub(value_of, text)

    def value_of(match: re.Match[str]) -> str:
        if match[1] not in variables:
            raise ToolFailed(f"there is no variable {match[1]}: put it into the vault or the environment")
        return variables[match[1]]

    return msgspec.structs.replace(
        server,
        args=tuple(map(fill, server.args)),
        env={name: fill(value) for name, value in server.env.items()},
        url=None if server.url is None else fill(server.url),
        headers={name: fill(value) for name, value in server.headers.items()},
    )


def credentials(server: McpServer) -> set[str]:
    """Values that are secret by the name that they stand under; the model must not see them even in an output."""
    named = [*server.env.items(), *server.headers.items(), *_query(server.url), *_options(server.args)]
    return {part for name, value in named if _SENSITIVE.search(name) for part in _parts(value)}


def confidential(server: McpServer, variables: Mapping[str, str]) -> set[str]:
    """All values that no error and no log may repeat, whatever they are."""
    values = [*server.env.values(), *server.headers.values(), *(value for _, value in _query(server.url))]
    texts = (*server.args, *server.env.values(), *server.headers.values(), server.url or "")
    values += [variables[name] for text in texts for name in _VARIABLE.findall(text) if name in variables]
    return {part for value in values for part in _parts(value)}.union(_places(server.url), credentials(server))


def _parts(value: str) -> Iterable[str]:
    """The whole of it, and what stands behind a scheme, as in `Bearer …`."""
    return {value, value.rpartition(" ")[2]}


def _options(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """`--name=value` and `--name value`."""
    for before, arg in pairwise(("", *args)):
        name, has_value, value = arg.partition("=")
        if has_value:
            yield name, value
        if before.startswith("-") and "=" not in before:
            yield before, arg


def _query(url: str | None) -> list[tuple[str, str]]:
    return parse_qsl(urlsplit(url).query) if url else []


def _places(url: str | None) -> Iterator[str]:
    if not url:
        return
    parts = urlsplit(url)
    if parts.password:
        yield from (parts.password, unquote(parts.password))
    yield from (part for part in parts.path.split("/") if len(part) >= _KEY_IN_PATH)


def target(server: McpServer) -> str:
    """Where it is, as anybody may read it."""
    place = server.url or shlex.join([server.command or "", *server.args])
    return Redactor(confidential(server, {})).redact(place)
