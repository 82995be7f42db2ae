"""A file that somebody else has changed since it was seen here is not overwritten."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penguin_harness.omnimessage import ToolCallOutput
from penguin_harness.tools import Toolbox
from penguin_harness.tools.content import EDIT_LIMIT
from penguin_harness.tools.versions import REMEMBERED, Versions
from tests.tools.support import call, make_context, make_toolbox, run


@pytest.fixture
def box(tmp_path: Path) -> Toolbox:
    return make_toolbox(tmp_path)


@pytest.fixture
def path(box: Toolbox, tmp_path: Path) -> Path:
    path = tmp_path / "workspace" / "a.txt"
    path.write_text("one\ntwo\n")
    return path


async def read(box: Toolbox) -> ToolCallOutput:
    return await run(box, call("read_file", path="a.txt"))


async def edit(box: Toolbox, old: str, new: str) -> ToolCallOutput:
    return await run(box, call("edit_file", path="a.txt", old_text=old, new_text=new))


async def write(box: Toolbox, content: str) -> ToolCallOutput:
    return await run(box, call("write_file", path="a.txt", content=content))


async def test_a_changed_file_is_refused_until_it_is_read_again(box: Toolbox, path: Path) -> None:
    await read(box)
    path.write_text("one\ntwo\nthree\n")
    for output in (await edit(box, "two", "2"), await write(box, "mine\n")):
        assert output.stop_reason == "fatal"
        assert f"{path} has changed since it was last read or written here" in output.output
        assert "Read it again with read_file" in output.output
    assert path.read_text() == "one\ntwo\nthree\n"
    await read(box)
    assert (await edit(box, "two", "2")).stop_reason == "completed"
    assert path.read_text() == "one\n2\nthree\n"


async def test_a_change_of_the_same_size_and_time_is_seen(box: Toolbox, path: Path) -> None:
    await read(box)
    state = path.stat()
    path.write_text("one\nTWO\n")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert "has changed" in (await write(box, "mine\n")).output


async def test_a_file_that_was_only_touched_or_put_back_has_not_changed(box: Toolbox, path: Path) -> None:
    await read(box)
    path.unlink()
    path.write_text("one\ntwo\n")
    os.utime(path, ns=(0, 0))
    assert (await edit(box, "two", "2")).stop_reason == "completed"


async def test_own_changes_do_not_stand_in_the_way(box: Toolbox, path: Path) -> None:
    await read(box)
    assert (await edit(box, "one", "1")).stop_reason == "completed"
    assert (await edit(box, "two", "2")).stop_reason == "completed"
    assert (await write(box, "all new\n")).stop_reason == "completed"
    assert (await edit(box, "all", "quite")).stop_reason == "completed"
    path.write_text("theirs\n")
    assert "has changed" in (await edit(box, "theirs", "mine")).output


async def test_what_was_never_read_or_is_gone_may_be_written(box: Toolbox, path: Path) -> None:
    path.write_text("x\n")
    assert (await write(box, "mine\n")).stop_reason == "completed"
    path.unlink()
    assert (await write(box, "again\n")).output == f"Created {path}: 1 line."


async def test_another_path_to_the_file_is_the_same_file(box: Toolbox, path: Path) -> None:
    (path.parent / "link.txt").symlink_to("a.txt")
    await run(box, call("read_file", path="link.txt"))
    path.write_text("theirs\n")
    assert "has changed" in (await edit(box, "theirs", "mine")).output


async def test_a_binary_file_that_changed_has_a_way_out_too(box: Toolbox, path: Path) -> None:
    await read(box)
    path.write_bytes(b"\0\1")
    assert "has changed" in (await write(box, "mine\n")).output
    assert "binary file" in (await read(box)).output
    assert (await write(box, "mine\n")).output == f"Replaced {path}: 1 line."


async def test_a_file_too_large_to_hold_is_known_by_its_size_and_time(box: Toolbox, path: Path) -> None:
    os.truncate(path, EDIT_LIMIT + 1)
    await read(box)
    os.truncate(path, EDIT_LIMIT + 2)
    assert "has changed" in (await write(box, "mine\n")).output
    await read(box)
    assert (await write(box, "mine\n")).output == f"Replaced {path}: 1 line."


async def test_a_session_does_not_know_what_another_has_read(box: Toolbox, path: Path, tmp_path: Path) -> None:
    await read(box)
    path.write_text("theirs\n")
    other = make_toolbox(tmp_path, context=make_context(tmp_path))
    assert (await edit(other, "theirs", "mine")).stop_reason == "completed"


def test_the_memory_is_bounded(tmp_path: Path) -> None:
    versions = Versions()
    state = tmp_path.stat()
    for number in range(REMEMBERED + 1):
        versions.note(tmp_path / str(number), state, b"a")
    assert not versions.has_changed(tmp_path / "0", state, b"b")
    assert versions.has_changed(tmp_path / "1", state, b"b")
