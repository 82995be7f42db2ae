"""What the state machine's session talks to: a model with a plan for each step, and a tool that counts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.contracts import CallDelta, ModelItem, ModelRef, Outcome, Request
from penguin_harness.llm.script import Script, ScriptItem, call, fail, say, think
from penguin_harness.omnimessage import AssistantContent, ToolCall


class Sent(Struct, frozen=True):
    """A request, and the context that it belongs to."""

    context: str
    """The name of its Trace file; of a request aside, as a compaction's, it is empty."""
    request: Request


class Relay:
    """Plays the plan of the step under way; whatever is asked beyond it is answered."""

    def __init__(self, context: Callable[[], str], name: str = "relay") -> None:
        self.ref = ModelRef("script", name)
        self.context_window = 128_000
        self.sent: list[Sent] = []
        self._context = context
        self._script = Script([])

    def another(self) -> Relay:
        """A model of another name; what both are asked stands in one list."""
        other = Relay(self._context, f"{self.ref.model_id}'")
        other.sent = self.sent
        return other

    def plan(self, turns: Sequence[Sequence[ScriptItem]]) -> None:
        self._script = Script([*turns, *[[say("[summary]ok[/summary]")]] * 12])

    async def stream(self, request: Request) -> AsyncGenerator[ModelItem, None]:
        self.sent.append(Sent(self._context(), replace(request, messages=tuple(request.messages))))
        async with aclosing(self._script.stream(request)) as items:
            async for item in items:
                yield item

    async def aclose(self) -> None:
        pass


class Effects:
    """A tool whose every call has a mark of its own; none may run twice."""

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self._life = 0

    def end_life(self) -> None:
        """The process is dead: what its tools still do in this one does not count."""
        self._life += 1

    def tool(self) -> Callable[[str], str]:
        life = self._life

        def count(mark: str) -> str:
            """Count a mark."""
            self.ran[mark] += life == self._life
            return f"counted {mark}"

        return count


_marks = itertools.count()


def marked(turns: Sequence[Sequence[ScriptItem]]) -> list[list[ScriptItem]]:
    """The turns, each counting call with a mark that no other has."""
    return [[_marked(item) for item in turn] for turn in turns]


def _marked(item: ScriptItem) -> ScriptItem:
    if isinstance(item, ToolCall) and item.name == "count":
        return replace(item, arguments=f'{{"mark":"m{next(_marks)}"}}')
    return item


def _turn(content: list[AssistantContent], ending: Sequence[ModelItem]) -> list[Any]:
    return [*content, *ending]


CUT_CALL = CallDelta(99, '{"mark":"cu', "cut", "count")
ENDINGS: list[tuple[ModelItem, ...]] = [
    (),
    (),
    (),
    (fail("retryable", "network", "reset"),),
    (fail("retryable", "malformed", "odd"),),
    (CUT_CALL, fail("retryable", "network", "reset")),
    (CUT_CALL, Outcome("completed", "output_limit")),
    (fail("fatal", "rejected", "no"),),
]

ids = st.sampled_from(["a", "b", "c#1"])
spoken: st.SearchStrategy[AssistantContent] = st.one_of(
    st.just(say("I look — 👩‍💻.")),
    st.just(think("hm", fidelity=b'{"signature":"s","n":1.0}')),
    ids.map(lambda name: call("count", id=name, mark="")),
    ids.map(lambda name: call("count", id=name, mrk="misspelt")),
    ids.map(lambda name: call("nobody knows", id=name)),
)
turns: st.SearchStrategy[list[ScriptItem]] = st.builds(
    _turn, st.lists(spoken, min_size=1, max_size=4), st.sampled_from(ENDINGS)
)
plans = st.lists(turns, min_size=1, max_size=4).map(marked)
