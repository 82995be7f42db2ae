"""The rules of the protocol, one sentence each; an id names the section, after a dot the rule in it."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Rule(Struct, frozen=True):
    """One thing that a stream or a file must obey."""

    id: str
    text: str
    strict_only: bool = False
    """Whether files of other and older implementations are let off."""


_STRICT = True

_TABLE = (
    Rule("1.1", "A line is one JSON object that reads as an OmniMessage."),
    Rule("1.2", "`type` is `session_meta`, `model_msg` or `event_msg`."),
    Rule("1.3", "`timestamp` is ISO 8601 in UTC with milliseconds and `Z`."),
    Rule("1.4", "`timestamp` never decreases within one session's own messages."),
    Rule("1.5", "`origin` is absent on the main session and otherwise a list of at least one session id."),
    Rule("1.6", "The envelope's keys stand in the order `type`, `timestamp`, `payload`, and `origin` last.", _STRICT),
    Rule("1.7", "A line has no spaces outside its strings, opaque values aside.", _STRICT),
    Rule("1.8", "Absent optional fields are left out, and so is `stop_reason` when it is `completed`.", _STRICT),
    Rule("1.9", "Text is valid Unicode: no lone surrogate, not even as an escape."),
    Rule("1.10", "Fields have the names, types and values of today's tables.", _STRICT),
    Rule("2.1", "The first line of a Trace file is its session_meta."),
    Rule("2.2", "A session id has the form `session-YYYY-MM-DD-HH-mm-ss-<8 hex>`."),
    Rule("2.3", "`agent_state` and `workspace` are absolute paths."),
    Rule("2.4", "`model_context_window` is a positive number of tokens."),
    Rule("2.5", "A Trace file holds one session_meta, since it is one model context."),
    Rule("2.6", "Nothing follows a completed compaction in its Trace file, since the Trace rotates at once."),
    Rule("2.7", "Every session_meta of a session names the same `session_id` and `workspace`."),
    Rule("2.8", "`session_usage` equals the session's totals so far."),
    Rule("2.9", "`protocol` is 1."),
    Rule("3.1", "A payload has the role that its type allows; what the model streams is `assistant`."),
    Rule("3.2", "`tool_call_id` is never empty."),
    Rule("3.3", "`tool_call_id` is unique among the calls of a model context."),
    Rule("3.4", "A tool's output answers a call that was made."),
    Rule("3.5", "`sender` and `carried` stand on user content only."),
    Rule("3.6", "`carried` stands only in the head of a later file, behind its tool list."),
    Rule("3.7", "`fidelity` stands on assistant content only."),
    Rule("3.8", "A tool's images are data URLs, an `image_url` a web or data URL, and `data` is base64."),
    Rule("4.1", "A fragment continues a segment of its kind that its producer began with `start`."),
    Rule("4.2", "A producer has at most one segment open."),
    Rule("4.3", "`start` and `stop` carry no content of their own."),
    Rule("4.4", "The contents of all deltas, joined, equal the complete message's content."),
    Rule("4.5", "The complete message is its producer's very next message after `stop`."),
    Rule("4.6", "`stop` and the complete message have the same `stop_reason`."),
    Rule("4.7", "`name` and `tool_call_id` are the same on every fragment of a call and on the complete call."),
    Rule("4.8", "One delta carries the whole set of images."),
    Rule("4.9", "No segment is left open: it is closed before its request, an abort or the stream ends."),
    Rule("4.10", "Fragments never enter a Trace."),
    Rule("5.1", "`tool_list_ready` comes before a context's first `request_begin`."),
    Rule("5.2", "`tool_list_ready` comes again in a context only if the list has changed.", _STRICT),
    Rule("5.3", "Every `mcp_connect_begin` gets one `mcp_connect_end`, before the tool list that it leads to."),
    Rule("5.4", "An MCP connect round names its servers, and its results are about those, each once."),
    Rule("5.5", "`attempt` counts from 1, and on a completed request from 2."),
    Rule("5.6", "`retry_in_ms` is a wait that stands only on a `retryable` end of a request."),
    Rule("5.7", "`usage` stands only on the end of a request that did not complete."),
    Rule("5.8", "Token counts are not negative and `total` is the other three added."),
    Rule(
        "5.9", "`session` in token_usage is the total before, the usage of failed attempts since, and `request`, added."
    ),
    Rule("5.10", "`compaction_end` repeats the `reason` and `mode` of its `compaction_begin`."),
    Rule("5.11", "The code of `abort` is `user_abort`, `backoff_interrupted` or `compaction_interrupted`."),
    Rule("5.12", "A stop hook decides `continue` or `stop`, a pre_tool_use hook `allow` or `deny`."),
    Rule(
        "6.1", "Every end that is not `completed` has an `error_code`, every failure an `error_message` too.", _STRICT
    ),
    Rule("6.2", "`error_code` is one of the protocol's codes.", _STRICT),
    Rule("6.3", "`error_code` fits the status beside it.", _STRICT),
    Rule("7.1", "`stop_reason` and `status` are `completed`, `aborted`, `retryable` or `fatal`."),
    Rule("7.2", "`abort` marks a user's interruption, never a request's failure.", _STRICT),
    Rule("7.3", "What the user interrupted is followed by `abort` before anything new begins.", _STRICT),
    Rule("7.4", "A tool's output is never `retryable`."),
    Rule("8.1", "A child stream's first message is its session_meta."),
    Rule("8.2", "A child's session_meta names the last id of its `origin`."),
    Rule("8.3", "A message with `origin` is never written to a Trace."),
    Rule("8.4", "A Trace keeps one `subagent` event for each child."),
    Rule("9.1", "`fidelity` is a JSON object."),
    Rule("10.1", "The `subagent` pointer is recorded and not streamed."),
    Rule("10.2", "`carried` copies are recorded and not streamed."),
    Rule("10.3", "The main session's session_meta is streamed by a model switch only, when nothing is open."),
    Rule("10.4", "A session's first file begins with session_meta and the input."),
    Rule("10.5", "A later file begins with session_meta, an MCP pair if there is one, and `tool_list_ready`."),
    Rule("10.6", "A compaction's prompt and a context summary are sent by `harness`, and say so.", _STRICT),
    Rule("11.2a", "An `approval_decision` follows the `tool_call` that it is about."),
    Rule("11.2b", "A call is decided once."),
    Rule("11.2c", "Calls are decided in call order: no earlier one is without decision and output."),
    Rule("11.2d", "Nobody decides a cut, unreadable or unknown call, or one whose request ended without completing."),
    Rule("11.2e", "A tool starts only after its call was decided."),
    Rule("11.3a", "A call gets exactly one complete output."),
    Rule("11.3b", "Every complete call is answered before the next request, user message, compaction mark or abort."),
    Rule("11.3c", "A call that was cut in a request that did not complete gets no output."),
    Rule("11.3d", "The output of a refused call is `aborted`."),
    Rule("11.4a", "`token_usage` is the last message of the model's stream, and `request_end` the next record."),
    Rule("11.4b", "A completed request has its `token_usage`."),
    Rule("11.4c", "A request that did not complete has no `token_usage`."),
    Rule("11.8a", "Every `request_begin` gets one `request_end` before the next one."),
    Rule("11.8b", "Every `compaction_begin` gets one `compaction_end` before the next one."),
    Rule("11.8c", "Assistant messages and `token_usage` stand only inside a request."),
    Rule("11.8d", "User content, outputs aside, stands only outside a request."),
    Rule("11.8e", "Closing goes inside out: request, outputs, compaction, abort."),
    Rule("11.8f", "After `abort` the engine is silent until something new begins."),
    Rule("13.1", "A `carried` message is a copy of an unanswered message from the file before."),
)

RULES: Mapping[str, Rule] = {rule.id: rule for rule in _TABLE}
"""Every rule by its id, in the order of the protocol."""
