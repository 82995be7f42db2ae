"""`penguin trace cost`: what a session and its children cost, in a table and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from penguin_harness import omnimessage as om
from penguin_harness.omnimessage import OmniMessage, SessionMeta, TokenCounts, encode
from tests.cli.process import Home

PARENT, CHILD = "session-2026-12-01-09-00-00-0a1b2c3d", "session-2026-12-01-09-00-05-4e5f6a7b"
TURN = TokenCounts.of(cache_read=4_000, cache_write=1_000_000, output=2_000)
SUMMARY = TokenCounts.of(cache_write=50_000, output=400)
LOST = TokenCounts.of(output=100)


def session(session_id: str, model: tuple[str, str], number: int = 1, usage: TokenCounts | None = None) -> OmniMessage:
    return om.session_meta(SessionMeta(session_id, *model, 1000, "prompt", "/state", "/work", session_usage=usage))


def turn(request: TokenCounts, total: TokenCounts, *, estimated: bool = False) -> list[OmniMessage]:
    return [om.request_begin(), om.token_usage(total, request, estimated=estimated), om.request_end()]


def failed(usage: TokenCounts | None = None) -> list[OmniMessage]:
    return [om.request_begin(), om.request_end("retryable", error_code="network", usage=usage)]


def written(home: Home, session_id: str, messages: list[OmniMessage], *, number: int = 1, agent: str = "") -> Path:
    agents = home.data / "default_project" / "agents"
    path = agents / (agent or "default_agent") / "traces" / "2026-12-01" / f"{session_id}_{number:03d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    stamped = (
        replace(message, timestamp=f"2026-12-01T09:0{number}:{at:06.3f}Z") for at, message in enumerate(messages)
    )
    path.write_bytes(b"".join(encode(message) + b"\n" for message in stamped))
    return path


@pytest.fixture
def parent(home: Home) -> Path:
    """Two contexts, the second with a model of unknown price, and a child with another agent."""
    opening = [session(PARENT, ("openai", "gpt-5.1-2025-11-13")), om.user_text("go"), om.tool_list_ready([])]
    compaction = [
        om.compaction_begin("manual", "summarize", context=1, turns=1),
        *turn(SUMMARY, TURN + LOST + SUMMARY),
        om.compaction_end("manual", "summarize", "completed"),
    ]
    first = [*opening, *failed(LOST), *failed(), *turn(TURN, TURN + LOST), om.subagent(CHILD), *compaction]
    total = TURN + LOST + SUMMARY
    written(home, PARENT, first)
    later = [session(PARENT, ("custom", "my-model"), usage=total), *turn(TURN, total + TURN, estimated=True)]
    written(home, CHILD, [session(CHILD, ("deepseek", "deepseek-flash")), *turn(TURN, TURN)], agent="helper")
    return written(home, PARENT, later, number=2)


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]


def test_a_row_for_each_context_and_kind_of_request_and_sums_below(home: Home, parent: Path) -> None:
    done = home.penguin("trace", "cost", "0a1b2c3d")
    assert (done.code, done.err) == (0, "")
    assert rows(done.out)[:9] == [
        ["session", "model", "requests", "cached", "not cached", "output", "cost"],
        ["0a1b2c3d #1", "openai / gpt-5.1-2025-11-13", "1 turn", "4,000", "1,000,000", "2,000", "$1.2705"],
        ["1 compaction", "0", "50,000", "400", "$0.0665"],
        ["1 failed attempt", "0", "0", "100", "$0.0010"],
        ["0a1b2c3d #2", "custom / my-model", "1 turn", "4,000", "1,000,000", "2,000", "price unknown"],
        ["0a1b2c3d", "total", "8,000", "2,050,000", "4,500", "at least $1.3380"],
        ["4e5f6a7b #1", "deepseek / deepseek-flash", "1 turn", "4,000", "1,000,000", "2,000", "at least $0.1512"],
        ["all", "2 sessions", "12,000", "3,050,000", "6,500", "at least $1.4892"],
        [],
    ]
    said = done.out.split("\n\n")[1]
    assert "ℹ the tokens of 1 request are estimated" in said
    assert "ℹ nobody said what 1 more failed attempt cost" in said
    assert "openai / gpt-5.1-2025-11-13: prices of 20" in said
    assert "; more at some hours" in said


def test_without_the_tree_children_do_not_count(home: Home, parent: Path) -> None:
    done = home.penguin("trace", "cost", "0a1b2c3d", "--no-tree")
    assert "4e5f6a7b" not in done.out
    assert "sessions" not in done.out


def test_a_later_file_alone_and_a_child_that_is_gone(home: Home, parent: Path) -> None:
    done = home.penguin("trace", "cost", str(parent))
    assert "ℹ the files before are not counted: 1,056,500 tokens" in done.out
    for path in home.data.rglob(f"{CHILD}*"):
        path.unlink()
    done = home.penguin("trace", "cost", "0a1b2c3d")
    assert f"✗ the child {CHILD} is not counted: " in done.out
    assert rows(done.out)[6] == ["all", "1 session", "8,000", "2,050,000", "4,500", "at least $1.3380"]


def test_programs_get_exact_numbers(home: Home, parent: Path) -> None:
    done = home.penguin("trace", "cost", "0a1b2c3d", "--json")
    report = json.loads(done.out)
    assert (report["own"]["dollars"], report["own"]["complete"]) == ("1.338000000", False)
    assert (report["total"]["dollars"], report["total"]["counts"]["output"]) == ("1.489212000", 6500)
    assert [request["kind"] for request in report["contexts"][0]["requests"]] == ["failed", "turn", "compaction"]
    assert report["children"][0]["contexts"][0]["model"] == {"provider": "deepseek", "model_id": "deepseek-flash"}


def test_totals_that_do_not_fit_and_lines_that_cannot_be_read_are_told(home: Home) -> None:
    path = written(home, PARENT, [session(PARENT, ("custom", "m")), *turn(LOST, LOST + LOST)])
    path.write_bytes(path.read_bytes() + b"{\n")
    done = home.penguin("trace", "cost", str(path))
    assert "token_usage 1 states 0 + 0 + 200 = 200 tokens; the requests add up to 0 + 0 + 100 = 100 tokens" in done.out
    assert "penguin: skipped " in done.err
    assert done.code == 0


def test_a_session_that_asked_nothing_costs_nothing(home: Home) -> None:
    written(home, PARENT, [session(PARENT, ("custom", "m"))])
    done = home.penguin("trace", "cost", "0a1b2c3d")
    assert rows(done.out)[1] == ["0a1b2c3d #1", "custom / m", "none", "0", "0", "0", "$0.0000"]
    assert done.out.count("\n") == 2


def test_no_such_session_is_one_line_on_standard_error(home: Home) -> None:
    done = home.penguin("trace", "cost", "nothing")
    assert (done.code, done.out) == (2, "")
    assert "no session matches 'nothing'" in done.err
