"""What a Trace has committed, told without the fold: a second opinion on what the next request must hold."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field

from penguin_harness.omnimessage import (
    AssistantContent,
    CompactionBegin,
    CompactionEnd,
    CompletePayload,
    OmniMessage,
    RequestBegin,
    RequestEnd,
    SessionMeta,
    Text,
    TokenUsage,
    ToolCall,
    ToolCallOutput,
    UserContent,
)


class Committed(Struct):
    """What must stand in the next request."""

    content: list[UserContent | AssistantContent] = field(default_factory=list[UserContent | AssistantContent])
    """What was said, in this order."""
    outputs: list[ToolCallOutput] = field(default_factory=list[ToolCallOutput])
    """Outputs of committed calls."""
    told: list[str] = field(default_factory=list[str])
    """Outputs of tools that ran in an attempt that failed: inside some text."""
    last_request: int | None = None
    """The newest request of this context, counted over the whole session; None when there is none."""


def committed_in(files: Sequence[Sequence[OmniMessage]]) -> Committed:
    """Read the session's files in their order; what counts is the newest context."""
    reader = _Reader()
    for message in (message for file in files for message in file):
        reader.take(message)
    return reader.result()


def assert_holds(told: Sequence[CompletePayload], known: Committed) -> None:
    """Nothing of it is missing from what a request sends, or out of order."""
    rest = iter(told)
    for payload in known.content:
        assert any(payload == one for one in rest), f"{payload} is missing, or out of order"
    answers = {payload.tool_call_id: payload for payload in told if isinstance(payload, ToolCallOutput)}
    for output in known.outputs:
        assert answers[output.tool_call_id] == output
    words = "".join(payload.text for payload in told if isinstance(payload, Text))
    for text in known.told:
        assert text in words, f"{text!r} is not told"


class _Reader:
    def __init__(self) -> None:
        self.known = Committed()
        self._outputs: list[ToolCallOutput] = []
        self._requests = 0
        self._latest: list[AssistantContent] = []
        self._compacting = False

    def take(self, message: OmniMessage) -> None:
        match message.payload:
            case SessionMeta():
                self._begin_context()
            case CompactionBegin():
                self._compacting = True
            case CompactionEnd(status=status):
                self._compacting = False
                if status == "completed":  # the next context holds a summary, or nothing, instead
                    self._begin_context()
            case RequestBegin():
                self._begin_request()
            case ToolCallOutput() as output:
                self._outputs.append(output)
            case TokenUsage() | RequestEnd(status="completed"):
                self._commit()
            case payload:
                self._say(payload)

    def result(self) -> Committed:
        """What was read so far; each output stands with its call, or inside the text about a failed attempt."""
        calls = {payload.tool_call_id for payload in self.known.content if isinstance(payload, ToolCall)}
        self.known.outputs = [output for output in self._outputs if output.tool_call_id in calls]
        self.known.told = [output.output for output in self._outputs if output.tool_call_id not in calls]
        return self.known

    def _say(self, payload: object) -> None:
        if isinstance(payload, UserContent) and payload.role == "user":
            if not self._compacting:
                self.known.content.append(payload)
        elif isinstance(payload, AssistantContent):
            self._latest.append(payload)

    def _begin_context(self) -> None:
        self.known = Committed()
        self._outputs = []
        self._compacting = False

    def _begin_request(self) -> None:
        if not self._compacting:
            self.known.last_request = self._requests
        self._requests += 1
        self._latest = []

    def _commit(self) -> None:
        if not self._compacting:
            self.known.content += self._latest
        self._latest = []
