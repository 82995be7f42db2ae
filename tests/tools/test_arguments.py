"""What the model wrote as arguments: run exactly as meant, or not run and told why."""

from __future__ import annotations

from pathlib import Path

import pytest

from penguin_harness.tools import raw_tool
from tests.tools.support import call, make_toolbox, raw_call, refusal, run

ran: list[object] = []


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:  # pyright: ignore[reportUnusedFunction]
    ran.clear()


async def record(a: list[int] | None = None, text: str = "", limit: int = 1) -> str:
    """Take note of a call."""
    ran.append((a, text, limit))
    return "done"


async def require(path: str) -> str:
    """Take note of a path."""
    ran.append(path)
    return "done"


@pytest.mark.parametrize("arguments", ["", "  ", "\n", "{}"])
async def test_blank_arguments_mean_an_empty_object(tmp_path: Path, arguments: str) -> None:
    """B067."""
    assert (await run(make_toolbox(tmp_path, record), raw_call("record", arguments))).output == "done"
    assert ran == [(None, "", 1)]


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ('{"path": "a', ["not valid JSON", "Unterminated string", "character 10 of 11"]),
        ("not json", ["not valid JSON", "character 1 of 8", "'not json'"]),
        ("{'path': 'a'}", ["not valid JSON", "double quotes"]),
        ('{"path": "a"} {"path": "b"}', ["not valid JSON", "Extra data"]),
        ('{"path": NaN}', ["not valid JSON", "NaN"]),
        ("[" * 100_000, ["not valid JSON"]),
        ('["a"]', ["Expected `object`, got `array`", "`$`"]),
        ('"a"', ["Expected `object`, got `str`"]),
        ('{"path": 1}', ["Expected `str`, got `int`", "`$.path`"]),
        ('{"path": "a", "other": 1}', ["unknown field `other`"]),
        ("", ["missing required field `path`"]),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_arguments_that_do_not_fit_run_nothing_and_are_explained(
    tmp_path: Path, arguments: str, parts: list[str]
) -> None:
    """B068."""
    told = refusal(make_toolbox(tmp_path, require), raw_call("require", arguments))
    for part in [*parts, '"required":["path"]', "not run"]:
        assert part in told
    assert ran == []


def test_a_stray_backslash_between_tokens_is_a_clear_error(tmp_path: Path) -> None:
    """B071."""
    told = refusal(make_toolbox(tmp_path, record), raw_call("record", '{"a": \\n[1,2]\\n}'))
    assert "not valid JSON" in told
    assert "character 7 of 16" in told
    assert ran == []


async def test_escaped_surrogates_are_joined_or_replaced(tmp_path: Path) -> None:
    """B167."""
    box = make_toolbox(tmp_path, record)
    await run(box, raw_call("record", '{"text":"\\ud83c\\udf78 \\ud83c"}'))
    await run(box, raw_call("record", '{"text":"\ud83c\udf78 \ud83c"}'))
    assert ran == [(None, "\U0001f378 \ufffd", 1)] * 2


@pytest.mark.parametrize("arguments", ['{"limit": "3"}', '{"limit": 1.0}', '{"limit": true}', '{"limit": null}'])
def test_a_value_of_another_type_is_not_converted(tmp_path: Path, arguments: str) -> None:
    assert "`$.limit`" in refusal(make_toolbox(tmp_path, record), raw_call("record", arguments))


def test_an_unknown_name_is_answered_with_the_names_there_are(tmp_path: Path) -> None:
    """B072."""
    told = refusal(make_toolbox(tmp_path, record, require), call("list_sites"))
    assert "'list_sites'" in told
    assert "record, require" in told


def test_a_long_schema_is_cut_in_the_explanation(tmp_path: Path) -> None:
    schema = b'{"description":"' + b"x" * 50_000 + b'"}'
    box = make_toolbox(tmp_path, raw_tool("foreign", "Do.", schema, record))
    assert len(refusal(box, raw_call("foreign", "[]"))) < 5_000
