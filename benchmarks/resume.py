"""How fast a long Trace is resumed: reading and folding against bare decoding of the same file."""

from __future__ import annotations

import gc
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from penguin_harness.engine.context import Context, fold_all
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

WORTH_MEASURING = 1_000_000
"""Lines."""


class Cost(NamedTuple):
    """CPU seconds of read and fold, and their ratio to those of `decode_lines` on the whole file."""

    seconds: float
    ratio: float


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
def trace(lines: int) -> Path:
    """A Trace of so many lines, made once."""
    path = Path(tempfile.mkdtemp()) / "session-2026-12-01-09-00-00-00000000_001.jsonl"
    meta = SessionMeta("session-2026-12-01-09-00-00-00000000", "custom", "m", 128_000, "prompt", "/state", "/work")
    head: list[OmniMessage] = [session_meta(meta), user_text("Read it all."), tool_list_ready([])]
    with path.open("wb") as file:
        file.writelines(encode(message) + b"\n" for message in head)
        for number in range((lines - len(head)) // len(turn(0))):
            file.writelines(encode(message) + b"\n" for message in turn(number))
    return path


def resume_cost(lines: int) -> Cost:
    """Resume the Trace of so many lines, and decode it bare; small ones several times, in turns."""
    path = trace(lines)
    bare = seconds = 0.0
    times = max(1, WORTH_MEASURING // lines)
    _cpu(decode_bare, path)
    for _ in range(times):
        bare += _cpu(decode_bare, path)
        seconds += _cpu(resume, path)
    return Cost(seconds / times, seconds / bare)


def decode_bare(path: Path) -> None:
    decode_lines(path.read_bytes())


def resume(path: Path) -> None:
    fold_all(Context(), read_messages(path))


def _cpu(work: Callable[[Path], None], path: Path) -> float:
    gc.collect()
    started = time.process_time()
    work(path)
    return time.process_time() - started
