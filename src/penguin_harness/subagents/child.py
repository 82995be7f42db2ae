"""One subagent: its session, the task that it works on, and what has come of it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from penguin_harness.contracts import Approve, ThinkingLevel
from penguin_harness.engine.run import Run
from penguin_harness.errors import PenguinError
from penguin_harness.omnimessage import RequestEnd, Text, user_text
from penguin_harness.session import Session
from penguin_harness.subagents.forward import Forwarder

NO_ANSWER = "[no answer]"


class Child:
    """A session of a subagent, with at most one task under way."""

    def __init__(self, session: Session, forwarder: Forwarder, about: str) -> None:
        self.session = session
        self.about = about
        self.in_background = False
        """Nobody waits for the task any more: its end is news."""
        self.aborted = False
        self._forwarder = forwarder
        self._run: Run | None = None
        self._work: asyncio.Task[None] | None = None
        self._answer = ""
        self._end: RequestEnd | None = None
        self._error: PenguinError | None = None

    @property
    def session_id(self) -> str:
        """The child's own."""
        return self.session.session_id

    @property
    def at_work(self) -> bool:
        """Whether a task is under way."""
        return self._work is not None and not self._work.done()

    def start(self, text: str, approve: Approve | None, thinking_level: ThinkingLevel | None) -> None:
        """Begin a task."""
        self._answer, self._end, self._error = "", None, None
        self.in_background = self.aborted = False
        message = user_text(text, sender="parent_agent")
        self._run = self.session.run([message], approve=approve, thinking_level=thinking_level)
        self._work = asyncio.create_task(self._follow(self._run), name=f"penguin-subagent-{self.session_id}")

    def steer(self, text: str) -> bool:
        """Say something to the task under way; False when there is none."""
        return self._run is not None and self._run.steer([user_text(text, sender="parent_agent")])

    async def wait(self, seconds: float) -> bool:
        """Wait for the end of the task, at most so long; whether it has ended."""
        if self._work is not None and not self._work.done():
            await asyncio.wait({self._work}, timeout=seconds)
        return not self.at_work

    async def abort(self) -> None:
        """Interrupt the task, and wait until everything of it is closed."""
        if self._run is not None and self.at_work:
            self.aborted = True
            self._run.abort()
        if self._work is not None:
            await asyncio.wait({self._work})

    async def close(self) -> None:
        """Interrupt the task and give the session back."""
        await self.abort()
        await self.session.close()

    def report(self) -> tuple[str, bool]:
        """What the parent is told, and whether the task came to a good end."""
        end, error = self._end, self._error
        if self.at_work:
            return f"[subagent {self.session_id} is still at work]", True
        if self.aborted:
            return f"{self._answer}\n[subagent {self.session_id} was interrupted]".strip(), False
        if error is not None:
            return f"{self._answer}\n[subagent {self.session_id} failed: {error}]".strip(), False
        if end is not None and end.status != "completed":
            why = end.error_message or end.error_code or end.status
            return f"{self._answer}\n[subagent {self.session_id} failed: {why}]".strip(), False
        return f"{self._answer or NO_ANSWER}\n[subagent {self.session_id} has finished]", True

    async def _follow(self, run: Run) -> None:
        try:
            async for emitted in run.emitted():
                message = emitted[0]
                if message.origin is None:
                    self._note(message.payload)
                await self._forwarder.put(emitted)
        except PenguinError as error:  # told to the parent as the child's report
            self._error = error
        finally:
            await run.aclose()

    def _note(self, payload: object) -> None:
        match payload:
            case Text(role="assistant", text=text) if text.strip():
                self._answer = text
            case RequestEnd():
                self._end = payload
            case _:
                pass


async def close_all(children: Sequence[Child]) -> None:
    """Close them, all at the same time."""
    await asyncio.gather(*(child.close() for child in children))
