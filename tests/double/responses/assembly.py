"""An answer out of what it says: items and parts are opened where something is said in them, and closed behind it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

from tests.double.script import Event, Step
from tests.double.steps import Json

ENDS = ("response.completed", "response.incomplete", "response.failed", "error")
EMPTY: dict[str, Json] = {
    "message": {"status": "in_progress", "role": "assistant", "content": []},
    "reasoning": {"summary": []},
    "function_call": {"status": "in_progress", "arguments": ""},
}
SPOKEN = {
    "response.output_text.delta": ("message", "output_text"),
    "response.refusal.delta": ("message", "refusal"),
    "response.reasoning_summary_text.delta": ("reasoning", "summary_text"),
    "response.reasoning_text.delta": ("reasoning", "reasoning_text"),
}
"""The item and the part that a delta belongs to."""


def assembled(pieces: Sequence[Step], tokens: Json) -> list[Step]:
    """A whole answer: its opening, the pieces with all that belongs around them, and an end if they have none."""
    assembly = Assembly(sum(_opens_call(step) for step in pieces))
    for step in pieces:
        assembly.add(step)
    if not assembly.ended:
        assembly.add(Event({"type": "response.completed", "response": {"usage": tokens}}))
    return [Event({"type": "response.created"}), Event({"type": "response.in_progress"}), *assembly.steps]


class Assembly:
    """The answer so far, and the item and part that are open in it."""

    def __init__(self, calls: int) -> None:
        self.steps: list[Step] = []
        self.ended = False
        self._calls = calls
        """How many calls are still to come: a message before one is commentary."""
        self._item: Json | None = None
        self._part: Json | None = None

    def add(self, step: Step) -> None:
        """One more piece; what is no event of the answer keeps its place."""
        if not isinstance(step, Event) or step.bare:
            self.steps.append(step)
            return
        kind = step.data.get("type")
        match kind:
            case "response.output_item.added":
                self._open(step.data["item"])
            case "response.reasoning_summary_part.added":
                self._ensure("reasoning")
                self._close_part("completed")
                self._open_part("summary_text")
            case "response.function_call_arguments.delta":
                self._speak(step.data, self._item or {}, "arguments")
            case str() if kind in SPOKEN:
                self._delta(step.data, *SPOKEN[kind])
            case _:
                self._other(step)

    def _other(self, step: Event) -> None:
        kind = step.data.get("type")
        if kind in ("response.completed", "response.incomplete"):
            self._close("completed" if kind == "response.completed" else "incomplete")
        self.ended |= kind in ENDS
        self.steps.append(step)

    def _delta(self, data: Json, owner: str, kind: str) -> None:
        self._ensure(owner)
        if self._part is None or self._part["type"] != kind:
            self._close_part("completed")
            self._open_part(kind)
        place = self._place()
        self._speak(data | place, self._part or {}, "refusal" if kind == "refusal" else "text")

    def _speak(self, data: Json, into: Json, key: str) -> None:
        into[key] = into.get(key, "") + data["delta"]
        self.steps.append(Event(data))

    def _ensure(self, owner: str) -> None:
        if self._item is None or self._item["type"] != owner:
            self._open({"type": owner})

    def _open(self, item: Json) -> None:
        self._close("completed")
        kind = item["type"]
        self._calls -= kind == "function_call"
        opened = {"type": kind, **deepcopy(EMPTY[kind])}
        if kind == "message":
            opened["phase"] = "commentary" if self._calls else "final_answer"
        self._item = {key: value for key, value in (opened | item).items() if value is not None}
        self._say("response.output_item.added", item=deepcopy(self._item))

    def _open_part(self, kind: str) -> None:
        key = "refusal" if kind == "refusal" else "text"
        self._part = {"type": kind, key: ""} | ({"annotations": [], "logprobs": []} if kind == "output_text" else {})
        parts: list[Json] = (self._item or {}).setdefault(_parts_of(kind), [])
        parts.append(self._part)
        self._say(f"response.{_part_name(kind)}.added", part=dict(self._part), **self._place())

    def _close_part(self, status: str) -> None:
        if self._part is None:
            return
        kind, place = self._part["type"], self._place()
        key = "refusal" if kind == "refusal" else "text"
        name = "reasoning_summary_text" if kind == "summary_text" else kind
        self._say(f"response.{name}.done", **{key: self._part[key]}, **place)
        broken = {"status": status} if kind == "summary_text" and status == "incomplete" else {}
        self._say(f"response.{_part_name(kind)}.done", part=dict(self._part), **broken, **place)
        self._part = None

    def _close(self, status: str) -> None:
        self._close_part(status)
        if self._item is None:
            return
        if self._item["type"] == "function_call":
            self._say("response.function_call_arguments.done", arguments=self._item["arguments"])
        if "status" in self._item:
            self._item["status"] = status
        self._say("response.output_item.done", item=self._item)
        self._item = None

    def _place(self) -> Json:
        """Which part of its item the open one is."""
        kind = (self._part or {})["type"]
        index = len((self._item or {})[_parts_of(kind)]) - 1
        return {"summary_index" if kind == "summary_text" else "content_index": index}

    def _say(self, kind: str, **data: object) -> None:
        self.steps.append(Event({"type": kind, **data}))


def _opens_call(step: Step) -> bool:
    data = step.data if isinstance(step, Event) else {}
    return data.get("type") == "response.output_item.added" and data["item"]["type"] == "function_call"


def _parts_of(kind: str) -> str:
    return "summary" if kind == "summary_text" else "content"


def _part_name(kind: str) -> str:
    return "reasoning_summary_part" if kind == "summary_text" else "content_part"
