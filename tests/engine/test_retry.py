"""The ladder: each wait, what begins it anew, and where it ends."""

from __future__ import annotations

import pytest

from penguin_harness.contracts import Outcome
from penguin_harness.engine.retry import Ladder

DROPPED = Outcome("retryable", "network", "reset")


def waits(ladder: Ladder, count: int, *, progress: bool = False) -> list[int | None]:
    return [ladder.failed(DROPPED, progress=progress) for _ in range(count)]


def test_six_attempts_without_progress() -> None:
    ladder = Ladder()
    assert waits(ladder, 6) == [2_000, 4_000, 8_000, 16_000, 30_000, None]
    assert ladder.attempt == 6


def test_progress_begins_the_ladder_anew_and_twenty_retries_end_it() -> None:
    ladder = Ladder()
    assert waits(ladder, 2) == [2_000, 4_000]
    assert waits(ladder, 1, progress=True) == [2_000]
    assert waits(ladder, 1) == [4_000]
    assert waits(Ladder(), 21, progress=True) == [2_000] * 20 + [None]


@pytest.mark.parametrize(
    ("asked", "wait"), [(0, 0), (50, 50), (3_000, 3_000), (60_000, 60_000), (10**12, 60_000), (-5, 0)]
)
def test_the_servers_own_wait_wins_up_to_a_minute(asked: int, wait: int) -> None:
    """B081."""
    assert Ladder().failed(Outcome("retryable", "network", "429", retry_after_ms=asked), progress=False) == wait


@pytest.mark.parametrize("status", ["fatal", "aborted"])
def test_nothing_else_is_tried_again(status: str) -> None:
    assert Ladder().failed(Outcome(status, "auth", "no"), progress=True) is None  # type: ignore[arg-type]
