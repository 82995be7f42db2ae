"""Who decides about a call: hooks, then the command policy, then the person."""

from __future__ import annotations

from msgspec import Struct

from penguin_harness.contracts import Approve, Hooks, Invocation, Policy
from penguin_harness.engine.carry import DENIED, FORBIDDEN
from penguin_harness.engine.outlet import Outlet
from penguin_harness.invoke import invoke
from penguin_harness.omnimessage import Decision, ToolCall

NOBODY_ASKED = "Tool call denied: this run has no approval callback."


class Decided(Struct, frozen=True):
    """What was decided, and what the model is told of a refusal."""

    decision: Decision
    refusal: str = ""


ALLOWED = Decided("allow")


class Decider:
    """Decides about the calls of one run, one at a time."""

    def __init__(
        self, outlet: Outlet, approve: Approve | None, *, policy: Policy | None = None, hooks: Hooks | None = None
    ) -> None:
        self._outlet = outlet
        self._approve = approve
        self._policy = policy
        self._hooks = hooks

    async def decide(self, call: ToolCall, invocation: Invocation) -> Decided:
        """A hook's refusal ends it; its consent spares the person the question, never the policy."""
        verdict = None
        if self._hooks is not None:
            verdict = await self._hooks.pre_tool_use(call, invocation.permission, self._outlet.emit)
        if verdict is not None and verdict.decision == "deny":
            why = verdict.reason.strip().rstrip(".") or "no reason given"
            return Decided("deny", f"Tool call denied by the {verdict.name} hook: {why}.")
        if self._policy is not None and (rule := self._policy(call)) is not None:
            return Decided("forbidden", f"{FORBIDDEN} {rule}".strip())
        return ALLOWED if verdict is not None else await self._ask(call)

    async def _ask(self, call: ToolCall) -> Decided:
        if self._approve is None:
            return Decided("deny", NOBODY_ASKED)
        try:
            decision = await invoke(self._approve, call)
        except Exception as error:  # noqa: BLE001 - the caller's function: raising counts as a denial
            text = f"Tool call denied: the approval callback failed with {type(error).__name__}: {error}"
            return Decided("deny", text)
        return ALLOWED if decision == "allow" else Decided("deny", DENIED)
