"""What lies elsewhere, and what others use too: repositories, databases, containers, clouds."""

from __future__ import annotations

import re

from penguin_harness.policy.factory.arguments import named
from penguin_harness.policy.rules import Rule, pattern
from penguin_harness.policy.shell.command import Command
from penguin_harness.policy.shell.options import options

_PUSH = pattern("git push")
_PUSH_VALUES = frozenset({"-o", "--push-option", "--repo", "--receive-pack", "--exec", "-C", "-c"})
_MAIN = {"main", "master"}
_CLIENTS = (
    "psql",
    "mysql",
    "mariadb",
    "cockroach",
    "clickhouse-client",
    "sqlcmd",
    "mongo",
    "mongosh",
    "pgcli",
    "mycli",
)
_SAID_ONLY = re.compile(r"'[^']*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
_DROPS = re.compile(r"\bdrop\s+(?:database|schema)\b|\bdropDatabase\s*\(", re.IGNORECASE)


def _rewrites_main(command: Command) -> bool:
    if not _PUSH.names(command):
        return False
    parsed = options(command.arguments, _PUSH_VALUES)
    if parsed.has("-n", "--dry-run"):
        return False
    references = [field.text for field in parsed.operands[2:]]
    forced = "-f" in parsed.flags or "--force" in parsed.flags
    deletes = "-d" in parsed.flags or "--delete" in parsed.flags
    harmed = [_branch(each) for each in references if forced or deletes or each.startswith(("+", ":"))]
    return "--mirror" in parsed.flags or not _MAIN.isdisjoint(harmed)


def _branch(reference: str) -> str:
    return reference.lstrip("+").rpartition(":")[2].removeprefix("refs/heads/")


def _drops_a_database(command: Command) -> bool:
    if command.runs("dropdb") or named(command, "mysqladmin drop"):
        return bool(options(command.arguments).operands)
    if command.runs("redis-cli"):
        return any(field.text.lower() in {"flushall", "flushdb"} for field in command.arguments)
    if not command.runs(*_CLIENTS):
        return False
    said = [command.given or "", *(_value(field.text) for field in command.arguments)]
    return any(_DROPS.search(_SAID_ONLY.sub("", text)) for text in said)


def _value(argument: str) -> str:
    return argument.partition("=")[2] if argument.startswith("--") else argument


def _prunes(command: Command) -> bool:
    return named(command, *(f"{tool} {what} prune" for tool in ("docker", "podman") for what in ("system", "volume")))


def _destroys(command: Command) -> bool:
    return named(
        command,
        "terraform destroy",
        "tofu destroy",
        "pulumi destroy",
        "gh repo delete",
        "aws s3 rb --force",
        "gcloud projects delete",
        "kubectl delete namespace",
        "kubectl delete namespaces",
        "kubectl delete ns",
        "kubectl delete --all",
    )


RULES = (
    Rule("rewrite-main", "forbid", "it overwrites or deletes a branch that others build on", _rewrites_main),
    Rule("drop-database", "forbid", "it deletes a database with all that is in it", _drops_a_database),
    Rule("prune-containers", "forbid", "it deletes containers, images or volumes that others may need", _prunes),
    Rule("destroy-resources", "forbid", "it deletes what runs or is stored elsewhere, all of it at once", _destroys),
)
