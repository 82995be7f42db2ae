"""Any order of what may happen to a session; after each step the laws hold.

`PENGUIN_EXAMPLES=500 pytest -n0 tests/laws/test_machine.py` tries more than the usual few.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from penguin_harness import InputError, OmniMessage, Run, Session, user_image, user_text
from penguin_harness.omnimessage import ToolCall, is_recorded
from penguin_harness.omnimessage.check import check_session
from penguin_harness.trace import find_session, read_messages
from tests.double.chat.conversation import PNG
from tests.engine.test_context import assert_legal
from tests.laws.stage import Effects, Relay, plans
from tests.matrix.committed import assert_holds, committed_in
from tests.matrix.crash import whole_lines
from tests.matrix.twin import copy_files
from tests.support import LIMIT, allow, assert_conforms, assert_law_1, live_context, new_agent, quiet

EXAMPLES = int(os.environ.get("PENGUIN_EXAMPLES", "12"))
places = st.integers(1, 30)


class SessionMachine(RuleBasedStateMachine):
    """One session through runs, words in between, interruptions, deaths and resumes."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(mkdtemp(prefix="penguin-"))
        self.runner = asyncio.Runner()
        self.effects = Effects()
        self.model = Relay(self._context)
        self.lives = 0
        self.is_open = False
        """Whether a process died and nothing has run since: the Trace may end in the middle of something."""

    @initialize()
    def begin(self) -> None:
        (self.home / "work").mkdir()
        self.session = self.runner.run(self._create())

    def teardown(self) -> None:
        self.runner.run(self.session.close())
        self.runner.close()
        shutil.rmtree(self.home)

    # What may happen. A rule for something new plans the model's turns, acts, and ends in `_play`, which reads the run
    # under Law 1; the invariants do the rest. A rule that replaces the session also sets `self.session`.

    @rule(plan=plans)
    def run(self, plan: Any) -> None:
        self._play(plan, lambda: self.session.run([user_text("go")], approve=allow))

    @rule(plan=plans)
    def deny(self, plan: Any) -> None:
        self._play(plan, lambda: self.session.run([user_text("go")]))

    @rule(plan=plans, limit=st.integers(1, 2))
    def limit(self, plan: Any, limit: int) -> None:
        self._play(plan, lambda: self.session.run([user_text("go"), user_image(PNG)], approve=allow, max_turns=limit))

    @rule(plan=plans, place=places)
    def steer(self, plan: Any, place: int) -> None:
        def words(run: Run) -> None:
            run.steer([user_text("rather left"), user_image(PNG)])

        self._play(plan, lambda: self.session.run([user_text("go")], approve=allow), place, words)

    @rule(plan=plans, place=places)
    def abort(self, plan: Any, place: int) -> None:
        self._play(plan, lambda: self.session.run([user_text("go")], approve=allow), place, Run.abort)

    @rule(plan=plans)
    def go_on(self, plan: Any) -> None:
        if not live_context(self.session).has_unsent():
            with pytest.raises(InputError, match="nothing to go on with"):
                self.session.run([])
            return
        self._play(plan, lambda: self.session.run([], approve=allow))

    @rule()
    def resume(self) -> None:
        self.runner.run(self._resume(self._root()))

    @rule(plan=plans, place=places)
    def kill(self, plan: Any, place: int) -> None:
        """The process dies behind a message: what is on disk at that moment is all that the next one has."""
        heir = self.home / f"life-{self.lives + 1}"

        def die(run: Run) -> None:
            copy_files(self._root(), heir)
            self.is_open = True
            self.effects.end_life()
            run.abort()

        self._play(plan, lambda: self.session.run([user_text("go")], approve=allow), place, die)
        if heir.exists():
            self.lives += 1
            self.runner.run(self._resume(heir))

    @rule(mode=st.sampled_from(["summarize", "discard"]))
    def compact(self, mode: Any) -> None:
        if self.session.compactability() is None:
            self._play([], lambda: self.session.compact(mode))

    @rule()
    def switch(self) -> None:
        self.model = self.model.another()
        self.runner.run(self._switch())

    @rule()
    def fork(self) -> None:
        if live_context(self.session).turns and not self.is_open:
            self.runner.run(self._fork())

    @invariant()
    def every_request_was_legal(self) -> None:
        before: dict[str, tuple[Any, ...]] = {}
        for sent in self.model.sent:
            messages = tuple(sent.request.messages)
            assert_legal(messages)
            if sent.context:
                known = before.get(sent.context, ())
                assert messages[: len(known)] == known, "a request begins with the one before it in its context"
                before[sent.context] = messages

    @invariant()
    def nothing_ran_twice(self) -> None:
        assert not [mark for mark, times in self.effects.ran.items() if times > 1]

    @invariant()
    def the_trace_obeys_the_protocol(self) -> None:
        if self._files():
            lines = [whole_lines(path.read_bytes()) for path in self._files()]
            assert_conforms(check_session(lines, finished=not self.is_open))
            assert_law_1(self.session)
            assert_legal(self.session.history)

    @invariant()
    def each_committed_call_has_one_output(self) -> None:
        if self._files() and not self.is_open:
            known = committed_in([list(read_messages(path)) for path in self._files()])
            assert_holds(self.session.history, known)
            calls = [payload.tool_call_id for payload in known.content if isinstance(payload, ToolCall)]
            assert sorted(output.tool_call_id for output in known.outputs) == sorted(calls)

    def _play(
        self, plan: Any, start: Callable[[], Run], place: int = 0, act: Callable[[Run], Any] | None = None
    ) -> list[OmniMessage]:
        """A run to its end, its stream under Law 1; `act` comes behind the message at that place."""
        self.model.plan(plan)
        return self.runner.run(self._read(start, place, act))

    async def _read(self, start: Callable[[], Run], place: int, act: Callable[[Run], Any] | None) -> list[OmniMessage]:
        seen: list[OmniMessage] = []
        self.is_open = False
        async with asyncio.timeout(LIMIT):
            run = start()
            async for message in run:
                seen.append(message)
                if is_recorded(message):
                    assert_law_1(self.session)
                if act is not None and len(seen) == place:
                    act(run)
                run.retry_now()
            await quiet(self.session)
        return seen

    def _context(self) -> str:
        return "" if live_context(self.session).compaction is not None else self.session.trace_path.name

    def _root(self) -> Path:
        return self.home / f"life-{self.lives}"

    def _files(self) -> tuple[Path, ...]:
        if not self.session.trace_path.exists():
            return ()
        return find_session(self.session.trace_path.parents[1], self.session.session_id).paths

    async def _create(self) -> Session:
        agent = await new_agent(self._root())
        return await agent.create_session(
            workspace=self.home / "work", model=self.model, tools=[self.effects.tool()], source="api"
        )

    async def _resume(self, root: Path) -> None:
        if not self.session.trace_path.exists():
            return
        before = live_context(self.session)
        await self.session.close()
        agent = await new_agent(root)
        self.session = await agent.resume_session(
            self.session.session_id, model=self.model, tools=[self.effects.tool()]
        )
        assert self.is_open or live_context(self.session) == before

    async def _switch(self) -> None:
        self.is_open = False
        async for _ in await self.session.switch_model(model=self.model):
            assert_law_1(self.session)
        await quiet(self.session)

    async def _fork(self) -> None:
        agent = await new_agent(self._root())
        fork = await agent.fork_session(self.session.session_id, model=self.model, tools=[self.effects.tool()])
        await self.session.close()
        self.session = fork


TestSessionMachine = SessionMachine.TestCase
# Threads and sockets keep their own time: a step may come at another moment when it is tried again, so nothing shrinks.
TestSessionMachine.settings = settings(
    max_examples=EXAMPLES,
    stateful_step_count=12,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
