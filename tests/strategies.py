"""Hypothesis strategies for messages: every kind, every optional field, any text."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import UNSET, Raw

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
    KnownMessage,
    McpConnectBegin,
    McpConnectEnd,
    McpResult,
    ModelMessage,
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
    ToolSchema,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
session_ids = st.from_regex(r"session-20\d\d-1[0-2]-[0-2]\d-0\d-[0-5]\d-[0-5]\d-[0-9a-f]{8}", fullmatch=True)
timestamps = st.from_regex(r"20\d\d-1[0-2]-[0-2][1-8]T0\d:[0-5]\d:[0-5]\d\.\d{3}Z", fullmatch=True)
counts = st.integers(0, 10**12)
stops = st.sampled_from(["completed", "aborted", "retryable", "fatal"])
scalars = st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False), texts)
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
objects = st.dictionaries(texts, json_values, max_size=4).map(lambda value: Raw(msgspec.json.encode(value)))
fidelities = st.one_of(st.just(UNSET), objects)
tokens = st.builds(TokenCounts.of, cache_read=counts, cache_write=counts, output=counts)
images = st.none() | st.lists(texts, min_size=1, max_size=2).map(tuple)
senders = st.sampled_from([None, "user", "parent_agent", "harness", "server"])
kinds = st.sampled_from(["start", "delta", "stop"])
codes = st.none() | st.sampled_from(["network", "auth", "something_new"])
user, assistant, either = st.just("user"), st.just("assistant"), st.sampled_from(["user", "assistant"])
optional_texts = st.none() | texts
optional_counts = st.none() | counts

schemas = st.builds(ToolSchema, texts, texts, fidelities)
mcp_results = st.builds(
    McpResult, texts, st.sampled_from(["stdio", "http", "sse"]), stops, counts, optional_counts, codes, optional_texts
)

payloads = st.one_of(
    st.builds(Text, either, texts, senders, st.booleans(), stops, fidelities),
    st.builds(Thinking, assistant, texts, stops, fidelities),
    st.builds(InlineThinking, assistant, texts, texts, stops, fidelities),
    st.builds(ToolCall, assistant, texts, texts, texts, stops, fidelities),
    st.builds(ToolCallOutput, user, texts, texts, images, stops),
    st.builds(ImageUrl, user, texts, senders, st.booleans(), stops),
    st.builds(InlineData, either, texts, texts, senders, st.booleans(), stops, fidelities),
    st.builds(PartialText, either, kinds, texts, stops),
    st.builds(PartialThinking, assistant, kinds, texts, stops),
    st.builds(PartialToolCall, assistant, kinds, texts, texts, texts, stops),
    st.builds(PartialToolCallOutput, user, kinds, texts, texts, images, stops),
)

modes = st.sampled_from(["summarize", "discard"])
reasons = st.sampled_from(["context", "turns", "manual"])

events: st.SearchStrategy[Any] = st.one_of(
    st.builds(ToolListReady, st.lists(schemas, max_size=3).map(tuple)),
    st.builds(McpConnectBegin, st.lists(texts, max_size=3).map(tuple)),
    st.builds(McpConnectEnd, stops, st.lists(mcp_results, max_size=2).map(tuple), codes, optional_texts),
    st.builds(RequestBegin),
    st.builds(RequestEnd, stops, codes, optional_texts, optional_counts, optional_counts, st.none() | tokens),
    st.builds(ApprovalDecision, st.sampled_from(["allow", "deny", "forbidden"]), texts),
    st.builds(TokenUsage, tokens, tokens, st.booleans()),
    st.builds(CompactionBegin, reasons, modes, counts, counts),
    st.builds(CompactionEnd, reasons, modes, stops, optional_counts, codes, optional_texts),
    st.builds(Abort, texts, optional_texts),
    st.builds(Subagent, session_ids),
    st.builds(
        Hook,
        st.sampled_from(["stop", "pre_tool_use", "user_prompt"]),
        texts,
        st.sampled_from([None, "continue", "stop", "allow", "deny"]),
        optional_texts,
        st.none() | st.dictionaries(texts, scalars, max_size=3),
    ),
)

metas = st.builds(
    SessionMeta,
    session_ids,
    texts,
    texts,
    counts,
    texts,
    texts,
    texts,
    st.sampled_from(["user", "api", "schedule", "subagent", "cli"]),
    st.none() | tokens,
    st.integers(1, 3),
)

origins = st.none() | st.lists(session_ids, min_size=1, max_size=3).map(tuple)

messages: st.SearchStrategy[KnownMessage] = st.one_of(
    st.builds(SessionMetaMessage, timestamps, metas, origins),
    st.builds(ModelMessage, timestamps, payloads, origins),
    st.builds(EventMessage, timestamps, events, origins),
)
