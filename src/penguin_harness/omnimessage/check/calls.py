"""Tool calls: decided once and in order, answered exactly once (sections 3 and 11)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import msgspec
from msgspec import Raw

from penguin_harness.omnimessage.check.report import Findings
from penguin_harness.omnimessage.events import ApprovalDecision, Decision
from penguin_harness.omnimessage.payloads import PartialToolCallOutput, StopReason, ToolCall, ToolCallOutput


@dataclass
class _Call:
    id: str
    barred: str | None = None
    """Why nobody may be asked."""
    cut: bool = False
    seen: bool = True
    """False for a call from before the sequence began."""
    decision: Decision | None = None
    started: bool = False
    answered: bool = False
    request: StopReason | None = None
    """How its request ended; None while it runs."""

    @property
    def owes_output(self) -> bool:
        return not self.answered and not (self.cut and self.request != "completed")


class Calls:
    """The calls of one model context."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._calls: dict[str, _Call] = {}

    def call(self, payload: ToolCall, offered: AbstractSet[str] | None) -> None:
        """The model asks for a tool; `offered` are the names on the tool list, if that is known."""
        if payload.tool_call_id in self._calls:
            self._findings.broken("3.3", f"a second call {payload.tool_call_id!r}")
        cut = payload.stop_reason != "completed"
        self._calls[payload.tool_call_id] = _Call(payload.tool_call_id, _barred(payload, offered), cut)

    def decide(self, payload: ApprovalDecision, *, joined: bool) -> None:
        """A call is decided; `joined` when the sequence began after its call may have been made."""
        call = self._find(payload.tool_call_id, joined=joined)
        if call is None:
            self._findings.broken("11.2a", f"a decision on {payload.tool_call_id!r}, which was not called")
            return
        self._check_decision(call)
        call.decision = payload.decision

    def start(self, payload: PartialToolCallOutput, *, joined: bool) -> bool:
        """A fragment of an output; False when it is better left aside."""
        call = self._find(payload.tool_call_id, joined=joined)
        if call is None:
            self._findings.broken("3.4", f"a fragment of an output of {payload.tool_call_id!r}, which was not called")
            call = self._adopt(payload.tool_call_id)
        if call.answered:
            self._findings.broken("11.3a", f"another output of {call.id!r} begins")
            if payload.event_type != "start":
                return False
            call.answered = False
        call.started = True
        return True

    def answer(self, payload: ToolCallOutput, *, joined: bool) -> None:
        """A complete output."""
        call = self._find(payload.tool_call_id, joined=joined)
        if call is None:
            self._findings.broken("3.4", f"an output of {payload.tool_call_id!r}, which was not called")
            return
        self._check_answer(call, payload.stop_reason)
        call.answered = True

    def request_ended(self, status: StopReason) -> None:
        """The request that made the latest calls ended."""
        for call in self._calls.values():
            if call.request is None:
                call.request = status
                if call.cut and call.answered and status != "completed":
                    self._findings.broken("11.3c", f"{call.id!r} was cut in a request that ended {status}")

    def owing(self) -> tuple[str, ...]:
        """The calls that wait for an output."""
        return tuple(call.id for call in self._calls.values() if call.owes_output)

    def settle(self, before: str) -> bool:
        """Every call must be answered here; whether one was not."""
        owing = self.owing()
        if owing:
            self._findings.broken("11.3b", f"{before} while {', '.join(map(repr, owing))} is not answered")
        return bool(owing)

    def give_up(self) -> None:
        """No open call is waited for any longer."""
        for call in self._calls.values():
            call.answered = True

    def clear(self) -> None:
        """A new context begins, with ids of its own."""
        self._calls.clear()

    def _find(self, tool_call_id: str, *, joined: bool) -> _Call | None:
        if tool_call_id not in self._calls and joined:
            return self._adopt(tool_call_id)
        return self._calls.get(tool_call_id)

    def _adopt(self, tool_call_id: str) -> _Call:
        call = self._calls[tool_call_id] = _Call(tool_call_id, seen=False, request="completed")
        return call

    def _check_decision(self, call: _Call) -> None:
        earlier = self._undecided_before(call)
        if call.decision is not None:
            self._findings.broken("11.2b", f"a second decision on {call.id!r}")
        elif call.started or call.answered:
            self._findings.broken("11.2e", f"{call.id!r} is decided after its output began")
        elif call.cut:
            self._findings.broken("11.2d", f"{call.id!r} was cut")
        elif call.barred:
            self._findings.broken("11.2d", f"{call.id!r} cannot run: {call.barred}")
        elif call.request not in {None, "completed"}:
            self._findings.broken("11.2d", f"the request of {call.id!r} ended {call.request}")
        elif earlier:
            self._findings.broken("11.2c", f"{call.id!r} is decided before {earlier!r}")

    def _undecided_before(self, call: _Call) -> str | None:
        for other in self._calls.values():
            if other is call:
                return None
            if not (other.decision or other.answered or other.cut):
                return other.id
        return None

    def _check_answer(self, call: _Call, stop_reason: StopReason) -> None:
        if call.answered:
            self._findings.broken("11.3a", f"a second output of {call.id!r}")
        elif call.cut and call.request not in {None, "completed"}:
            self._findings.broken("11.3c", f"{call.id!r} was cut in a request that ended {call.request}")
        elif call.decision in {"deny", "forbidden"} and stop_reason != "aborted":
            self._findings.broken("11.3d", f"the output of {call.id!r}, which was refused, is {stop_reason}")
        elif call.decision is None and call.seen and stop_reason == "completed":
            self._findings.broken("11.2e", f"{call.id!r} has a result and was not decided")


def _barred(call: ToolCall, offered: AbstractSet[str] | None) -> str | None:
    if offered is not None and call.name not in offered:
        return f"no tool {call.name!r} is offered"
    if not call.arguments.strip():
        return None
    try:
        msgspec.json.decode(call.arguments, type=dict[str, Raw])
    except (msgspec.MsgspecError, RecursionError):
        return f"its arguments are {call.arguments[:80]!r}"
    return None
