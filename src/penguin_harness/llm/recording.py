"""What was asked and said, turn by turn: in a recording, and in a request."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, structs

from penguin_harness.contracts import Outcome
from penguin_harness.llm.ids import provider_id
from penguin_harness.omnimessage import (
    AssistantContent,
    CompactionBegin,
    CompactionEnd,
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    OmniMessage,
    RequestBegin,
    RequestEnd,
    SessionMeta,
    Text,
    Thinking,
    TokenCounts,
    TokenUsage,
    ToolCall,
    ToolCallOutput,
)

_CARRY_OVER = ("[turn_aborted]", "[turn_retried]")  # derived for the model, in no Trace


class Turn(Struct, frozen=True):
    """What was asked, and what the model said to it."""

    asked: tuple[str, ...] = ()
    said: tuple[AssistantContent, ...] = ()
    answered: tuple[str, ...] = ()
    """The ids of the calls whose outputs were part of the question."""
    outcome: Outcome = Outcome("completed")


class Recording:
    """The committed turns of each model context of a Trace; child sessions and compactions are left out."""

    def __init__(self, messages: Iterable[OmniMessage]) -> None:
        self.window = 0
        self.contexts: list[list[Turn]] = []
        self._compacting = False
        self._heard: list[CompletePayload] = []
        self._said: list[AssistantContent] = []
        self._usage: TokenCounts | None = None
        for message in messages:
            if message.origin is not None:
                continue
            match message.payload:
                case SessionMeta(model_context_window=window):
                    self._begin_context(window)
                case CompactionBegin():
                    self._compacting = True
                case CompactionEnd():
                    self._compacting = False
                case payload if not self._compacting:
                    self._take(payload)
                case _:
                    pass

    def _begin_context(self, window: int) -> None:
        self.window = self.window or window
        self.contexts.append([])
        self._heard, self._compacting = [], False

    def _take(self, payload: object) -> None:
        match payload:
            case RequestBegin():
                self._said, self._usage = [], None
            case TokenUsage(request=counts, estimated=estimated):
                self._usage = None if estimated else counts
            case RequestEnd(status="completed", error_code=code):
                self._commit(cut=code == "output_limit")
            case ImageUrl() | Text(role="user") | InlineData(role="user"):
                self._heard.append(payload)
            case Text() | Thinking() | InlineThinking() | ToolCall() | InlineData():
                self._said.append(payload)
            case _:
                pass

    def _commit(self, *, cut: bool) -> None:
        if not self.contexts:
            self.contexts.append([])
        context = self.contexts[-1]
        turn = _turn(self._heard, self._said)
        answered = _calls(context[-1]) if context else ()
        outcome = Outcome("completed", "output_limit" if cut else None, usage=self._usage)
        context.append(structs.replace(turn, answered=answered, outcome=outcome))
        self._heard = []


def conversation(payloads: Iterable[CompletePayload]) -> list[Turn]:
    """The turns of a request; the last one has nothing said yet."""
    turns, heard, said = list[Turn](), list[CompletePayload](), list[AssistantContent]()
    for payload in payloads:
        if isinstance(payload, ToolCallOutput | ImageUrl) or payload.role == "user":
            if said:
                turns.append(_turn(heard, said))
                heard, said = [], []
            heard.append(payload)
        else:
            said.append(payload)
    if said:
        turns.append(_turn(heard, said))
        heard = []
    return [*turns, _turn(heard, ())]


def _turn(heard: Iterable[CompletePayload], said: Iterable[AssistantContent]) -> Turn:
    asked, answered = list[str](), list[str]()
    for payload in heard:
        match payload:
            case Text(text=text) if not text.startswith(_CARRY_OVER):
                asked.append(text)
            case ImageUrl(image_url=url):
                asked.append(url)
            case InlineData(data=data):
                asked.append(data)
            case ToolCallOutput(tool_call_id=call_id):
                answered.append(provider_id(call_id))
            case _:
                pass
    return Turn(tuple(asked), tuple(map(_as_said, said)), tuple(answered))


def _as_said(payload: AssistantContent) -> AssistantContent:
    """The payload as the provider gave it: its own call id, and no mark of how it ended."""
    if isinstance(payload, ToolCall):
        payload = structs.replace(payload, tool_call_id=provider_id(payload.tool_call_id))
    return structs.replace(payload, stop_reason="completed")


def _calls(turn: Turn) -> tuple[str, ...]:
    return tuple(payload.tool_call_id for payload in turn.said if isinstance(payload, ToolCall))
