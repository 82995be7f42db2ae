"""A hook that is a program: asked in JSON on its standard input, it answers in JSON on its standard output."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from penguin_harness.hooks.answer import LONGEST_ANSWER, Answer, HookFailed, read_answer
from penguin_harness.hooks.occasion import Occasion, fields_of, point_of
from penguin_harness.hooks.process import Printed, run_program
from penguin_harness.omnimessage import clean


class Host(Struct, frozen=True):
    """The session that asks, as far as programs are told."""

    session_id: str
    workspace: Path
    environment: Mapping[str, str]
    """All that they see: nothing secret is in it."""


class Program(Struct, frozen=True):
    """A command in the folder of its hook."""

    name: str
    command: tuple[str, ...]
    folder: Path
    host: Host

    async def ask(self, occasion: Occasion) -> Answer | None:
        """Run it once. Raises HookFailed; when cancelled it is gone with everything it started."""
        point = point_of(occasion)
        try:
            given = msgspec.json.encode(self._question(occasion))
        except (msgspec.MsgspecError, RecursionError, ValueError) as error:
            raise HookFailed("malformed", f"it could not be asked: {error}") from None
        printed = await run_program(
            self.command, folder=self.folder, environment=self.host.environment, given=given, limit=LONGEST_ANSWER
        )
        if printed.exit_code != 0:
            raise HookFailed("crashed", f"it ended with {_ending(printed.exit_code)}", **_details(printed))
        try:
            return read_answer(printed.output, point)
        except HookFailed as failure:
            details = {"stdout": printed.output.decode(errors="replace"), **_details(printed)}
            raise HookFailed(failure.failure, str(failure), **details) from None

    def _question(self, occasion: Occasion) -> dict[str, object]:
        who: dict[str, object] = {"hook": point_of(occasion), "name": self.name}
        where = {"session_id": self.host.session_id, "workspace": clean(str(self.host.workspace))}
        return who | where | fields_of(occasion)


def _ending(exit_code: int) -> str:
    if exit_code > 0:
        return f"exit code {exit_code}"
    try:
        return signal.Signals(-exit_code).name
    except ValueError:  # a real-time signal has no name
        return f"signal {-exit_code}"


def _details(printed: Printed) -> dict[str, str]:
    errors = printed.errors.decode(errors="replace")
    return {"stderr": errors} if errors.strip() else {}
