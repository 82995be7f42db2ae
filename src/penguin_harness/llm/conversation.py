"""The wire form of one growing conversation: what was encoded for the last request is not encoded again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

from penguin_harness.contracts import Request
from penguin_harness.llm.endpoint import Endpoint
from penguin_harness.llm.wire import Encoded, WireProtocol
from penguin_harness.omnimessage import CompletePayload, ToolSchema

_side = attrgetter("role")


class Conversation:
    """Keeps the encoded form of all messages but those of the side that speaks last, whose message may grow."""

    def __init__(self, protocol: WireProtocol, endpoint: Endpoint) -> None:
        self._protocol = protocol
        self._endpoint = endpoint
        self._settled: tuple[CompletePayload, ...] = ()
        self._encoded = b""  # of what is settled
        self._before: Sequence[CompletePayload] = ()  # its last run
        self._offered: tuple[ToolSchema, ...] = ()
        self._tools: bytes | None = None

    def encode(self, request: Request) -> Encoded:
        """The request's messages and tools as they are sent."""
        return Encoded(self._messages(tuple(request.messages)), self._encoded_tools(request.tools))

    def _messages(self, payloads: tuple[CompletePayload, ...]) -> bytes:
        if not self._is_settled_in(payloads):
            self._settled, self._encoded, self._before = (), b"", ()
        runs = [tuple(run) for _, run in groupby(payloads[len(self._settled) :], _side)]
        last = runs.pop() if runs else ()
        if runs:
            self._encoded = b",".join(self._pieces(*runs))
            self._settled = payloads[: len(payloads) - len(last)]
            self._before = runs[-1]
        return b",".join(self._pieces(last))

    def _is_settled_in(self, payloads: tuple[CompletePayload, ...]) -> bool:
        settled = self._settled
        size = len(settled)
        if payloads[:size] != settled:
            return False
        return size in {0, len(payloads)} or payloads[size].role != payloads[size - 1].role

    def _pieces(self, *runs: Sequence[CompletePayload]) -> Iterator[bytes]:
        if self._encoded:
            yield self._encoded
        before = self._before
        for run in runs:
            yield from self._protocol.messages(run, before, self._endpoint)
            before = run

    def _encoded_tools(self, tools: tuple[ToolSchema, ...]) -> bytes | None:
        if tools is not self._offered:
            self._offered = tools
            self._tools = self._protocol.tools(tools, self._endpoint) if tools else None
        return self._tools
