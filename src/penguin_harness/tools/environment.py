"""The environment of child processes: plain text, UTF-8, and none of the harness's own credentials."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_PLAIN_TEXT = {
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "PYTHONIOENCODING": "utf-8",
    "PYTHONUTF8": "1",
}
_FORCES_COLOR = frozenset({"FORCE_COLOR", "CLICOLOR_FORCE"})  # they beat NO_COLOR in many programs


def child_environment(base: Mapping[str, str], *, drop: Collection[str] = ()) -> dict[str, str]:
    """What a child may see of `base`: nothing named in `drop` (the providers' key variables), nothing of ours."""
    unseen = _FORCES_COLOR.union(drop)
    kept = {name: value for name, value in base.items() if name not in unseen and not name.startswith("PENGUIN_")}
    return kept | _PLAIN_TEXT
