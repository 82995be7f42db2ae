"""A hook: who is asked, at which points, in which order, for how long, and what its failure means."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias, TypedDict, Unpack, overload

from msgspec import Struct

from penguin_harness.errors import ConfigError
from penguin_harness.hooks.answer import DECISIONS, Answer, answer_of
from penguin_harness.hooks.occasion import Occasion, Prompt, ProposedCall, TaskEnded, point_of
from penguin_harness.invoke import invoke
from penguin_harness.omnimessage import HookPoint

TIMEOUT_S = 30.0
LONGEST_TIMEOUT_S = 3_600.0
OnFailure: TypeAlias = Literal["deny", "ignore"]
Ask: TypeAlias = Callable[[Occasion], Awaitable[Answer | None]]
Said: TypeAlias = Answer | str | None
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class UserHook(Struct, frozen=True, kw_only=True):
    """One hook. Raises ConfigError when its parts do not fit together."""

    name: str
    """As records and refusals name it."""
    points: tuple[HookPoint, ...]
    ask: Ask
    """Gives the answer, or raises. Cancelling it ends what it does."""
    order: int = 0
    """Lower ones are asked first; equal ones by name."""
    timeout_s: float = TIMEOUT_S
    on_failure: OnFailure = "ignore"
    """Whether a call is denied when the hook fails, or the hook has no opinion then."""
    tools: tuple[str, ...] = ()
    """Patterns of the tools whose calls it is asked about, as `mcp__*`; none for all tools."""

    def __post_init__(self) -> None:
        if (fault := _fault(self)) is not None:
            raise ConfigError(fault)

    def concerns(self, occasion: Occasion) -> bool:
        """Whether it is asked about this."""
        if point_of(occasion) not in self.points:
            return False
        if not isinstance(occasion, ProposedCall) or not self.tools:
            return True
        return any(fnmatchcase(occasion.call.name, pattern) for pattern in self.tools)


class Settings(TypedDict, total=False):
    """What may be said about a hook, as UserHook explains it."""

    order: int
    timeout_s: float
    on_failure: OnFailure
    tools: tuple[str, ...]


@overload
def in_process(
    point: Literal["user_prompt"],
    function: Callable[[Prompt], Said | Awaitable[Said]],
    *,
    name: str,
    **settings: Unpack[Settings],
) -> UserHook: ...
@overload
def in_process(
    point: Literal["pre_tool_use"],
    function: Callable[[ProposedCall], Answer | Awaitable[Answer | None] | None],
    *,
    name: str,
    **settings: Unpack[Settings],
) -> UserHook: ...
@overload
def in_process(
    point: Literal["stop"],
    function: Callable[[TaskEnded], Said | Awaitable[Said]],
    *,
    name: str,
    **settings: Unpack[Settings],
) -> UserHook: ...
def in_process(
    point: HookPoint, function: Callable[[Any], Any], *, name: str, **settings: Unpack[Settings]
) -> UserHook:
    """A function as a hook: an async one in the loop, a plain one in a thread. A text stands for an Answer with it."""
    return UserHook(name=name, points=(point,), ask=asking(function), **settings)


def asking(function: Callable[[Any], Any]) -> Ask:
    """Ask a function."""

    async def ask(occasion: Occasion) -> Answer | None:
        return answer_of(await invoke(function, occasion), point_of(occasion))

    return ask


def _fault(hook: UserHook) -> str | None:
    if not _NAME.fullmatch(hook.name):
        return f"{hook.name!r} is no name for a hook: letters, digits, '_', '-' and '.', at most 64"
    if not hook.points:
        return f"the hook {hook.name} is asked nowhere; name a point: {', '.join(DECISIONS)}"
    if strange := [point for point in hook.points if point not in DECISIONS]:
        return f"the hook {hook.name} wants to be asked at {strange[0]!r}; the points are {', '.join(DECISIONS)}"
    if not 0 < hook.timeout_s <= LONGEST_TIMEOUT_S:
        return (
            f"timeout_s of the hook {hook.name} is {hook.timeout_s:g}; it is above 0 and at most {LONGEST_TIMEOUT_S:g}"
        )
    if "pre_tool_use" in hook.points:
        return None
    if hook.on_failure != "ignore" or hook.tools:
        what = "tools" if hook.tools else "on_failure"
        return f"{what} of the hook {hook.name} is for the point pre_tool_use, at which it is not asked; leave it out"
    return None
