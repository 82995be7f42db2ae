"""The tail journal by itself: what is read back is what was written down of the segments that are still open."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penguin_harness import omnimessage as om
from penguin_harness.contracts import Half, Place
from penguin_harness.omnimessage import (
    FragmentKind,
    PartialPayload,
    PartialText,
    PartialThinking,
    PartialToolCall,
    PartialToolCallOutput,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
)
from penguin_harness.trace import TailJournal
from penguin_harness.trace.journal import FLUSH_AFTER
from tests.strategies import texts
from tests.support import until

HERE = Place("session_001.jsonl", 1, 0)


def journal(folder: Path, place: Place = HERE) -> TailJournal:
    return TailJournal(folder / "session.tail", lambda: place)


def fragment(kind: str, event: FragmentKind, text: str = "") -> PartialPayload:
    """A fragment of the model's, or of a tool's when `kind` is a call's id."""
    match kind:
        case "text":
            return PartialText("assistant", event, text)
        case "thinking":
            return PartialThinking("assistant", event, text)
        case "call":
            return PartialToolCall("assistant", event, "exec_command", text, "c")
        case _:
            return PartialToolCallOutput("user", event, text, kind)


def half(kind: str, text: str) -> Half:
    match kind:
        case "text":
            return Text("assistant", text, stop_reason="aborted")
        case "thinking":
            return Thinking("assistant", text, "aborted")
        case "call":
            return ToolCall("assistant", "exec_command", text, "c", "aborted")
        case _:
            return ToolCallOutput("user", text, kind, stop_reason="aborted")


async def shown(tail: TailJournal, kind: str, *pieces: str) -> None:
    """Show a segment's start and its pieces, each written down by itself."""
    tail.note(fragment(kind, "start"))
    for piece in pieces:
        tail.note(fragment(kind, "delta", piece))
        tail.flush()


@pytest.mark.parametrize("kind", ["text", "thinking", "call", "a"])
async def test_what_was_shown_of_a_segment_is_read_back_as_the_interrupted_message(tmp_path: Path, kind: str) -> None:
    await shown(journal(tmp_path), kind, "hal", "f 👩‍💻\n", "\u2028")
    assert journal(tmp_path).halves() == [half(kind, "half 👩‍💻\n\u2028")]


async def test_the_name_of_a_call_is_kept_before_its_first_argument(tmp_path: Path) -> None:
    tail = journal(tmp_path)
    tail.note(fragment("call", "start"))
    tail.flush()
    assert journal(tmp_path).halves() == [half("call", "")]


async def test_a_tool_that_says_nothing_makes_no_file(tmp_path: Path) -> None:
    tail = journal(tmp_path)
    tail.note(fragment("a", "start"))
    tail.flush()
    assert not tail.path.exists()


async def test_it_is_written_in_time_by_itself_and_goes_with_the_last_open_segment(tmp_path: Path) -> None:
    loop, tail = asyncio.get_running_loop(), journal(tmp_path)
    began = loop.time()
    tail.note(fragment("text", "start"))
    tail.note(fragment("text", "delta", "x"))
    tail.note(fragment("a", "start"))
    tail.note(fragment("a", "delta", "y"))
    await until(tail.path.exists)
    assert FLUSH_AFTER <= 0.1 <= loop.time() - began + 0.01
    assert journal(tmp_path).halves() == [half("text", "x"), half("a", "y")]
    tail.recorded(Text("assistant", "x"))
    assert tail.path.exists()
    tail.recorded(ToolCallOutput("user", "y", "a"))
    assert not tail.path.exists()


async def test_a_short_segment_never_touches_the_disk(tmp_path: Path) -> None:
    tail = TailJournal(tmp_path / "no" / "such" / "folder", lambda: HERE)
    for _ in range(3):
        tail.note(fragment("text", "start"))
        tail.note(fragment("text", "delta", "x"))
        tail.recorded(Text("assistant", "x"))
    tail.close()
    assert tail.error is None


@pytest.mark.parametrize(
    "there",
    [Place("session_002.jsonl", 1, 0), Place("session_001.jsonl", 2, 0), Place("session_001.jsonl", 1, 1)],
    ids=["file", "request", "content"],
)
async def test_an_entry_counts_at_its_own_place_only(tmp_path: Path, there: Place) -> None:
    """Of an output the place is its call, whatever the request says behind it."""
    tail = journal(tmp_path)
    await shown(tail, "text", "x")
    await shown(tail, "a", "y")
    outputs = [half("a", "y")] if there.content else []
    assert journal(tmp_path, there).halves() == outputs


async def test_a_journal_cut_or_garbled_at_any_byte_gives_a_beginning_of_what_was_shown(tmp_path: Path) -> None:
    tail = journal(tmp_path)
    await shown(tail, "a", "one é", "two", "three")
    data = tail.path.read_bytes()
    for place in range(len(data)):
        tail.path.write_bytes(data[:place])
        assert_is_beginning(journal(tmp_path).halves(), "one étwothree")
        for byte in (b"\x00", b"\n", b'"', b"\xff"):
            tail.path.write_bytes(data[:place] + byte + data[place + 1 :])
            journal(tmp_path).halves()
    tail.path.write_bytes(b"".join(data.splitlines(keepends=True)[::2]))
    assert journal(tmp_path).halves() == [half("a", "one é")], "nothing counts behind a gap"


def assert_is_beginning(halves: Any, whole: str) -> None:
    assert [one for one in halves if not whole.startswith(one.output)] == []


@pytest.mark.parametrize("content", [b"", b"\n\n", b"{}\n", b"[]", b"\x00" * 100, b"[" * 100_000])
def test_a_file_that_is_no_journal_is_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "session.tail").write_bytes(content)
    assert journal(tmp_path).halves() == []


async def test_a_full_disk_is_told_and_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "session.tail").symlink_to("/dev/full")
    tail = journal(tmp_path)
    await shown(tail, "text", "x", "y")
    assert "No space left" in str(tail.error)
    tail.recorded(Text("assistant", "xy"))
    assert not tail.path.is_symlink()


async def test_a_folder_in_its_place_is_told_and_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "session.tail").mkdir()
    tail = journal(tmp_path)
    assert tail.halves() == ()
    await shown(tail, "text", "x")
    tail.clear()
    assert isinstance(tail.error, OSError)


async def test_a_long_segment_is_written_once(tmp_path: Path) -> None:
    """The text so far is not written again with each piece."""
    tail = journal(tmp_path)
    await shown(tail, "text", *["0123456789"] * 500)
    entries = [json.loads(line) for line in tail.path.read_bytes().splitlines()]
    assert [(entry["at"], entry["text"]) for entry in entries] == [(n * 10, "0123456789") for n in range(500)]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(["text", "thinking", "call", "a", "b"]), texts),
        st.tuples(st.just("complete"), st.sampled_from(["model", "a", "b"])),
        st.tuples(st.just("flush"), st.just("")),
    ),
    max_size=40,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS)
async def test_any_pieces_and_any_moments_of_writing(tmp_path: Path, steps: list[tuple[str, str]]) -> None:
    """What a death leaves is exactly what was written down of the open segments, whatever came before.

    Outputs that are on disk do not matter: their calls are no longer open.
    """
    (tmp_path / "session.tail").unlink(missing_ok=True)
    content = 0

    def place() -> Place:
        return Place("session_001.jsonl", 1, content)

    tail = TailJournal(tmp_path / "session.tail", place)
    said: dict[str, tuple[str, str]] = {}
    written: dict[str, tuple[str, str]] = {}
    for kind, text in steps:
        if kind == "flush":
            tail.flush()
            written = dict(said)
        elif kind == "complete":
            if said.pop(text, None):
                written.pop(text, None)
                content += text == "model"
                tail.recorded(om.ToolCallOutput("user", "", text) if text != "model" else Text("assistant", ""))
        else:
            producer = kind if kind in {"a", "b"} else "model"
            if said.get(producer, (kind, ""))[0] != kind:
                continue
            if producer not in said:
                tail.note(fragment(kind, "start"))
            tail.note(fragment(kind, "delta", text))
            said[producer] = (kind, said.get(producer, (kind, ""))[1] + text)
    expected = [half(kind, text) for kind, text in written.values() if text or kind == "call"]
    known = TailJournal(tmp_path / "session.tail", place).halves()
    tail.clear()
    found = [one for one in known if not isinstance(one, ToolCallOutput) or one.tool_call_id in written]
    assert sorted(map(repr, found)) == sorted(map(repr, expected))
