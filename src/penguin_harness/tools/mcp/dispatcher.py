"""The SDK's JSON-RPC half, easy on servers: one odd tool or notification costs that alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from anyio.abc import TaskStatus
from mcp.shared.dispatcher import CallOptions, DispatchContext, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp.shared.transport_context import TransportContext

from penguin_harness.tools.mcp.listing import usable
from penguin_harness.tools.mcp.log import ServerLog
from penguin_harness.tools.mcp.transport import Streams


class Dispatcher(JSONRPCDispatcher[TransportContext]):
    """Correlates requests and answers of one connection."""

    def __init__(self, streams: Streams, log: ServerLog) -> None:
        super().__init__(*streams)
        self._log = log
        self.has_other_tools = False
        """The server has said that its list is another one now."""

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
        *,
        _related_request_id: int | str | None = None,
    ) -> dict[str, Any]:
        """As the SDK's, with tool lists made fit and results without content accepted."""
        raw = await super().send_raw_request(method, params, opts, _related_request_id=_related_request_id)
        if method == "tools/list":
            return {**raw, "tools": usable(raw.get("tools"), self._log.note)}
        return {"content": [], **raw} if method == "tools/call" else raw

    async def run(
        self,
        on_request: OnRequest,
        on_notify: OnNotify,
        on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """As the SDK's, but notifications come here, where none is too odd."""
        await super().run(on_request, self._notified, task_status=task_status)

    async def _notified(
        self, context: DispatchContext[TransportContext], method: str, params: Mapping[str, Any] | None
    ) -> None:
        match method, params:
            case "notifications/tools/list_changed", _:
                self.has_other_tools = True
            case "notifications/message", {"level": level, "data": data}:
                self._log.line(f"{level}: {data}")
            case _:
                pass
