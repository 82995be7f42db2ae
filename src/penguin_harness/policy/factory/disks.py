"""Folders and disks that must not go away."""

from __future__ import annotations

import re

from penguin_harness.policy.factory.arguments import written
from penguin_harness.policy.paths import endangered, is_device, of_the_system
from penguin_harness.policy.rules import Rule
from penguin_harness.policy.shell.command import Command
from penguin_harness.policy.shell.finders import found_roots
from penguin_harness.policy.shell.options import options

_FORMATTERS: dict[str, set[str]] = {
    "mke2fs": set(),
    "mkswap": set(),
    "blkdiscard": set(),
    "shred": set(),
    "pvcreate": set(),
    "badblocks": {"-w", "-n"},
    "cryptsetup": {"luksFormat", "luksErase", "erase"},
    "nvme": {"format", "sanitize"},
    "hdparm": {"--security-erase", "--security-erase-enhanced"},
    "wipefs": {"-a", "--all", "-af", "-fa"},
}
"""Each with the arguments of which it needs one to do harm."""
_PARTITIONERS = ("fdisk", "sfdisk", "cfdisk", "gdisk", "sgdisk", "parted")
_LISTS = ("-l", "--list", "-d", "--dump", "-p", "--print", "-x", "-V", "--verify")
_FOR_ALL = re.compile(r"[0-7]*[2367]|(?:.*,)?[ugoa]*[oa][ugoa]*[+=][rxXst]*w.*|\+[rxXst]*w.*")


def _removes_a_tree(command: Command) -> bool:
    if command.runs("rm", "rimraf", "srm"):
        parsed = options(command.arguments)
        if "--no-preserve-root" in parsed.flags:
            return True
        recursive = parsed.has("-r", "-R", "--recursive") or command.runs("rimraf")
        return recursive and any(endangered(field, command) for field in parsed.operands)
    if command.runs("find"):
        deletes = any(field.text == "-delete" for field in command.arguments)
        return deletes and any(endangered(field, command) for field in found_roots(command))
    if command.runs("rsync"):
        parsed = options(command.arguments)
        deletes = any(flag.startswith("--del") for flag in parsed.flags)
        return deletes and any(endangered(field, command) for field in parsed.operands[-1:])
    return False


def _formats(command: Command) -> bool:
    if not any(is_device(field, command) for field in command.arguments):
        return False
    if command.fields[0].name.startswith(("mkfs", "newfs")):
        return True
    if command.runs(*_PARTITIONERS):
        parsed = options(command.arguments)
        return not parsed.has(*_LISTS) and not any(field.text == "print" for field in parsed.operands)
    words = {field.text for field in command.arguments}
    return any(command.runs(name) and (not needs or needs & words) for name, needs in _FORMATTERS.items())


def _writes_a_device(command: Command) -> bool:
    return any(is_device(field, command) for field in written(command))


def _opens_everything(command: Command) -> bool:
    if not command.runs("chmod", "chown", "chgrp"):
        return False
    parsed = options(command.arguments)
    if not parsed.has("-R", "--recursive"):
        return False
    mode, paths = parsed.operands[:1], parsed.operands[1:]
    if any(of_the_system(field, command) for field in paths):
        return True
    for_all = command.runs("chmod") and any(_FOR_ALL.fullmatch(field.text) for field in mode)
    return for_all and any(endangered(field, command) for field in paths)


RULES = (
    Rule(
        "remove-tree",
        "forbid",
        "it removes a system folder, a home folder or a folder above the working folder, with all that is in it",
        _removes_a_tree,
    ),
    Rule(
        "format-disk", "forbid", "it makes a disk's file systems or partitions anew; what was there is lost", _formats
    ),
    Rule("write-device", "forbid", "it writes to a disk or to memory past every file system", _writes_a_device),
    Rule(
        "change-all-permissions",
        "forbid",
        "it changes all permissions in a system folder, or opens a home folder to everybody",
        _opens_everything,
    ),
)
