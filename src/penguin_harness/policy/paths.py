"""Places on disk whose loss, or whose leaving, nobody can take back."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from glob import escape

from penguin_harness.policy.shell.command import Command, Field

SYSTEM = (
    "/",
    "/Applications",
    "/Library",
    "/System",
    "/Users",
    "/Volumes",
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/lib32",
    "/lib64",
    "/media",
    "/mnt",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/usr",
    "/usr/bin",
    "/usr/lib",
    "/usr/local",
    "/usr/sbin",
    "/usr/share",
    "/var",
    "/var/lib",
    "/var/log",
)
_HOMES = {"/home", "/Users"}
_SECRETS = (
    ".ssh/id_rsa",
    ".ssh/id_ed25519",
    ".ssh/id_ecdsa",
    ".ssh/id_dsa",
    ".aws/credentials",
    ".netrc",
    ".git-credentials",
    ".pgpass",
    ".pypirc",
    ".docker/config.json",
    ".kube/config",
    ".config/gh/hosts.yml",
    ".ssh",
    ".aws",
    ".gnupg",
    ".config/gcloud/application_default_credentials.json",
    ".gnupg/secring.gpg",
    ".gnupg/private-keys-v1.d",
)
_SECRET_ANYWHERE = ("/etc/shadow", "/etc/gshadow")
_OUR_FILES = (".vault.toml", ".project_config.toml")
"""With the keys of the project and of an agent, and the rules."""
_HISTORIES = (".bash_history", ".zsh_history", ".history", ".python_history", ".local/share/fish/fish_history")
_ACCOUNTS = ("/etc/passwd", "/etc/shadow", "/etc/gshadow", "/etc/group", "/etc/sudoers")
_DEVICE = re.compile(
    r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|r?disk|md|dm-|mapper/|mem\Z|kmem\Z|port\Z|\*)|/proc/sysrq-trigger\Z"
)
_WIDE = re.compile(r"(?:[*?.]|\[[^]]*\])+")
_BRACKETS = re.compile(r"\[[^]]*\]")


def endangered(field: Field, command: Command) -> bool:
    """Whether the path is, or the wildcard finds, a system folder, a home, or a folder above the working folder."""
    path = located(field, command)
    if path is None:
        return False
    if field.pattern is None:
        return _is_vital(path, command)
    if _finds(path, _vital(command)):
        return True
    folder = _emptied(path)
    return folder is not None and (_is_vital(folder, command) or _finds(folder, _vital(command)))


def of_the_system(field: Field, command: Command) -> bool:
    """Whether it is a system folder, or a wildcard for all in one."""
    path = located(field, command)
    if path is None:
        return False
    folder = _emptied(path) if field.pattern is not None else None
    return _finds(path, SYSTEM) or (folder is not None and _finds(folder, SYSTEM))


def is_device(field: Field, command: Command) -> bool:
    """Whether it is a disk, or memory."""
    path = located(field, command)
    return path is not None and _DEVICE.match(path) is not None


def is_secret(field: Field, command: Command) -> bool:
    """Whether it is a file with keys or passwords, or a folder of them."""
    path = located(field, command)
    if path is None:
        return False
    if is_ours(field):
        return True
    own = [posixpath.join(command.home, name) for name in _SECRETS]
    return _finds(path, (*own, *_SECRET_ANYWHERE))


def is_ours(field: Field) -> bool:
    """Whether it is a file that the harness itself goes by, wherever it lies."""
    return any(_is_found(name, (field.pattern or escape(field.text)).rpartition("/")[2]) for name in _OUR_FILES)


def is_history(field: Field, command: Command) -> bool:
    """Whether it is the record of what somebody typed."""
    path = located(field, command)
    return path is not None and _finds(path, tuple(posixpath.join(command.home, name) for name in _HISTORIES))


def decides_who_enters(field: Field, command: Command) -> bool:
    """Whether it says who may log in, and as whom."""
    path = located(field, command)
    if path is None:
        return False
    keys = posixpath.join(command.home, ".ssh/authorized_keys")
    return _finds(path, (*_ACCOUNTS, keys, "/root/.ssh/authorized_keys")) or path.startswith("/etc/sudoers.d/")


def located(field: Field, command: Command) -> str | None:
    """The path, or the pattern, from the root if that can be said; None when nobody knows it."""
    if not field.known:
        return None
    text = field.pattern or escape(field.text)  # a quoted star is a star
    if not text:
        return None
    if not text.startswith("/"):
        text = text if command.folder is None else posixpath.join(command.folder, text)
    path = posixpath.normpath(text)
    return path[1:] if path.startswith("//") else path


def _is_vital(path: str, command: Command) -> bool:
    if not path.startswith("/"):
        return all(part == ".." for part in path.split("/"))
    return path in _vital(command) or posixpath.dirname(path) in _HOMES


def _vital(command: Command) -> tuple[str, ...]:
    above = [*_above(command.home), *(_above(command.base) if command.base is not None else ())]
    return (*SYSTEM, command.home, *above)


def _above(folder: str) -> Iterator[str]:
    while folder not in {"/", ""}:
        folder = posixpath.dirname(folder)
        yield folder


def _finds(pattern: str, paths: tuple[str, ...]) -> bool:
    parts = pattern.split("/")
    for path in paths:
        others = path.split("/")
        if len(parts) == len(others) and all(map(_is_found, others, parts)):
            return True
    return False


def _is_found(name: str, pattern: str) -> bool:
    """A wildcard does not find hidden names unless it begins with their dot."""
    return fnmatchcase(name, pattern) and (not name.startswith(".") or pattern.startswith("."))


def _emptied(pattern: str) -> str | None:
    """The folder of which the wildcard finds all, or all that is hidden; None when it leaves something out."""
    folder, slash, last = pattern.rpartition("/")
    if not slash or _WIDE.fullmatch(last) is None or "*" not in _BRACKETS.sub("", last):
        return None
    return folder or "/"
