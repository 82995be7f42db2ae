"""The environment of child processes: plain text, UTF-8, and none of the harness's own credentials."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from penguin_harness.tools.command import MARK

_PLAIN_TEXT = {
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "PYTHONIOENCODING": "utf-8",
    "PYTHONUTF8": "1",
}
_FORCES_COLOR = frozenset(  # they beat NO_COLOR in many programs
    {"FORCE_COLOR", "CLICOLOR_FORCE", "PYTHON_COLORS", "PY_COLORS", "CARGO_TERM_COLOR", "COLORTERM"}
)


def child_environment(
    base: Mapping[str, str], *, drop: Collection[str] = (), extra: Mapping[str, str] | None = None
) -> dict[str, str]:
    """What a child may see of `base`: nothing named in `drop` (the providers' key variables), nothing of ours.

    `extra` (the vault's variables) is for the child, whatever the names.
    """
    unseen = _FORCES_COLOR.union(drop)
    kept = {name: value for name, value in base.items() if name not in unseen and not _is_ours(name)}
    return kept | _PLAIN_TEXT | dict(extra or {})


def _is_ours(name: str) -> bool:
    return name.startswith("PENGUIN_") and name != MARK
