"""What flows from command to command, and where a walk through a line is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from penguin_harness.policy.shell.command import Command
from penguin_harness.policy.shell.scope import Scope


class Stream(Struct, frozen=True):
    """What flows from command to command."""

    text: str | None = None
    """None when nobody can say."""
    commands: tuple[Command, ...] = ()
    """Those that made it."""


NOTHING = Stream()


class Place(Struct, frozen=True):
    """Where the walk is."""

    scope: Scope
    given: Stream
    """What can be read there."""
    via: tuple[str, ...] = ()
    """The programs that lead there."""

    def inside(self, given: Stream | None = None) -> Place:
        """In a subshell."""
        return Place(self.scope.copy(), self.given if given is None else given, self.via)


def together(streams: Sequence[Stream], *, is_one: bool = True) -> Stream:
    """Streams one behind another; when only one of them flows, nobody can say which."""
    texts = [stream.text for stream in streams]
    known = is_one and all(text is not None for text in texts)
    text = "".join(text for text in texts if text is not None) if known else None
    return Stream(text, unique(command for stream in streams for command in stream.commands))


def unique(commands: Iterable[Command]) -> tuple[Command, ...]:
    """Each command once."""
    return tuple(dict.fromkeys(commands))
