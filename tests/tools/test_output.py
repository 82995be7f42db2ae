"""The text of an output: its length, the file that keeps the rest, and secret values."""

from __future__ import annotations

import asyncio
import re
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.omnimessage import ToolCallOutput, clean
from penguin_harness.tools import Limits, ToolContext, ToolResult, tool
from penguin_harness.tools.read_file import read_file
from penguin_harness.tools.recovery import Excerpt, RecoveryFile
from penguin_harness.tools.redact import MARK, CleanStream, Redactor
from penguin_harness.tools.segment import Segment
from tests.tools.support import CALL_ID, call, check_segment, make_toolbox, run

SECRETS = ("sk-test-123456", "sk-test-123456-long", "aaaaaab", "456sk-te")


def kept_file(output: str) -> Path:
    """The file that an output names."""
    found = re.search(r" in (/.*): go on there with read_file", output)
    assert found, output
    return Path(found[1])


async def say(context: ToolContext, count: int, text: str = "0123456789abcde\n", note: str | None = None) -> ToolResult:
    """Say much."""
    await context.write(text * (count // 2))
    return ToolResult(text * (count - count // 2), note=note)


async def test_a_long_output_is_cut_and_kept_whole(tmp_path: Path) -> None:
    """B109 and B112: the beginning and the end are shown."""
    output = (await run(make_toolbox(tmp_path, say), call("say", count=12_500, note="[exit code 1]"))).output
    whole = "0123456789abcde\n" * 12_500
    assert output.startswith(f"{whole[:12_000]}[output cut: {len(whole) - 16_000} of {len(whole)} characters are left")
    assert f"; all {len(whole)} bytes of it are in " in output
    assert output.endswith(f"]\n{whole[-4_000:]}[exit code 1]")
    assert len(output) < 16_500
    assert kept_file(output).read_text() == whole
    assert kept_file(output).is_relative_to(tmp_path / "scratchpad")


async def test_the_kept_file_can_be_read_in_pages(tmp_path: Path) -> None:
    """B112: the pages together are the output again."""
    text = "".join(f"line {number} {'é' * (number % 97)}\n" for number in range(6_000))
    box = make_toolbox(tmp_path, say, read_file)
    output = (await run(box, call("say", count=1, text=text))).output
    place = re.search(r"offset=(\d+), column=(\d+)]", output)
    assert place
    head = text[:12_000].split("\n")
    assert (int(place[1]), int(place[2])) == (len(head), len(head[-1]) + 1)
    lines: list[str] = []
    offset: int | None = 1
    while offset:
        page = (await run(box, call("read_file", path=str(kept_file(output)), offset=offset))).output
        assert "output cut" not in page
        lines += re.findall(r"^ *\d+\t(.*)$", page, re.MULTILINE)
        more = re.search(r"go on with offset=(\d+)]", page)
        offset = int(more[1]) if more else None
    assert "\n".join(lines) + "\n" == text


async def test_one_endless_line_can_be_read_in_pages(tmp_path: Path) -> None:
    """B109: 5 MB in one result."""
    text = "".join(chr(0x4E00 + number % 5_000) for number in range(5_000_000 // 3))
    box = make_toolbox(tmp_path, say, read_file)
    output = (await run(box, call("say", count=1, text=text))).output
    assert output.startswith(text[:12_000])
    assert output.endswith(text[-4_000:])
    assert len(output) < 16_500
    read, column = "", 1
    for _ in range(3):
        page = (await run(box, call("read_file", path=str(kept_file(output)), column=column))).output
        piece = page.partition("\t")[2].rpartition("… [line cut")[0]
        read, column = read + piece, column + len(piece)
    assert text.startswith(read)
    assert len(read) > 30_000


async def test_the_file_has_a_limit_and_the_output_says_so(tmp_path: Path) -> None:
    box = make_toolbox(tmp_path, say, limits=Limits(output=100, file=1_001))
    output = (await run(box, call("say", count=500, text="é"))).output
    assert "all 1000 bytes" in output
    assert kept_file(output).read_bytes() == "é".encode() * 500
    output = (await run(box, call("say", count=501, text="é"))).output
    assert "only its first 1000 bytes were kept, in" in output
    assert kept_file(output).read_bytes() == "é".encode() * 500


async def test_a_file_that_cannot_be_written_is_told_and_nothing_breaks(tmp_path: Path) -> None:
    (tmp_path / "scratchpad").write_text("in the way")
    output = await run(make_toolbox(tmp_path, say), call("say", count=5_000))
    assert "characters are left out here; they could not be kept: [Errno 17]" in output.output
    assert output.stop_reason == "completed"


async def test_a_file_that_stops_taking_more_is_told(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, limits[1]))
    try:
        output = await run(make_toolbox(tmp_path, say), call("say", count=10_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "they could not be kept: [Errno 27] File too large]" in output.output


async def test_calls_with_one_id_or_a_strange_one_have_files_of_their_own(tmp_path: Path) -> None:
    box = make_toolbox(tmp_path, say)
    first = kept_file((await run(box, call("say", count=2_000))).output)
    second = kept_file((await run(box, call("say", count=2_001))).output)
    assert first != second
    file = RecoveryFile(lambda: tmp_path, "output-../../a b/" + "c" * 300, 10)
    file.write("text")
    file.close()
    assert file.path
    assert file.path.parent == tmp_path


async def test_a_long_error_is_an_output_like_any_other(tmp_path: Path) -> None:
    async def fail(said: str) -> None:
        """Fail."""
        raise ValueError(said)

    box = make_toolbox(tmp_path, fail)
    output = await run(box, call("fail", said="x" * 50_000))
    assert len(output.output) < 16_500
    assert kept_file(output.output).stat().st_size == 50_012


@pytest.mark.parametrize("secret", ["sk-test-123456", "päßwörd-😀"])
async def test_secret_values_do_not_leave_a_tool(tmp_path: Path, secret: str) -> None:
    """B172."""

    @tool
    async def leak(context: ToolContext, value: str) -> ToolResult:
        """Leak."""
        await context.write(f"a {value[:4]}")
        await context.write(f"{value[4:]} b")
        await context.write(f" {value[:-1]}")
        await asyncio.sleep(0)
        return ToolResult(note=f"[{value}]")

    output = (await run(make_toolbox(tmp_path, leak, secrets=[secret]), call("leak", value=secret))).output
    assert output == f"a {MARK} b {secret[:-1]}\n[{MARK}]"


async def test_secret_values_do_not_reach_the_kept_file_or_an_error(tmp_path: Path) -> None:
    async def fail(context: ToolContext) -> None:
        """Fail."""
        await context.write("x" * 15_995 + SECRETS[0] + "y" * 100)
        raise ValueError(SECRETS[0])

    output = (await run(make_toolbox(tmp_path, fail, secrets=SECRETS), call("fail"))).output
    assert kept_file(output).read_text() == "x" * 15_995 + MARK + "y" * 100
    assert output.endswith(f"ValueError: {MARK}")
    assert SECRETS[0] not in output


def test_short_values_are_words_and_stay() -> None:
    assert Redactor(["", "none", "EMPTY"]).redact("none EMPTY") == "none EMPTY"


pieces = st.lists(
    st.one_of(
        st.sampled_from([*SECRETS, "sk-test-", "123456", "-long", "aaa", "aab", "456sk", "-te", "\n"]),
        st.text(st.characters(codec=None), max_size=4),
        st.sampled_from(["\ud83d", "\ude00", "\ud83d\ude00", "😀"]),
    ),
    max_size=12,
)


@given(pieces)
def test_cutting_a_text_into_pieces_changes_nothing(texts: Sequence[str]) -> None:
    """B166 and B172: halves of a character and of a secret meet again."""
    stream = CleanStream(Redactor(SECRETS))
    shown = "".join([*map(stream.feed, texts), stream.flush()])
    assert shown == Redactor(SECRETS).redact(clean("".join(texts)))
    assert not any(secret in shown for secret in SECRETS[:2])


@given(
    pieces, st.integers(0, 40), st.integers(0, 60), pieces, st.none() | st.text(), st.sampled_from(["aborted", "fatal"])
)
def test_the_deltas_add_up_to_the_output_whatever_is_cut(
    tmp_path_factory: pytest.TempPathFactory,
    texts: Sequence[str],
    limit: int,
    file_limit: int,
    last: Sequence[str],
    note: str | None,
    reason: Any,
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    file = RecoveryFile(lambda: folder, "a", file_limit)
    segment = Segment(CALL_ID, CleanStream(Redactor(SECRETS)), Excerpt(limit, file))
    for text in texts:
        segment.write(text)
    segment.close(reason, text="".join(last), note=note)
    segment.write("too late")
    output = check_segment(list(segment.owed))
    whole = Redactor(SECRETS).redact(clean("".join([*texts, *last])))
    if whole or not note:
        head, tail = limit - limit // 4, limit // 4
        is_cut = len(whole) > limit
        assert output.output.startswith(whole[:head] if is_cut else whole)
        assert not is_cut or f"]\n{whole[len(whole) - tail :]}" in output.output
        assert (file.path is not None) == is_cut
    if file.path and whole:
        kept = file.path.read_bytes().decode()
        assert whole.startswith(kept)
        assert file.full == (len(whole.encode()) > file_limit)
    assert isinstance(output, ToolCallOutput)
    assert output.stop_reason == reason
