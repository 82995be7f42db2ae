"""The cards of one session, found by call id and nothing else; they leave in call order."""

from __future__ import annotations

from penguin_harness.cli.cards import Card
from penguin_harness.omnimessage import Decision, PartialToolCall, PartialToolCallOutput, ToolCall, ToolCallOutput


class Deck:
    """Open and finished cards that are not on the page yet."""

    def __init__(self) -> None:
        self._cards: dict[str, Card] = {}
        self._parked: dict[str, Card] = {}
        self._cut: set[str] = set()

    @property
    def cards(self) -> list[Card]:
        """In call order."""
        return list(self._cards.values())

    def others(self, call_id: str | None) -> list[Card]:
        """All but that one."""
        return [card for known, card in self._cards.items() if known != call_id]

    def add_arguments(self, fragment: PartialToolCall) -> bool:
        """A fragment of a call; False when it continues no call that is being written."""
        if fragment.event_type == "start":
            self._cards[fragment.tool_call_id] = Card(fragment.name)
            return True
        card = self._cards.get(fragment.tool_call_id)
        if card is None or card.state != "writing":
            return False
        card.arguments += fragment.arguments
        return True

    def add_call(self, call: ToolCall) -> None:
        """The whole call."""
        card = self._cards.get(call.tool_call_id)
        if card is None or card.state != "writing":
            card = self._cards[call.tool_call_id] = Card(call.name)
        card.arguments = call.arguments
        card.state = "waiting"
        card.stop_reason = call.stop_reason
        if call.stop_reason != "completed":
            self._cut.add(call.tool_call_id)

    def decide(self, call_id: str, decision: Decision, *, at: str, now: float) -> None:
        """Whether the call runs."""
        card = self._find(call_id)
        if card is not None:
            card.decision, card.decided_at = decision, at
            if decision == "allow":
                card.state, card.since = "running", now

    def add_output(self, fragment: PartialToolCallOutput) -> bool:
        """A fragment of an output; False when it answers no call that is open."""
        card = self._find(fragment.tool_call_id)
        if card is None or card.state == "done":
            return False
        card.add_output(fragment.output)
        return True

    def finish(self, output: ToolCallOutput, *, at: str) -> bool:
        """The answer to a call; False when it answers no call that is open."""
        card = self._find(output.tool_call_id)
        if card is None or card.state == "done":
            return False
        card.output, card.images = output.output, len(output.images or ())
        card.stop_reason, card.state, card.ended_at = output.stop_reason, "done", at
        self._cut.discard(output.tool_call_id)
        return True

    def close_cut(self) -> None:
        """The request failed: its half-written calls get no output."""
        for call_id in self._cut:
            self._cards[call_id].state = "done"
            self._cards[call_id].output = "Not run: the answer broke off while this call was written."
        self._cut.clear()

    def close(self) -> None:
        """The messages are over: what has no output will get none here."""
        for card in self._cards.values():
            if card.state != "done":
                card.state, card.stop_reason = "done", "aborted"
                card.output = card.output or "No output is recorded."

    def park(self) -> list[Card]:
        """The messages pause: the open cards leave, and are back with the next word about them."""
        parked = {call_id: card for call_id, card in self._cards.items() if card.state != "done"}
        for call_id in parked:
            del self._cards[call_id]
        self._parked.update(parked)
        return list(parked.values())

    def take_finished(self) -> list[Card]:
        """The finished cards whose predecessors are finished too."""
        taken: list[Card] = []
        for call_id, card in list(self._cards.items()):
            if card.state != "done":
                break
            taken.append(self._cards.pop(call_id))
        return taken

    def _find(self, call_id: str) -> Card | None:
        if call_id in self._parked:
            self._cards[call_id] = self._parked.pop(call_id)
        return self._cards.get(call_id)
