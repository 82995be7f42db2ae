"""The double's memory: scripts, gates and the log; who waits for a change is told of each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from tests.double import strict_json
from tests.double.prefix import check_expectation, check_prefix
from tests.double.records import Extend, Load, Recorded, Refused, Report, Wait
from tests.double.refusal import Refusal
from tests.double.rules import check
from tests.double.script import Script, Turn
from tests.double.text import model_of, user_texts


class Lane:
    """One script and how far it has come."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.turns = list(script.turns)
        self.played = 0
        self.before: bytes | None = None

    def judge(self, body: bytes, headers: dict[str, str]) -> list[Refusal]:
        """Why this request is refused: by the rules, else by the turn that it meets."""
        found = check(body, headers, self.script.endpoint)
        if found:
            return found
        if self.played == len(self.turns):
            text = f"The script of model '{self.script.model}' is exhausted: it has {self.played} turns."
            return [Refusal(text, code="script_exhausted")]
        turn = self.turns[self.played]
        if self.before is not None and turn.context == "extends":
            found += check_prefix(self.before, body, self.script.endpoint)
        return found + list(check_expectation(body, turn.expect))

    def take(self, body: bytes) -> Turn:
        """The turn that answers this accepted request."""
        turn = self.turns[self.played]
        self.played += 1
        if turn.context != "aside":
            self.before = body
        return turn


class Book:
    """Scripts by model, gates by model and name, requests and refusals in their order."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self.forget()

    def forget(self) -> None:
        self._lanes: dict[tuple[str, str], Lane] = {}
        self._gates: dict[tuple[str, str], asyncio.Event] = {}
        self._waiting: Counter[tuple[str, str]] = Counter()
        self._requests: list[Recorded] = []
        self._refusals: list[Refused] = []

    def load(self, command: Load) -> None:
        self._lanes[command.script.model, command.script.where] = Lane(command.script)

    def extend(self, command: Extend) -> None:
        self._lanes[command.model, command.where].turns += command.turns

    def record(self, path: str, headers: dict[str, str], body: bytes) -> Recorded:
        try:
            model = model_of(strict_json.loads(body))
        except ValueError:
            model = ""
        number = len(self._requests)
        self._requests.append(Recorded(number, model, path, headers, body, time.monotonic()))
        return self._requests[-1]

    def answer(self, request: Recorded) -> Turn | Refusal:
        """The turn for this request, or the first of the reasons to refuse it, all of them logged."""
        lane = self._lane(request)
        found = self._judge(request, lane)
        if found or lane is None:
            return self.refuse(request, *found)
        request.turn = lane.played
        return lane.take(request.body)

    def refuse(self, request: Recorded, *found: Refusal) -> Refusal:
        request.outcome = "refused"
        for refusal in found:
            fields = (refusal.message, refusal.param, refusal.code, refusal.status)
            self._refusals.append(Refused(request.number, request.model, *fields))
        return found[0]

    def _judge(self, request: Recorded, lane: Lane | None) -> list[Refusal]:
        if lane is not None:
            return lane.judge(request.body, request.headers)
        lanes = [script.script.endpoint for (model, _), script in self._lanes.items() if model == request.model]
        if request.model and not lanes:
            text = f"The model `{request.model}` does not exist or you do not have access to it."
            return [Refusal(text, "model", "model_not_found", 404)]
        anyone = next((lane.script.endpoint for lane in self._lanes.values()), Script("").endpoint)
        found = check(request.body, request.headers, lanes[0] if lanes else anyone)
        return found or [Refusal(f"No script of model '{request.model}' is for this conversation.", code="no_script")]

    def _lane(self, request: Recorded) -> Lane | None:
        if not request.model:
            return None
        first = next(iter(user_texts(strict_json.loads(request.body))), "")
        wheres = [where for model, where in self._lanes if model == request.model and where and where in first]
        return self._lanes.get((request.model, max(wheres, key=len, default="")))

    async def pass_gate(self, model: str, name: str) -> None:
        self._waiting[model, name] += 1
        await self.tell()
        try:
            await self._gate(model, name).wait()
        finally:
            self._waiting[model, name] -= 1

    def release(self, model: str, name: str) -> None:
        self._gate(model, name).set()

    def _gate(self, model: str, name: str) -> asyncio.Event:
        return self._gates.setdefault((model, name), asyncio.Event())

    async def tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def wait(self, command: Wait) -> bool:
        """Whether what the command asks for came true in time."""
        return await self._until(lambda: self._is_met(command), command.timeout_ms / 1000)

    async def _until(self, condition: Callable[[], bool], seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(condition)
        except TimeoutError:
            return False
        return True

    def _is_met(self, wait: Wait) -> bool:
        requests = [request for request in self._requests if request.model == wait.model]
        finished = [request for request in requests if request.outcome != "open"]
        reached = wait.gate is None or self._waiting[wait.model, wait.gate] > 0
        return len(requests) >= wait.requests and len(finished) >= wait.finished and reached

    def report(self, *, in_time: bool = True) -> Report:
        left: Counter[str] = Counter()
        for (model, _), lane in self._lanes.items():
            left[model] += len(lane.turns) - lane.played
        waiting = [gate for gate, count in self._waiting.items() if count > 0]
        return Report(self._requests, self._refusals, dict(left), waiting, in_time)
