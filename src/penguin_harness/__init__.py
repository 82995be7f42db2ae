"""PenguinHarness: an agent harness whose stream, Trace, server and model context are one message protocol.

Builders, guards, the codec, the aggregator and the conformance checker are in `penguin_harness.omnimessage`.
"""

from penguin_harness.agent import (
    Agent,
    create_agent,
)
from penguin_harness.contracts import (
    Approve,
    Budget,
    Model,
    ModelRef,
)
from penguin_harness.cost import (
    SessionCost,
    session_cost,
)
from penguin_harness.engine.compaction import (
    CompactionPolicy,
)
from penguin_harness.engine.run import (
    Run,
)
from penguin_harness.errors import (
    ConfigError,
    InputError,
    PenguinError,
    SessionError,
    ToolDefinitionError,
    ToolFailed,
    TraceError,
    TraceLocked,
)
from penguin_harness.llm import (
    ModelFacts,
    Price,
    model_facts,
)
from penguin_harness.omnimessage import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    EventMessage,
    Hook,
    ImageUrl,
    InlineData,
    InlineThinking,
    McpConnectBegin,
    McpConnectEnd,
    ModelMessage,
    OmniMessage,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    RequestBegin,
    RequestEnd,
    SessionMeta,
    SessionMetaMessage,
    Subagent,
    Text,
    Thinking,
    TokenCounts,
    TokenUsage,
    ToolCall,
    ToolCallOutput,
    ToolListReady,
    UnknownMessage,
    user_image,
    user_text,
)
from penguin_harness.opening import (
    Recovery,
)
from penguin_harness.session import (
    Session,
)
from penguin_harness.tools import (
    Tool,
    ToolContext,
    ToolResult,
    tool,
)

__version__ = "0.1.0"

__all__ = [
    "Abort",
    "Agent",
    "ApprovalDecision",
    "Approve",
    "Budget",
    "CompactionBegin",
    "CompactionEnd",
    "CompactionPolicy",
    "ConfigError",
    "EventMessage",
    "Hook",
    "ImageUrl",
    "InlineData",
    "InlineThinking",
    "InputError",
    "McpConnectBegin",
    "McpConnectEnd",
    "Model",
    "ModelFacts",
    "ModelMessage",
    "ModelRef",
    "OmniMessage",
    "PartialText",
    "PartialThinking",
    "PartialToolCall",
    "PartialToolCallOutput",
    "PenguinError",
    "Price",
    "Recovery",
    "RequestBegin",
    "RequestEnd",
    "Run",
    "Session",
    "SessionCost",
    "SessionError",
    "SessionMeta",
    "SessionMetaMessage",
    "Subagent",
    "Text",
    "Thinking",
    "TokenCounts",
    "TokenUsage",
    "Tool",
    "ToolCall",
    "ToolCallOutput",
    "ToolContext",
    "ToolDefinitionError",
    "ToolFailed",
    "ToolListReady",
    "ToolResult",
    "TraceError",
    "TraceLocked",
    "UnknownMessage",
    "__version__",
    "create_agent",
    "model_facts",
    "session_cost",
    "tool",
    "user_image",
    "user_text",
]
