"""Real files: read in pages, edited exactly, replaced at once, and missing ones explained."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import stat
from pathlib import Path

import pytest

from penguin_harness.omnimessage import ToolCallOutput
from penguin_harness.tools import Toolbox, builtin_tools
from tests.tools.support import call, make_context, make_toolbox, raw_call, run


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def box(tmp_path: Path, workspace: Path) -> Toolbox:
    return make_toolbox(tmp_path, *builtin_tools())


async def read(box: Toolbox, path: object, **arguments: object) -> ToolCallOutput:
    return await run(box, call("read_file", path=str(path), **arguments))


async def edit(box: Toolbox, old: str, new: str, path: str = "a.txt", **arguments: object) -> ToolCallOutput:
    return await run(box, call("edit_file", path=path, old_text=old, new_text=new, **arguments))


async def write(box: Toolbox, path: object, content: str) -> ToolCallOutput:
    return await run(box, call("write_file", path=str(path), content=content))


def test_only_reading_is_harmless() -> None:
    assert {each.name: each.permission for each in builtin_tools()} == {
        "exec_command": "rw",
        "input_command": "rw",
        "read_file": "r",
        "edit_file": "rw",
        "write_file": "rw",
    }


@pytest.mark.parametrize(
    ("data", "output"),
    [
        (b"one\ntwo\n", "     1\tone\n     2\ttwo"),
        (b"one\r\ntwo", "     1\tone\n     2\ttwo"),
        (b"", "[empty file]"),
        (b"\n", "     1\t"),
        (b"\xef\xbb\xbfone\n", "     1\tone"),
        ("é\n😀".encode("utf-16"), "     1\té\n     2\t😀"),
        ("é\u010a\n".encode("utf-16-be").join([b"\xfe\xff", b""]), "     1\té\u010a"),
        ("a\u2028b\u0085c\x0cd\re\n".encode(), "     1\ta\u2028b\u0085c\x0cd\re"),
        (b"caf\xe9\n", "     1\tcaf\ufffd"),
        (b"a" * 2_001 + b"\nb", f"     1\t{'a' * 2_000}… [line cut; go on with offset=1, column=2001]\n     2\tb"),
    ],
    ids=["plain", "crlf", "empty", "newline", "mark", "utf-16", "utf-16-be", "separators", "latin-1", "long"],
)
async def test_a_text_is_shown_in_numbered_lines(box: Toolbox, workspace: Path, data: bytes, output: str) -> None:
    (workspace / "a.txt").write_bytes(data)
    assert (await read(box, "a.txt")).output == output
    assert (await read(box, workspace / "a.txt")).output == output


async def test_it_is_read_in_pages_that_name_the_next(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"{n}\n" for n in range(1, 11)))
    page = (await read(box, "a.txt", offset=4, limit=2)).output
    assert page == "     4\t4\n     5\t5\n[lines 4-5 of 10; go on with offset=6]"
    assert (await read(box, "a.txt", offset=9)).output == "     9\t9\n    10\t10"
    beyond = await read(box, "a.txt", offset=11)
    assert (beyond.output, beyond.stop_reason) == ("Line 11 is past the end: the file has 10 lines.", "fatal")


async def test_a_page_never_exceeds_what_an_output_holds(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join("x" * (n % 3_000) + "\n" for n in range(3_000)))
    offset, pages = 1, 0
    while True:
        page = (await read(box, "a.txt", offset=offset)).output
        assert len(page) <= 15_200
        pages += 1
        if not (more := re.search(r"\[lines \d+-(\d+) of 3000; go on with offset=(\d+)]$", page)):
            break
        assert int(more[2]) == int(more[1]) + 1
        offset = int(more[2])
    assert pages > 100


async def test_a_binary_file_is_named_as_such(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.bin").write_bytes(b"\x7fELF\0\0")
    output = await read(box, "a.bin")
    assert "a.bin is a binary file (6 bytes)" in output.output
    assert output.stop_reason == "fatal"


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("agent/AGENTS.md", ["/agent has no 'AGENTS.md'", "agent_state/", "Did you mean: agent_state/AGENTS.md?"]),
        ("agnet/x/y", ["has no 'agnet'", "agent/", "Did you mean: agent?"]),
        ("agent/agent_state/AGENT.md", ["has no 'AGENT.md'", "Did you mean: AGENTS.md?"]),
        ("agent/agent_state/AGENTS.md/x", ["AGENTS.md is a file, not a folder"]),
        ("agent", ["agent is a folder. It holds: agent_state/."]),
        ("dangling", ["dangling is a symbolic link to nowhere, which does not exist"]),
        ("/dev/zero", ["no regular file"]),
        ("", ["workspace is a folder"]),
    ],
)
async def test_a_wrong_path_is_explained_by_what_is_there(
    box: Toolbox, workspace: Path, path: str, parts: list[str]
) -> None:
    """B073."""
    (workspace / "agent" / "agent_state").mkdir(parents=True)
    (workspace / "agent" / "agent_state" / "AGENTS.md").touch()
    (workspace / "dangling").symlink_to("nowhere")
    for output in (await read(box, path), await edit(box, "a", "b", path)):
        assert output.stop_reason == "fatal"
        for part in parts:
            assert part in output.output


async def test_an_edit_replaces_exactly_and_shows_what_changed(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\nthree\n")
    output = await edit(box, "two\n", "2\n")
    path = workspace / "a.txt"
    assert path.read_text() == "one\n2\nthree\n"
    assert output.output == f"--- {path}\n+++ {path}\n@@ -1,4 +1,4 @@\n one\n-two\n+2\n three\n "


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\n", "a\nb", "a\nx\nb", b"a\r\nx\r\nb\r\n"),
        (b"a\r\nb\r\n", "b", "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\r\nb\nc\r\n", "b\nc", "x\ny", b"a\r\nx\ny\r\n"),
        (b"a\r\nb\nc\r\n", "a\nb", "x\ny", b"x\r\ny\nc\r\n"),
        (b"\xef\xbb\xbfa\n", "a", "é", b"\xef\xbb\xbf\xc3\xa9\n"),
        ("ä\n".encode("utf-16"), "ä", "ö", "ö\n".encode("utf-16")),
        (b"caf\xe9 a\n", "a\n", "b\n", b"caf\xe9 b\n"),
        (b"a\n", "a\n", "", b""),
    ],
    ids=["crlf", "crlf-inserted", "mixed-lf", "mixed-crlf", "mark", "utf-16", "latin-1", "to-nothing"],
)
async def test_line_endings_and_encoding_stay(
    box: Toolbox, workspace: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    (workspace / "a.txt").write_bytes(before)
    assert (await edit(box, old, new)).stop_reason == "completed"
    assert (workspace / "a.txt").read_bytes() == after


@pytest.mark.parametrize(
    ("old", "parts"),
    [
        ("x = 1", ["3 times", "at lines 1, 2, 5", "replace_all"]),
        ("y  = 1", ["is not in", "differs only in white space from the text at line 3"]),
        ("    y = 1\n    z = 1", ["differs only in white space from the text at line 3"]),
        ("yy = 1", ["is not in", "closest lines", "3: y = 1"]),
        ("?" * 30, ["is not in", "No line is like"]),
        ("", ["old_text is empty"]),
        ("new", ["the same"]),
    ],
)
async def test_an_edit_that_does_not_fit_changes_nothing_and_says_where(
    box: Toolbox, workspace: Path, old: str, parts: list[str]
) -> None:
    text = "x = 1\nx = 1\ny = 1\nz = 1\n  x = 1\n"
    (workspace / "a.txt").write_text(text)
    output = await edit(box, old, "new")
    assert output.stop_reason == "fatal"
    assert all(part in output.output for part in parts), output.output
    assert (workspace / "a.txt").read_text() == text


async def test_every_occurrence_is_replaced_on_demand(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").write_text("a b a\na\n")
    output = await edit(box, "a", "c", replace_all=True)
    assert (workspace / "a.txt").read_text() == "c b c\nc\n"
    assert "-a b a\n-a\n+c b c\n+c" in output.output


async def test_parallel_edits_of_one_file_do_not_lose_each_other(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").write_text("".join(f"<{n}>\n" for n in range(30)))
    await asyncio.gather(*(edit(box, f"<{n}>", f"[{n}]") for n in range(30)))
    assert (workspace / "a.txt").read_text() == "".join(f"[{n}]\n" for n in range(30))


async def test_a_link_stays_and_mode_and_target_are_kept(box: Toolbox, workspace: Path) -> None:
    target = workspace / "real.sh"
    target.write_text("echo a\n")
    target.chmod(0o751)
    (workspace / "a.txt").symlink_to("real.sh")
    await edit(box, "a", "b")
    await write(box, "a.txt", target.read_text() + "echo c\n")
    assert (workspace / "a.txt").is_symlink()
    assert target.read_text() == "echo b\necho c\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o751
    assert sorted(path.name for path in workspace.iterdir()) == ["a.txt", "real.sh"]


async def test_a_link_that_leads_to_itself_is_explained(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").symlink_to("a.txt")
    assert (await write(box, "a.txt", "text")).stop_reason == "fatal"
    assert (await read(box, "a.txt")).stop_reason == "fatal"


async def test_a_new_file_is_made_with_its_folders(box: Toolbox, workspace: Path) -> None:
    path = workspace / "new" / "folder" / "a.txt"
    assert (await write(box, "new/folder/a.txt", "one\ntwo")).output == f"Created {path}: 2 lines."
    assert path.read_text() == "one\ntwo"
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


async def test_a_replaced_file_is_shown_as_a_diff(box: Toolbox, workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text("one\ntwo\n")
    assert "-two\n+2" in (await write(box, "a.txt", "one\n2\n")).output
    assert (await write(box, path, "one\n2\n")).output == f"{path} has this content already."
    binary = workspace / "b.txt"
    binary.write_bytes(b"\0\1")
    assert (await write(box, binary, "text\n")).output == f"Replaced {binary}: 1 line."


async def test_a_file_that_cannot_be_written_is_told_and_stays(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
    try:
        output = await write(box, "a.txt", "x" * 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert (output.output, output.stop_reason) == (f"{workspace}/a.txt cannot be written: File too large.", "fatal")
    assert [path.read_text() for path in workspace.iterdir()] == ["one\n"]


async def test_a_file_in_the_way_of_a_folder_is_named(box: Toolbox, workspace: Path) -> None:
    (workspace / "a.txt").touch()
    output = await write(box, "a.txt/b/c.txt", "text")
    assert output.stop_reason == "fatal"
    assert f"{workspace}/a.txt is a file, not a folder" in output.output


@pytest.mark.parametrize("spelling", ["plain", "link", "hard", "dots", "proc"])
async def test_a_guarded_file_is_recognized_however_it_is_spelled(
    tmp_path: Path, workspace: Path, spelling: str
) -> None:
    """B173."""
    vault = tmp_path / ".vault.toml"
    vault.write_text("key = 'sk'")
    (workspace / "link").symlink_to(vault)
    (workspace / "hard").hardlink_to(vault)
    paths = {
        "plain": vault,
        "link": "link",
        "hard": "hard",
        "dots": "../workspace/../.vault.toml",
        "proc": f"/proc/self/root{vault}",
    }
    box = make_toolbox(tmp_path, *builtin_tools(), context=make_context(tmp_path, guarded=[vault]))
    path = str(paths[spelling])
    for output in (await read(box, path), await edit(box, "key", "x", path), await write(box, path, "x")):
        assert output.stop_reason == "fatal"
        assert "holds credentials" in output.output
    assert vault.read_text() == "key = 'sk'"


async def test_a_path_may_begin_at_home(box: Toolbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "a.txt").write_text("mine")
    assert (await read(box, "~/a.txt")).output == "     1\tmine"


async def test_text_that_is_no_unicode_is_written_clean(box: Toolbox, workspace: Path) -> None:
    """B167."""
    await run(box, raw_call("write_file", '{"path": "a.txt", "content": "\\ud83c\\udf78 \\ud83c"}'))
    assert (workspace / "a.txt").read_text() == "\U0001f378 \ufffd"


async def test_b073_a_name_that_looks_the_same_is_found(box: Toolbox, workspace: Path) -> None:
    """Composed and decomposed accents, kinds of space: nobody can type the difference."""
    (workspace / "re\u0301sume\u0301.txt").write_text("one\n")
    (workspace / "shot at 9\u202fAM.txt").write_text("two\n")
    assert (await read(box, "r\u00e9sum\u00e9.txt")).output == "     1\tone"
    assert (await read(box, "shot at 9 AM.txt")).output == "     1\ttwo"
    await edit(box, "one", "1", "r\u00e9sum\u00e9.txt")
    await write(box, "shot at 9 AM.txt", "new")
    assert {path.name: path.read_text() for path in workspace.iterdir()} == {
        "re\u0301sume\u0301.txt": "1\n",
        "shot at 9\u202fAM.txt": "two\n",
        "shot at 9 AM.txt": "new",
    }


async def test_a_path_that_cannot_be_is_told(box: Toolbox, workspace: Path) -> None:
    for path in ("a\0b", "x" * 300):
        for output in (await read(box, path), await edit(box, "a", "b", path), await write(box, path, "text")):
            assert output.stop_reason == "fatal"
            assert "NUL" in output.output or "File name too long" in output.output
    assert list(workspace.iterdir()) == []


async def test_a_pipe_is_not_waited_for(box: Toolbox, workspace: Path) -> None:
    os.mkfifo(workspace / "a.txt")
    for output in (await read(box, "a.txt"), await edit(box, "a", "b"), await write(box, "a.txt", "text")):
        assert "no regular file" in output.output
        assert output.stop_reason == "fatal"


@pytest.mark.parametrize(
    ("before", "content", "after", "kept"),
    [
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n", "[kept: CR LF line endings]"),
        (b"a\r\nb\r\n", "a\r\nc\n", b"a\r\nc\n", ""),
        (b"a\nb\r\n", "a\nc\n", b"a\nc\n", ""),
        (b"\xef\xbb\xbfa\n", "\ufeffb\n", b"\xef\xbb\xbfb\n", "[kept: UTF-8 with a byte order mark]"),
        ("ä\r\n".encode("utf-16"), "ö\n", "ö\r\n".encode("utf-16"), "[kept: UTF-16-LE, CR LF line endings]"),
    ],
    ids=["crlf", "crlf-given", "mixed", "mark", "utf-16"],
)
async def test_what_is_written_over_a_file_has_its_endings_and_encoding(
    box: Toolbox, workspace: Path, before: bytes, content: str, after: bytes, kept: str
) -> None:
    (workspace / "a.txt").write_bytes(before)
    output = (await write(box, "a.txt", content)).output
    assert (workspace / "a.txt").read_bytes() == after
    assert output.endswith(kept)
    assert ("[kept:" in output) == bool(kept)


async def test_bytes_of_an_unknown_encoding_are_not_destroyed(box: Toolbox, workspace: Path) -> None:
    """Shown as U+FFFD, they must not be written back as that, nor mixed with UTF-8."""
    (workspace / "a.txt").write_bytes(b"caf\xe9\nplain\n")
    shown = (await read(box, "a.txt")).output
    assert "caf\ufffd" in shown
    refused = (await write(box, "a.txt", "caf\ufffd\nother\n"), await edit(box, "plain", "schön"))
    assert [each.stop_reason for each in refused] == ["fatal", "fatal"]
    assert "would destroy them" in refused[0].output
    assert "is no UTF-8" in refused[1].output
    assert (await edit(box, "plain", "other")).stop_reason == "completed"
    assert (workspace / "a.txt").read_bytes() == b"caf\xe9\nother\n"


async def test_a_guarded_file_cannot_be_made_either(tmp_path: Path, workspace: Path) -> None:
    """B173: also before it is there, in another spelling, and where its folder is a link."""
    vault = tmp_path / "state" / ".vault.toml"
    vault.parent.mkdir()
    (workspace / "state").symlink_to(vault.parent)
    box = make_toolbox(tmp_path, *builtin_tools(), context=make_context(tmp_path, guarded=[vault]))
    for path in (vault, "state/.vault.toml", "state/.VAULT.toml", "../state/.vault.toml"):
        assert "holds credentials" in (await write(box, path, "x")).output
    assert list(vault.parent.iterdir()) == []


async def test_a_file_of_its_owner_alone_stays_so_while_it_is_replaced(box: Toolbox, workspace: Path) -> None:
    path = workspace / "a.txt"
    path.write_text("secret\n")
    path.chmod(0o600)
    before = path.stat()
    await edit(box, "secret", "other")
    after = path.stat()
    assert (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid) == (0o600, before.st_uid, before.st_gid)
    assert after.st_ino != before.st_ino
    assert [each.name for each in workspace.iterdir()] == ["a.txt"]
