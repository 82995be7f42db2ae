"""Snapshots of an agent's state: `agent_state/` as an archive, without the vault.

An archive holds files, folders and links as they are; the credentials in `.vault.toml` never enter one, whatever name
leads to them, and a restore leaves them where they are.
"""

from __future__ import annotations

import gzip
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from msgspec import Struct

from penguin_harness.errors import ConfigError
from penguin_harness.state.folder_swap import swap
from penguin_harness.state.paths import VAULT, AgentPaths, require_name
from penguin_harness.state.yaml_fault import did_you_mean

_SUFFIX = ".tar.gz"
_DAMAGED = (
    tarfile.TarError,
    gzip.BadGzipFile,
    EOFError,
    zlib.error,
    LookupError,
    FileExistsError,
    FileNotFoundError,
    NotADirectoryError,
)


class Snapshot(Struct, frozen=True):
    """A kept state."""

    name: str
    path: Path
    bytes: int
    made: float
    """Seconds since 1970."""


def list_snapshots(paths: AgentPaths) -> list[Snapshot]:
    """The agent's snapshots, the newest first."""
    found = [_snapshot(path) for path in paths.snapshots.glob(f"*{_SUFFIX}") if not path.name.startswith(".")]
    return sorted(found, key=lambda snapshot: (snapshot.made, snapshot.name), reverse=True)


def take_snapshot(paths: AgentPaths, name: str) -> Snapshot:
    """Keep the agent's state under a name. Raises ConfigError when the name is taken or something cannot be read."""
    require_name("a snapshot", name)
    path = paths.snapshots / f"{name}{_SUFFIX}"
    if path.exists():
        raise ConfigError(f"there is a snapshot {name!r} already; choose another name")
    if not paths.state.is_dir():
        raise ConfigError(f"there is nothing to keep: {paths.state} does not exist")
    paths.snapshots.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        with open(temporary, "xb", opener=_open_private) as file, tarfile.open(fileobj=file, mode="w:gz") as archive:
            for entry in _entries(paths.state):
                archive.add(entry, str(entry.relative_to(paths.state)), recursive=False)
        temporary.rename(path)
    except OSError as error:
        raise ConfigError(f"cannot keep {error.filename or paths.state}: {error.strerror or error}") from None
    finally:
        temporary.unlink(missing_ok=True)
    return _snapshot(path)


def restore_snapshot(paths: AgentPaths, name: str, *, keep_as: str) -> Snapshot | None:
    """Put a kept state in place of the agent's state at once; what it replaces is kept as a snapshot, and returned.

    Raises ConfigError when there is no such snapshot or it is damaged; the state is then as it was.
    """
    known = {snapshot.name: snapshot.path for snapshot in list_snapshots(paths)}
    if name not in known:
        raise ConfigError(f"there is no snapshot {name!r} in {paths.snapshots}{did_you_mean(name, list(known))}")
    state = paths.state.resolve()
    replaced = take_snapshot(paths, keep_as) if state.is_dir() else None
    staged: Path | None = None
    try:
        state.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=f".{state.name}-", dir=state.parent))
        _unpack(known[name], staged)
        if replaced is None:
            staged.rename(state)
        else:
            _carry_vault(state, staged)
            shutil.copymode(state, staged)
            swap(state, staged)
    except OSError as error:
        raise ConfigError(f"cannot restore {name!r}: {error.filename or state}: {error.strerror or error}") from None
    finally:
        if staged is not None:
            _remove(staged)
    return replaced


def _snapshot(path: Path) -> Snapshot:
    status = path.stat()
    return Snapshot(path.name.removesuffix(_SUFFIX), path, status.st_size, status.st_mtime)


def _entries(state: Path) -> Iterator[Path]:
    """Everything to keep, folders before what is in them; no link is followed."""
    vault = _identity(state / VAULT)
    for folder, folders, files in os.walk(state, onerror=_raise):
        folders.sort()
        for name in sorted([*folders, *files]):
            entry = Path(folder, name)
            is_vault = entry.parent == state and name.startswith(VAULT)
            is_kept = entry.is_symlink() or entry.is_dir() or entry.is_file()
            if is_kept and not is_vault and (entry.is_symlink() or _identity(entry) != vault):
                yield entry


def _unpack(archive: Path, folder: Path) -> None:
    """Raises ConfigError for an archive that is damaged or leads out of the folder."""
    modes: list[tuple[Path, int]] = []
    links: list[tuple[Path, str]] = []
    try:
        with tarfile.open(archive, "r:gz") as members:
            for member in members:
                target = _inside(folder, member.name)
                if target.parent == folder and target.name.startswith(VAULT):
                    continue
                if member.issym():
                    links.append((target, member.linkname))
                elif member.isdir():
                    target.mkdir(exist_ok=True)
                    modes.append((target, member.mode))
                elif (content := members.extractfile(member)) is not None:
                    with content, target.open("xb") as file:
                        shutil.copyfileobj(content, file)
                    modes.append((target, member.mode))
        for link, aim in links:  # last, so that nothing is written through one
            link.symlink_to(aim)
    except _DAMAGED as error:
        raise ConfigError(f"the snapshot {archive} is damaged: {error}") from None
    for entry, mode in reversed(modes):
        entry.chmod(mode & 0o777)


def _inside(folder: Path, name: str) -> Path:
    parts = PurePosixPath(name)
    if parts.is_absolute() or ".." in parts.parts or not parts.parts:
        raise tarfile.TarError(f"it has an entry {name!r}")
    return folder / parts


def _carry_vault(state: Path, staged: Path) -> None:
    """Copy the vault over; where it is a link to a file of the state, that file too."""
    vault = state / VAULT
    if not (vault.is_symlink() or vault.exists()):
        return
    shutil.copy2(vault, staged / VAULT, follow_symlinks=False)
    target = vault.resolve()
    if vault.is_symlink() and target.is_relative_to(state) and target.is_file():
        place = staged / target.relative_to(state)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(target, place)


def _remove(folder: Path) -> None:
    """Remove a folder with what is write-protected in it."""
    for inner, _, _ in os.walk(folder):
        Path(inner).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _raise(error: OSError) -> None:
    raise error
