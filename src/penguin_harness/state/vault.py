"""The vault of an agent: secrets that its commands are given in their environment, and that nobody is shown.

GITHUB_TOKEN = "…"             # in agent_state/.vault.toml, readable by its owner only
"""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from penguin_harness.errors import ConfigError

SHORTEST = 6
"""Characters: a shorter value cannot be hidden, since it would stand in many outputs by chance."""
LONGEST = 32_768
"""Bytes that a variable may have and still be searched for in every output."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Vault:
    """Names and values as the file holds them; what is printed of it has the names only."""

    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self._values = dict(values or {})

    def __repr__(self) -> str:
        return f"Vault({', '.join(self.names)})"

    @property
    def names(self) -> tuple[str, ...]:
        """In order; these may be shown, also to the model."""
        return tuple(sorted(self._values))

    @property
    def variables(self) -> Mapping[str, str]:
        """For the environment of tools' processes, and nothing else."""
        return dict(self._values)

    @property
    def secrets(self) -> frozenset[str]:
        """The values that no message may hold."""
        return frozenset(self._values.values())

    def with_secret(self, name: str, value: str) -> Vault:
        """With one more, or another value. Raises ConfigError for what cannot be a variable, or not be hidden."""
        if fault := _fault(name, value):
            raise ConfigError(f"{fault}; nothing was stored")
        return Vault(self._values | {name: value})

    def without(self, name: str) -> Vault:
        """With one less. Raises ConfigError when it is not there."""
        if name not in self._values:
            close = difflib.get_close_matches(name, self._values, n=1)
            hint = f"did you mean {close[0]}?" if close else "see `penguin vault list`"
            raise ConfigError(f"the vault has no {name!r}; {hint}")
        return Vault({each: value for each, value in self._values.items() if each != name})


def load_vault(path: Path) -> Vault:
    """Read the file; an absent one is empty. Raises ConfigError, also when others than its owner may read it."""
    try:
        with open(path, "rb", opener=_at_once) as file:
            _require_private(path, os.fstat(file.fileno()))
            data = file.read()
    except FileNotFoundError:
        return Vault()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from None
    return Vault(_checked(path, _parsed(path, data)))


def save_vault(path: Path, vault: Vault) -> None:
    """Write the file, readable by its owner only, in one step. Comments and order stay. Raises ConfigError."""
    import tomlkit  # only who writes pays for it

    load_vault(path)  # what nobody could read again is not written over
    document: Any = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    for name in [*document]:
        if name not in vault.variables:
            del document[name]
    for name, value in vault.variables.items():
        if name not in document or document[name] != value:
            document[name] = value
    try:
        _replace(path.resolve(), tomlkit.dumps(document).encode())
    except OSError as error:
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from None


def _at_once(path: str, flags: int) -> int:
    """A pipe without a writer would be waited for."""
    return os.open(path, flags | os.O_NONBLOCK)


def _require_private(path: Path, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise ConfigError(f"cannot read {path}: it is a folder, pipe or device; put a file in its place")
    if state.st_mode & _OTHERS:
        raise ConfigError(
            f"{path} is open to others than its owner (mode {stat.S_IMODE(state.st_mode):03o}): "
            f"`chmod 600 {path}`, and renew the secrets that somebody may have read"
        )


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    import tomllib  # only who has a vault pays for it

    try:
        return tomllib.loads(data.decode())
    except UnicodeDecodeError:
        raise ConfigError(f"cannot read {path}: it is not in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"\(at [^()]*\)$", str(error))  # the text around it may quote a value
        raise ConfigError(f"cannot read {path}: it is no TOML {place[0] if place else ''}".rstrip()) from None


def _checked(path: Path, found: Mapping[str, Any]) -> dict[str, str]:
    for name, value in found.items():
        if fault := _fault(name, value):
            raise ConfigError(f"cannot use {path}: {fault}")
    return dict(found)


def _fault(name: str, value: object) -> str | None:
    """Why it cannot be kept, without the value."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is no name of a variable: letters, digits and '_', at most 100, no digit first"
    if name.startswith("PENGUIN_"):
        return f"{name!r} begins with PENGUIN_, and such variables are not handed on"
    if not isinstance(value, str):
        return f"the value of {name} is no text: put it in quotes"
    if len(value.strip()) < SHORTEST:
        return f"the value of {name} has less than {SHORTEST} characters: it could not be hidden in outputs"
    if len(value.encode(errors="surrogatepass")) > LONGEST:
        return f"the value of {name} has more than {LONGEST} bytes: keep it in a file of its own, and here its path"
    if "\0" in value or not _is_unicode(value):
        return f"the value of {name} has characters that no variable can have"
    return None


def _is_unicode(text: str) -> bool:
    with suppress(UnicodeEncodeError):
        return bool(text.encode())
    return False


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
