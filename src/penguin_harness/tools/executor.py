"""The tools that a session offers: found by name, their arguments read, their calls ready to run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Protocol, TypeAlias

from msgspec import Raw

from penguin_harness.contracts import EmitEvent, Invocation
from penguin_harness.errors import ToolDefinitionError, ToolFailed
from penguin_harness.omnimessage import Text, ToolCall, ToolSchema
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.execution import Execution, Limits
from penguin_harness.tools.recovery import Excerpt, RecoveryFile
from penguin_harness.tools.redact import CleanStream, Redactor
from penguin_harness.tools.segment import Segment
from penguin_harness.tools.tool import Function, Tool, ToolResult, as_tool

Source: TypeAlias = Callable[[], Sequence[Text]]
"""Gives news, each once."""


class Connector(Protocol):
    """Brings tools from elsewhere, as an MCP client does."""

    @property
    def tools(self) -> Sequence[Tool]:
        """What it offers now, in a fixed order."""
        ...

    async def connect(self, emit: EmitEvent) -> None:
        """Bring what is not there yet. Raises nothing."""
        ...

    async def aclose(self) -> None:
        """Give its connections back."""
        ...


class Toolbox:
    """The tools of one session; implements the contract `Tools`."""

    def __init__(
        self,
        tools: Iterable[Tool | Function],
        *,
        context: ToolContext,
        secrets: Collection[str] = (),
        limits: Limits | None = None,
        sources: Sequence[Source] = (),
        connectors: Sequence[Connector] = (),
    ) -> None:
        """Offer tools in the order given, those of the connectors behind them. Raises ToolDefinitionError.

        `secrets` are replaced in every output; `sources` are asked for news, as the context's commands are.
        """
        self._own: dict[str, Tool] = {}
        for each in map(as_tool, tools):
            if each.name in self._own:
                raise ToolDefinitionError(f"two tools are named {each.name!r}; rename one: @tool(name=…)")
            self._own[each.name] = each
        self._sources = (context.processes.news, *sources)
        self._connectors = connectors
        self._context = context
        self._redactor = Redactor(secrets)
        self._limits = limits or Limits()
        self._at_work: set[asyncio.Task[ToolResult]] = set()
        self._offer()

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """As the model is told, in the order given."""
        return self._schemas

    async def connect(self, emit: EmitEvent) -> None:
        """Have every connector bring its tools."""
        for connector in self._connectors:
            await connector.connect(emit)
        if self._connectors:
            self._offer()

    def news(self) -> Sequence[Text]:
        """What happened beside the calls."""
        return [text for source in self._sources for text in source()]

    def prepare(self, call: ToolCall) -> Invocation | str:
        """The call ready to run, or what the model is told because it cannot."""
        tool = self._tools.get(call.name)
        if tool is None:
            offered = f"The tools are: {', '.join(self._tools)}." if self._tools else "There are no tools."
            return f"There is no tool named {call.name!r}. {offered}"
        try:
            arguments = tool.decode(call.arguments)
        except ToolFailed as error:
            return str(error)
        return Execution(tool, arguments, self._context, self._segment(call), self._limits, self._at_work)

    async def aclose(self) -> None:
        """End what the tools started: running calls, commands and all that they left, connections."""
        for task in self._at_work:
            task.cancel()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=self._limits.grace)
        await asyncio.gather(self._context.processes.aclose(), *(connector.aclose() for connector in self._connectors))

    def _offer(self) -> None:
        brought = {each.name: each for connector in self._connectors for each in connector.tools}
        self._tools = self._own | {name: each for name, each in brought.items() if name not in self._own}
        self._schemas = tuple(
            ToolSchema(each.name, each.description, Raw(each.parameters)) for each in self._tools.values()
        )

    def _segment(self, call: ToolCall) -> Segment:
        file = RecoveryFile(lambda: self._context.scratchpad, f"output-{call.tool_call_id}", self._limits.file)
        return Segment(call.tool_call_id, CleanStream(self._redactor), Excerpt(self._limits.output, file))
