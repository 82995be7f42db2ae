"""The sandbox of commands: bubblewrap, which gives each a view of the file system where little can be written.

The file tools keep to the same areas by asking the policy. Whoever runs a wrapped command starts it in a session of
its own, as a terminal that it shared could be typed into.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

from penguin_harness.errors import ConfigError

SandboxMode: TypeAlias = Literal["off", "read-only", "workspace-write"]
PROBE_LIMIT = 10.0
"""Seconds that the first try may take."""
_TMP = Path("/tmp")  # noqa: S108 - the place that it has inside
_RUNTIME = (Path("/run"), Path("/var/run"))
"""Sockets of services that would run something for whoever asks: docker, systemd, the message bus."""
_STAYS_IN_SIGHT = (
    "/run/systemd/resolve",  # where /etc/resolv.conf leads on many systems
    "/run/NetworkManager/resolv.conf",
    "/run/resolvconf",
    "/run/current-system",  # the programs of NixOS
)
_WAY_OUT = 'install bubblewrap (as `apt-get install bubblewrap`), or set sandbox = "off"'


class SandboxPolicy(Struct, frozen=True, kw_only=True):
    """What commands and file tools may touch; where areas lie in one another, the inner one counts."""

    mode: SandboxMode
    workspace: Path
    temporary: Path
    """A folder of the session, which stands in the place of /tmp; made when needed."""
    network: bool
    writable: tuple[Path, ...] = ()
    """More folders that may be written to, in the mode workspace-write."""
    read_only: tuple[Path, ...] = ()
    """What stays in sight of a hidden area or of /tmp, and what must not change in the workspace."""
    hidden: tuple[Path, ...] = ()
    """Files and folders that are not to be seen: those with credentials."""

    def may_read(self, path: Path) -> bool:
        """Whether the file tools may open what is there, outside."""
        area = self._area(Path(os.path.realpath(path)))
        return self.mode == "off" or (area.kind != "hide" and area.source is None)

    def may_write(self, path: Path) -> bool:
        """Whether the file tools may change what is there, outside."""
        area = self._area(Path(os.path.realpath(path)))
        return self.mode == "off" or (area.kind == "write" and area.source is None)

    def outside(self, path: Path) -> Path:
        """Where a path of the sandbox is to be found outside of it."""
        plain = Path(os.path.normpath(path))
        area = self._area(plain)
        if self.mode == "off" or area.source is None:
            return path
        return area.source / plain.relative_to(area.place)

    def areas(self) -> list[Area]:
        """Every area, the outer ones first."""
        return sorted(self._areas(), key=lambda area: len(area.place.parts))

    def _area(self, path: Path) -> Area:
        return next(area for area in reversed(self.areas()) if path.is_relative_to(area.place))

    def _areas(self) -> Iterator[Area]:
        inside: Kind = "write" if self.mode == "workspace-write" else "read"
        yield Area(Path("/"), "read")
        yield Area(Path("/dev"), "dev")
        yield Area(Path("/proc"), "proc")
        yield Area(_TMP, "write", self.temporary)
        for place in sorted({each.resolve() for each in _RUNTIME if each.exists()}):
            yield Area(place, "hide")
        for place in (self.workspace, *self.writable):
            yield Area(place.resolve(), inside)
        yield Area(self.temporary.resolve(), "write")
        for place in _STAYS_IN_SIGHT:
            yield Area(Path(place), "read")
        for place in self.read_only:
            yield Area(place.resolve(), "read")
        for place in self.hidden:
            yield Area(place.resolve(), "hide")


Kind: TypeAlias = Literal["read", "write", "hide", "dev", "proc"]


class Area(NamedTuple):
    """A part of the file system inside, and what it shows when that is not the same place outside."""

    place: Path
    kind: Kind
    source: Path | None = None


def wrap(argv: Sequence[str], policy: SandboxPolicy | None, *, folder: Path | None = None) -> list[str]:
    """The command line that runs `argv` in the sandbox, beginning in `folder`. Raises ConfigError without bubblewrap.

    What it leaves in the background lives on inside, in the same session.
    """
    if policy is None or policy.mode == "off":
        return [*argv]
    program = shutil.which("bwrap")
    if program is None:
        raise ConfigError(f"the sandbox {policy.mode!r} is asked for, and there is no bwrap: {_WAY_OUT}")
    policy.temporary.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", "--ro-bind", "/", "/"]
    for area in policy.areas()[1:]:
        options += _mount(area)
    for area in policy.areas():
        if area.kind == "hide" and area.place.is_dir():
            options += ["--remount-ro", str(area.place)]  # only now: the mounts inside needed their places
    options += [] if policy.network else ["--unshare-net"]
    options += ["--setenv", "TMPDIR", str(_TMP)]
    options += ["--chdir", str(folder)] if folder else []
    return [program, *options, "--", *argv]


def _mount(area: Area) -> list[str]:
    place, source = str(area.place), str(area.source or area.place)
    match area.kind:
        case "write":
            return ["--bind-try", source, place]
        case "read":
            return ["--ro-bind-try", source, place]
        case "dev" | "proc":
            return [f"--{area.kind}", place]
        case "hide" if area.place.is_dir():
            return ["--tmpfs", place]
        case "hide":
            return ["--ro-bind", "/dev/null", place] if area.place.exists() else []


def require_sandbox(policy: SandboxPolicy | None) -> None:
    """Try the sandbox, once for a session. Raises ConfigError that says why it cannot be had; waits at most seconds."""
    argv = wrap(["/bin/sh", "-c", ":"], policy)
    if policy is None or policy.mode == "off":
        return
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=PROBE_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise ConfigError(f"the sandbox {policy.mode!r} does not start within {PROBE_LIMIT:g} s: {_WAY_OUT}") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip() or f"exit code {done.returncode}"
        raise ConfigError(
            f"the sandbox {policy.mode!r} is asked for and cannot be had here ({said[:300]}): allow unprivileged user "
            'namespaces, or set sandbox = "off"'
        )


def programs_in_hidden_places(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The folders of PATH below /tmp and /run, as of a virtual environment there: they must stay in sight."""
    covered = (_TMP, *_RUNTIME)
    folders = map(Path, environ.get("PATH", "").split(os.pathsep))
    found = (each.parent if each.name in {"bin", "sbin"} else each for each in folders)
    return tuple(dict.fromkeys(each for each in found if any(place in each.parents for place in covered)))
