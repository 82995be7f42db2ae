"""The double's memory: scripts, gates and the log; who waits for a change is told of each."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from tests.double.expectation import check_expectation
from tests.double.protocol import Answer, Asked, WireProtocol
from tests.double.protocols import protocol_of
from tests.double.records import Extend, Load, Recorded, Refused, Report, Wait
from tests.double.refusal import Refusal
from tests.double.script import Script, Turn


class Cue(Struct, frozen=True):
    """What a player is to play, and the answer that comes of it."""

    protocol: WireProtocol
    turn: Turn
    answer: Answer


class Lane:
    """One script and how far it has come."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.protocol = protocol_of(script.endpoint)
        self.turns = list(script.turns)
        self.played = 0
        self.past: list[Answer] = []
        """The answers of the context, oldest first."""

    def judge(self, asked: Asked) -> list[Refusal]:
        """Why this request is refused: by the protocol, else by the turn that it meets."""
        turn = self.turns[self.played] if self.played < len(self.turns) else None
        past = self.past if turn is not None and turn.context == "extends" else []
        found = self.protocol.check(asked, self.script.endpoint, past)
        if turn is not None:
            return found or list(check_expectation(self.protocol.words(asked), turn.expect))
        text = f"The script of model '{self.script.model}' is exhausted: it has {self.played} turns."
        return found or [Refusal(text, code="script_exhausted")]

    def take(self, asked: Asked, *, number: int) -> Cue:
        """What answers this accepted request."""
        turn = self.turns[self.played]
        self.played += 1
        answer = Answer(asked, self.script.model, number)
        if turn.context == "new":
            self.past.clear()
        if turn.context != "aside":
            self.past.append(answer)
        return Cue(self.protocol, turn, answer)


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

    def record(self, path: str, asked: Asked, protocol: WireProtocol) -> Recorded:
        number, model = len(self._requests), protocol.model_of(asked)
        self._requests.append(Recorded(number, model, path, asked.headers, asked.body, time.monotonic()))
        return self._requests[-1]

    def models(self, protocol: WireProtocol) -> list[str]:
        """The models that are spoken to in this protocol."""
        return list(dict.fromkeys(model for (model, _), lane in self._lanes.items() if lane.protocol is protocol))

    def answer(self, request: Recorded, asked: Asked, protocol: WireProtocol) -> Cue | Refusal:
        """What answers this request, or the first of the reasons to refuse it, all of them logged."""
        lane = self._lane(request.model, asked, protocol)
        found = lane.judge(asked) if lane is not None else self._stray(request.model, asked, protocol)
        if found or lane is None:
            return self.refuse(request, *found)
        request.turn = lane.played
        return lane.take(asked, number=request.number)

    def refuse(self, request: Recorded, *found: Refusal) -> Refusal:
        request.outcome = "refused"
        for refusal in found:
            fields = (refusal.message, refusal.param, refusal.code, refusal.status)
            self._refusals.append(Refused(request.number, request.model, *fields))
        return found[0]

    def _lane(self, model: str, asked: Asked, protocol: WireProtocol) -> Lane | None:
        lanes = {where: lane for (name, where), lane in self._lanes.items() if name == model}
        lanes = {where: lane for where, lane in lanes.items() if lane.protocol is protocol}
        if any(lanes):
            first = next(iter(protocol.words(asked).users), "")
            return lanes.get(max((where for where in lanes if where in first), key=len, default=""))
        return lanes.get("")

    def _stray(self, model: str, asked: Asked, protocol: WireProtocol) -> list[Refusal]:
        """Why a request is refused that no script is for."""
        lanes = {name: lane for (name, _), lane in self._lanes.items() if lane.protocol is protocol}
        lane = lanes.get(model) if model else next(iter(lanes.values()), None)
        if lane is None:
            text = f"The model `{model}` does not exist or you do not have access to it."
            return [Refusal(text, "model", "model_not_found", 404)]
        found = protocol.check(asked, lane.script.endpoint, ())
        return found or [Refusal(f"No script of model '{model}' is for this conversation.", code="no_script")]

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
