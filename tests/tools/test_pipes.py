"""The ends of a command's pipes, and what waits between two looks at it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from penguin_harness.tools.backlog import LIMIT, ROOM, Backlog
from penguin_harness.tools.pipes import CHUNK, InputPipe, OutputPipe
from penguin_harness.tools.recovery import RecoveryFile
from penguin_harness.tools.redact import Redactor
from tests.tools.support import open_files, until


async def test_characters_cut_by_a_read_are_whole() -> None:
    """B166."""
    received: list[str] = []
    pipe = OutputPipe(received.append, lambda: received.append("end"))
    pipe.resume()
    data = "é😀".encode()
    for byte in data:
        os.write(pipe.theirs, bytes([byte]))
        await asyncio.sleep(0)
    os.close(pipe.theirs)
    await until(lambda: pipe.is_closed)
    assert "".join(received) == "é😀end"


async def test_a_pipe_that_is_paused_makes_its_writer_wait() -> None:
    received: list[str] = []
    pipe = OutputPipe(received.append, lambda: None)
    os.set_blocking(pipe.theirs, False)
    assert os.write(pipe.theirs, b"x" * 2 * CHUNK) == CHUNK
    await asyncio.sleep(0)
    assert received == []
    pipe.read()
    assert received == ["x" * CHUNK]
    pipe.close()
    with pytest.raises(BrokenPipeError):
        os.write(pipe.theirs, b"x")
    os.close(pipe.theirs)


async def test_an_input_that_nobody_reads_takes_what_fits_and_no_more_time() -> None:
    before = open_files()
    pipe = InputPipe()
    assert await pipe.write(b"x" * 3 * CHUNK, 0.05) == CHUNK
    reading = asyncio.create_task(asyncio.to_thread(os.read, pipe.theirs, CHUNK))
    assert await pipe.write(b"y" * CHUNK, 5) == CHUNK
    await reading
    waiting = asyncio.create_task(pipe.write(b"z" * CHUNK, 5))
    await asyncio.sleep(0)
    pipe.close()
    with pytest.raises(BrokenPipeError):
        await asyncio.wait_for(waiting, 1)
    os.close(pipe.theirs)
    assert not open_files() - before


async def test_an_input_whose_reader_is_gone_is_broken() -> None:
    pipe = InputPipe()
    os.close(pipe.theirs)
    with pytest.raises(BrokenPipeError):
        await pipe.write(b"x", 1)
    pipe.close()


def test_all_files_of_one_command_share_their_room(tmp_path: Path) -> None:
    rooms: list[int] = []

    def new_file(room: int) -> RecoveryFile:
        rooms.append(room)
        return RecoveryFile(lambda: tmp_path, "process", room)

    backlog = Backlog(Redactor(), new_file)
    for _ in range(2):
        backlog.feed("x" * LIMIT, bounded=True)
        assert not backlog.is_cut
        backlog.feed("y", bounded=True)
        assert backlog.is_cut
        assert backlog.last(3) == "xxy"
        assert len(backlog.take()) < LIMIT + 500
        assert backlog.take() == ""
    assert rooms == [ROOM, ROOM - LIMIT - 1]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["process-2.txt", "process.txt"]


def test_what_a_call_follows_is_not_cut(tmp_path: Path) -> None:
    backlog = Backlog(Redactor(), lambda room: RecoveryFile(lambda: tmp_path, "process", room))
    backlog.feed("x" * 3 * LIMIT, bounded=False)
    assert backlog.take() == "x" * 3 * LIMIT
