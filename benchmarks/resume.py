"""How fast a long Trace is resumed: reading and folding against bare decoding of the same file."""

from __future__ import annotations

import tempfile
import time
from functools import cache
from pathlib import Path

from penguin_harness.engine.context import Context, fold
from penguin_harness.omnimessage import (
    OmniMessage,
    SessionMeta,
    TokenCounts,
    approval_decision,
    assistant_text,
    decode_lines,
    encode,
    request_begin,
    request_end,
    session_meta,
    token_usage,
    tool_call,
    tool_call_output,
    tool_list_ready,
    user_text,
)
from penguin_harness.trace import read_messages

LINES = 100_000


def turn(number: int) -> list[OmniMessage]:
    request = TokenCounts.of(cache_read=1000, cache_write=200, output=50)
    n = number + 1
    session = TokenCounts.of(cache_read=1000 * n, cache_write=200 * n, output=50 * n)
    return [
        request_begin(),
        assistant_text("I look at the next file and say in a sentence or two what I expect to find in it."),
        tool_call("read_file", f'{{"path":"src/module_{number}.py","limit":200}}', f"call_{number}"),
        approval_decision("allow", f"call_{number}"),
        token_usage(session, request),
        request_end(),
        tool_call_output("def function(argument):\n    return argument\n" * 20, f"call_{number}"),
    ]


@cache
def trace() -> Path:
    """A Trace of 100,000 lines, made once."""
    path = Path(tempfile.mkdtemp()) / "session-2026-12-01-09-00-00-00000000_001.jsonl"
    meta = SessionMeta("session-2026-12-01-09-00-00-00000000", "custom", "m", 128_000, "prompt", "/state", "/work")
    messages: list[OmniMessage] = [session_meta(meta), user_text("Read it all."), tool_list_ready([])]
    number = 0
    while len(messages) < LINES:
        messages += turn(number)
        number += 1
    path.write_bytes(b"".join(encode(message) + b"\n" for message in messages))
    return path


def resume_ratio() -> float:
    """CPU time of read and fold, over that of `decode_lines` on the whole file."""
    path = trace()
    started = time.process_time()
    decode_lines(path.read_bytes())
    bare = time.process_time() - started
    started = time.process_time()
    state = Context()
    for message in read_messages(path):
        fold(state, message)
    return (time.process_time() - started) / bare
