"""The tools that a session offers: found by name, their arguments read, their calls ready to run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence

from msgspec import Raw

from penguin_harness.contracts import EmitEvent, Invocation
from penguin_harness.errors import ToolDefinitionError, ToolFailed
from penguin_harness.omnimessage import Text, ToolCall, ToolSchema
from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.execution import Execution, Limits
from penguin_harness.tools.recovery import Head, RecoveryFile
from penguin_harness.tools.redact import CleanStream, Redactor
from penguin_harness.tools.segment import Segment
from penguin_harness.tools.tool import Function, Tool, ToolResult, as_tool


class Toolbox:
    """The tools of one session; implements the contract `Tools`."""

    def __init__(
        self,
        tools: Iterable[Tool | Function],
        *,
        context: ToolContext,
        secrets: Collection[str] = (),
        limits: Limits | None = None,
        sources: Sequence[Callable[[], Sequence[Text]]] = (),
    ) -> None:
        """Offer tools in the order given; `secrets` are replaced in every output. Raises ToolDefinitionError.

        `sources` are asked for news.
        """
        self._sources = sources
        self._tools: dict[str, Tool] = {}
        for each in map(as_tool, tools):
            if each.name in self._tools:
                raise ToolDefinitionError(f"two tools are named {each.name!r}; rename one: @tool(name=…)")
            self._tools[each.name] = each
        self._schemas = tuple(
            ToolSchema(each.name, each.description, Raw(each.parameters)) for each in self._tools.values()
        )
        self._context = context
        self._redactor = Redactor(secrets)
        self._limits = limits or Limits()
        self._at_work: set[asyncio.Task[ToolResult]] = set()

    @property
    def schemas(self) -> tuple[ToolSchema, ...]:
        """As the model is told, in the order given."""
        return self._schemas

    async def connect(self, emit: EmitEvent) -> None:
        """Nothing connects late."""

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
        """End what the tools started: running calls, child processes, and what those left in the background."""
        for task in self._at_work:
            task.cancel()
        if self._at_work:
            await asyncio.wait(self._at_work, timeout=self._limits.grace)
        await self._context.processes.aclose()

    def _segment(self, call: ToolCall) -> Segment:
        file = RecoveryFile(lambda: self._context.scratchpad, f"output-{call.tool_call_id}", self._limits.file)
        return Segment(call.tool_call_id, CleanStream(self._redactor), Head(self._limits.output, file))
