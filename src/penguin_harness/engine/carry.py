"""What the model is told of work that did not end well: derived from the Trace, never written to it."""

from __future__ import annotations

from collections.abc import Iterator

from penguin_harness.engine.attempt import Attempt, OpenCall
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    RequestEnd,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    block,
)

NOT_RUN = "Tool call not run: the run was interrupted before it was decided."
UNCERTAIN = (
    "Tool call interrupted: the process ended while it ran. Its effect is unknown; "
    "check the state before doing it again."
)
DENIED = "Tool call denied by user."
FORBIDDEN = "Tool call denied by policy."
CUT = (
    "Tool call not run: the answer reached the output limit before the call was complete. "
    "Write in smaller pieces, in several calls."
)


def closing_end(attempt: Attempt) -> RequestEnd:
    """The `request_end` of a request whose process died: completed when its usage is recorded."""
    if attempt.usage is not None:
        return RequestEnd("completed")
    return RequestEnd("aborted", "process_exited", "The process ended during the request.")


def closing_output(call: OpenCall, shown: str = "") -> ToolCallOutput:
    """The output of a call that nobody will answer any more; `shown` is what its tool is known to have said."""
    if call.is_cut:
        return ToolCallOutput("user", CUT, call.call.tool_call_id, stop_reason="fatal")
    text = {"allow": UNCERTAIN, "deny": DENIED, "forbidden": FORBIDDEN, None: NOT_RUN}[call.decision]
    if shown and call.is_uncertain:
        line_end = "" if shown.endswith("\n") else "\n"
        text = f"{shown}{line_end}{text}"
    return ToolCallOutput("user", text, call.call.tool_call_id, stop_reason="aborted")


def aborted_attempt(attempt: Attempt, end: RequestEnd) -> list[CompletePayload]:
    """An attempt that was interrupted, or after which the run gave up: one block, then its images.

    Of a failure that the model had no part in, since it had produced nothing, it is not told.
    """
    produced = list(_produced(attempt))
    if end.status != "aborted" and not produced:
        return []
    if end.status == "aborted" and end.error_code != "process_exited":
        reason = "The user interrupted this answer before it was complete."
    else:
        reason = f"This answer broke off ({end.error_code or end.status}): {end.error_message or 'no details'}"
    return _told(attempt, block("turn_aborted", "\n\n".join((reason, *produced))))


def retried_attempt(attempt: Attempt, end: RequestEnd) -> list[CompletePayload]:
    """An attempt that the engine tried again: a block if it produced something or was malformed, then its images."""
    produced = list(_produced(attempt))
    if not produced and end.error_code != "malformed":
        return []
    reason = f"An earlier attempt at this answer broke off ({end.error_code or end.status})"
    wrong = f": {end.error_message}" if end.error_code == "malformed" and end.error_message else "."
    ran = "Tools that ran are not run again." if attempt.calls else ""
    parts = (part for part in (reason + wrong, ran, *produced) if part)
    return _told(attempt, block("turn_retried", "\n\n".join(parts)))


def _told(attempt: Attempt, text: str) -> list[CompletePayload]:
    images = (image for call in attempt.calls.values() if call.output for image in call.output.images or ())
    return [Text("user", text, sender="harness"), *(ImageUrl("user", image, sender="harness") for image in images)]


def _produced(attempt: Attempt) -> Iterator[str]:
    for content in attempt.content:
        match content:
            case Text(text=text) if text.strip():
                yield f"Text so far:\n{text}"
            case Thinking(thinking=text) if text.strip():
                yield f"Thinking so far:\n{text}"
            case ToolCall():
                yield _call(content, attempt.calls.get(content.tool_call_id))
            case InlineData(mime_type=mime) | InlineThinking(mime_type=mime):
                yield f"Data of type {mime}, left out here."
            case Text() | Thinking():
                continue


def _call(call: ToolCall, known: OpenCall | None) -> str:
    head = f"Tool call {call.name} {call.arguments}"
    if known is None or known.is_cut:
        return f"{head}\nwas cut off and did not run."
    output = known.output or closing_output(known)
    return f"{head}\nOutput ({output.stop_reason}):\n{output.output}"
