"""Trace files: what is appended is what is read, whatever happened to the file in between."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penguin_harness.errors import SessionError, TraceError, TraceLocked
from penguin_harness.omnimessage import OmniMessage, assistant_text, encode, user_text
from penguin_harness.trace import (
    SessionLock,
    Skipped,
    TraceWriter,
    context_file,
    find_session,
    list_sessions,
    new_session_id,
    read_lines,
    read_messages,
)
from tests.strategies import messages

FIRST, SECOND = (
    "session-2026-12-01-09-00-00-000000aa",
    "session-2026-12-02-09-00-00-000000bb",
)


def write(path: Path, sequence: list[OmniMessage]) -> None:
    writer = TraceWriter(path)
    for message in sequence:
        writer.append(encode(message))
    writer.close()


def test_what_is_appended_is_what_is_read(tmp_path: Path) -> None:
    sequence: list[OmniMessage] = [user_text("hi"), assistant_text("\u2028\u2029\u0085\x0b\x0c stay inside")]
    path = tmp_path / "day" / "t.jsonl"
    write(path, sequence)
    assert list(read_messages(path)) == sequence
    assert list(read_lines(path)) == [encode(message) for message in sequence]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(sequence=st.lists(messages, min_size=1, max_size=6), data=st.data())
def test_a_file_cut_at_any_byte_loses_only_the_record_that_was_cut(
    tmp_path: Path, sequence: list[OmniMessage], data: st.DataObject
) -> None:
    """B113: a torn tail is ignored, and the next record stands on a line of its own."""
    lines = [encode(message) for message in sequence]
    whole = b"".join(line + b"\n" for line in lines)
    cut = data.draw(st.integers(0, len(whole)))
    path = tmp_path / "t.jsonl"
    path.write_bytes(whole[:cut])
    kept = [message for index, message in enumerate(sequence) if len(b"\n".join(lines[: index + 1])) <= cut]
    assert list(read_messages(path)) == kept
    write(path, [user_text("after")])
    skipped: list[Skipped] = []
    found = list(read_messages(path, skipped))
    assert found[:-1] == kept
    assert isinstance(found[-1].payload, type(user_text("after").payload))
    cut_inside = cut > 0 and whole[cut - 1 : cut] != b"\n" and cut not in _ends(lines)
    assert len(skipped) == cut_inside


def _ends(lines: list[bytes]) -> set[int]:
    """Where each record is whole, its newline aside."""
    return {len(b"\n".join(lines[: number + 1])) for number in range(len(lines))}


def test_a_broken_line_in_the_middle_is_reported_and_passed_over(tmp_path: Path) -> None:
    """B115, B168: everything readable is kept."""
    path = tmp_path / "t.jsonl"
    first, last = user_text("first"), user_text("last")
    old = encode(user_text("old")).replace(b'"old"', rb'"\udcb2"')
    torn = b'{"type":"model_msg","timest'
    path.write_bytes(b"\n".join([encode(first), torn, b"", old, b"\xff\xfe", encode(last)]) + b"\n")
    skipped: list[Skipped] = []
    found = list(read_messages(path, skipped))
    assert [getattr(message.payload, "text", None) for message in found] == ["first", "\ufffd", "last"]
    assert [skip.line for skip in skipped] == [2, 5]
    assert str(path) in str(skipped[0])


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n"])
def test_an_empty_file_has_no_messages(tmp_path: Path, content: bytes) -> None:
    """B117."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)
    assert list(read_messages(path)) == []


def test_records_larger_than_a_block_are_read_whole(tmp_path: Path) -> None:
    """B110: no hidden limit on a line."""
    sequence: list[OmniMessage] = [user_text("x" * 3_000_000), user_text("y"), user_text("z" * 300_000)]
    write(tmp_path / "t.jsonl", sequence)
    assert list(read_messages(tmp_path / "t.jsonl")) == sequence


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"absent\.jsonl: No such file"):
        list(read_messages(tmp_path / "absent.jsonl"))
    with pytest.raises(TraceError, match="Is a directory"):
        list(read_messages(tmp_path))


def test_a_write_that_fails_is_told_and_the_next_record_stands_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B118: a full disk takes half a record; nothing is claimed saved, and writing goes on once there is room."""
    path = tmp_path / "t.jsonl"
    writer = TraceWriter(path)
    writer.append(encode(user_text("one")))
    real_write = os.write

    def full(file: int, data: bytes) -> int:
        monkeypatch.setattr(os, "write", refuse)
        return real_write(file, data[: len(data) // 2])

    def refuse(file: int, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(TraceError, match=r"t\.jsonl: No space left on device"):
        writer.append(encode(user_text("two")))
    monkeypatch.setattr(os, "write", real_write)
    writer.append(encode(user_text("three")))
    writer.close()
    skipped: list[Skipped] = []
    texts = [getattr(message.payload, "text", None) for message in read_messages(path, skipped)]
    assert (texts, len(skipped)) == (["one", "three"], 1)


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_record_survives_a_kill(tmp_path: Path, durability: str) -> None:
    path = tmp_path / "t.jsonl"
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from penguin_harness.trace import TraceWriter; from penguin_harness.omnimessage import encode, user_text\n"
        "w = TraceWriter(Path(sys.argv[1]), sys.argv[2])\n"
        "for i in range(50): w.append(encode(user_text(str(i))), commit=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    died = subprocess.run([sys.executable, "-c", code, str(path), durability], check=False, timeout=30)
    assert died.returncode == -signal.SIGKILL
    assert [getattr(message.payload, "text", "") for message in read_messages(path)] == [str(i) for i in range(50)]


def test_a_second_owner_is_refused_with_the_first_named_until_it_dies(tmp_path: Path) -> None:
    """B120: one writer for each session, across processes; a dead owner is replaced."""
    lock = tmp_path / f"{FIRST}.lock"
    code = (
        "import sys; from pathlib import Path; from penguin_harness.trace import SessionLock\n"
        "lock = SessionLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "held\n"
        with pytest.raises(TraceLocked, match=f"{FIRST} is being written by process {owner.pid} on "):
            SessionLock(lock)
        owner.kill()
        owner.wait(timeout=10)
    held = SessionLock(lock)
    with pytest.raises(TraceLocked, match="this process"):
        SessionLock(lock)
    held.release()
    held.release()
    assert not lock.exists()
    SessionLock(lock).release()


def test_a_folder_that_cannot_hold_a_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(TraceError, match="cannot lock the session at"):
        SessionLock(tmp_path / "file" / "x.lock")


def test_sessions_are_listed_newest_first_with_their_files_in_order(tmp_path: Path) -> None:
    for session, number in ((FIRST, 2), (FIRST, 1), (SECOND, 1)):
        write(context_file(tmp_path, session, number), [user_text("x")])
    (tmp_path / "2026-12-01" / "notes.jsonl").write_bytes(b"")
    (tmp_path / "2026-12-01" / f"{FIRST}.lock").write_bytes(b"")
    listed = list_sessions(tmp_path)
    assert [session.session_id for session in listed] == [SECOND, FIRST]
    assert [path.name for path in listed[1].paths] == [f"{FIRST}_001.jsonl", f"{FIRST}_002.jsonl"]
    assert find_session(tmp_path, "aa").newest.name == f"{FIRST}_002.jsonl"
    assert find_session(tmp_path, FIRST).session_id == FIRST


@pytest.mark.parametrize(
    ("fragment", "told"),
    [("nothing", "no session matches 'nothing'.*the newest are session-2026-12-02"), ("session", "matches 2 sessions")],
)
def test_a_fragment_that_names_no_single_session_says_what_there_is(tmp_path: Path, fragment: str, told: str) -> None:
    for session in (FIRST, SECOND):
        write(context_file(tmp_path, session, 1), [user_text("x")])
    with pytest.raises(SessionError, match=told):
        find_session(tmp_path, fragment)


@pytest.mark.parametrize("bad", ["../../x", "/etc/passwd", "session-x", "", "session-2026-12-01-09-00-00-000000AA"])
def test_what_is_no_session_id_never_becomes_a_path(tmp_path: Path, bad: str) -> None:
    """B174."""
    with pytest.raises(SessionError, match="is not a session id"):
        context_file(tmp_path, bad, 1)


def test_new_ids_have_the_form_and_differ() -> None:
    ids = {new_session_id() for _ in range(100)}
    assert len(ids) == 100
    for session_id in ids:
        assert context_file(Path("/t"), session_id, 1).name == f"{session_id}_001.jsonl"
