"""The hooks of one session: asked in order, each within its time, every answer recorded."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from msgspec import structs

from penguin_harness.contracts import EmitEvent, Ended, HookVerdict, Permission
from penguin_harness.errors import ConfigError
from penguin_harness.hooks.answer import Answer, HookFailed, Scalar
from penguin_harness.hooks.occasion import Occasion, Prompt, ProposedCall, TaskEnded, point_of
from penguin_harness.hooks.user_hook import UserHook
from penguin_harness.omnimessage import Hook, Text, ToolCall, UserContent, clean, is_blank

GRACE_S = 0.5
"""How long a hook that is stopped may take to end; one that goes on is dropped."""
SHOWN = 2_000
"""Characters of a text that a record holds."""


class HookSet:
    """Implements the contract `Hooks`, for one session."""

    def __init__(self, hooks: Iterable[UserHook] = (), *, redact: Callable[[str], str] = str) -> None:
        """`redact` removes secret values from all that hooks say. Raises ConfigError for two hooks of one name."""
        self.hooks = tuple(sorted(hooks, key=lambda hook: (hook.order, hook.name)))
        """In the order in which they are asked."""
        twice = [name for name, count in Counter(hook.name for hook in self.hooks).items() if count > 1]
        if twice:
            raise ConfigError(f"two hooks are named {twice[0]!r}; rename one, so that records tell them apart")
        self._redact = redact
        self._round = 0
        self._dropped: set[asyncio.Task[Answer | HookFailed | None]] = set()

    async def user_prompt(self, prompt: Sequence[UserContent], emit: EmitEvent) -> Sequence[Text]:
        """What all of them add behind the prompt."""
        self._round = 0
        occasion = Prompt(tuple(prompt))
        answers = [await self._ask(hook, occasion, emit) for hook in self._concerned(occasion)]
        return [_said(answer.text) for answer in answers if answer is not None and not is_blank(answer.text)]

    async def pre_tool_use(self, call: ToolCall, permission: Permission, emit: EmitEvent) -> HookVerdict | None:
        """The first decision about a call."""
        occasion = ProposedCall(call, permission)
        for hook in self._concerned(occasion):
            answer = await self._ask(hook, occasion, emit)
            if answer is not None and answer.decision in ("allow", "deny"):
                return HookVerdict(answer.decision, hook.name, answer.reason)
        return None

    async def stop(self, ended: Ended, emit: EmitEvent) -> Text | None:
        """The next task, when the first decision is to go on."""
        occasion = TaskEnded(ended.answer, ended.turns, ended.usage, self._round)
        for hook in self._concerned(occasion):
            answer = await self._ask(hook, occasion, emit)
            if answer is not None and answer.decision is not None:
                return self._next_task(answer)
        return None

    def _next_task(self, answer: Answer) -> Text | None:
        if answer.decision != "continue":
            return None
        self._round += 1
        return _said(answer.text)

    def _concerned(self, occasion: Occasion) -> list[UserHook]:
        return [hook for hook in self.hooks if hook.concerns(occasion)]

    async def _ask(self, hook: UserHook, occasion: Occasion, emit: EmitEvent) -> Answer | None:
        clock = asyncio.get_running_loop().time
        began = clock()

        def recorded(outcome: Answer | HookFailed | None) -> Answer | None:
            answer = _refusal(hook, occasion, outcome) if isinstance(outcome, HookFailed) else outcome
            if answer is None:
                return None
            answer = self._presentable(answer)
            output: dict[str, Scalar] = {"duration_ms": round((clock() - began) * 1000), **answer.output}
            emit(Hook(point_of(occasion), hook.name, answer.decision, answer.reason or None, output))
            return answer

        task = asyncio.create_task(_outcome(hook, occasion), name=f"penguin-hook-{hook.name}")
        try:
            await asyncio.wait({task}, timeout=hook.timeout_s)
        except asyncio.CancelledError:
            await self._end(task)
            if task.done() and not task.cancelled() and isinstance(said := task.result(), Answer):
                recorded(said)  # it had decided when the interruption came
            raise
        if task.done():
            return recorded(HookFailed("raised", "it was cancelled") if task.cancelled() else task.result())
        await self._end(task)
        return recorded(HookFailed("timeout", f"it took longer than its {hook.timeout_s:g} s"))

    async def _end(self, task: asyncio.Task[Answer | HookFailed | None]) -> None:
        task.cancel()
        self._dropped.add(task)  # the loop itself would not keep it
        task.add_done_callback(self._dropped.discard)
        await asyncio.wait({task}, timeout=GRACE_S)

    def _presentable(self, answer: Answer) -> Answer:
        """Redacted first and cut then, since half a secret is not found.

        Of a record the end is shown: what a program printed may begin with half a secret.
        """
        output = {
            name: self._safe(value)[-SHOWN:] if isinstance(value, str) else value
            for name, value in answer.output.items()
        }
        return structs.replace(
            answer, reason=self._safe(answer.reason)[:SHOWN], text=self._safe(answer.text), output=output
        )

    def _safe(self, text: str) -> str:
        return self._redact(clean(text)).strip()


async def _outcome(hook: UserHook, occasion: Occasion) -> Answer | HookFailed | None:
    try:
        return await hook.ask(occasion)
    except HookFailed as failure:
        return failure
    except Exception as error:  # noqa: BLE001 - the user's function: what it raises is its failure, and a record
        return HookFailed("raised", f"it raised {type(error).__name__}: {error}")


def _refusal(hook: UserHook, occasion: Occasion, failure: HookFailed) -> Answer:
    """What the failure of a hook stands for."""
    denies = hook.on_failure == "deny" and isinstance(occasion, ProposedCall)
    output: dict[str, Scalar] = {"failure": failure.failure, **failure.details}
    return Answer(decision="deny" if denies else None, reason=f"The hook failed: {failure}.", output=output)


def _said(text: str) -> Text:
    return Text("user", text, sender="harness")
