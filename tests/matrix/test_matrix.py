"""A sample of each matrix, the same at every run; `python -m tests.matrix.<name> --all` tries every point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import pytest

from tests.double.client import Double
from tests.matrix import abort, crash, fault, upstream
from tests.matrix.recordings import Recording, recordings
from tests.matrix.sweep import P, Prove, sample, sweep

SEED = 1


@pytest.fixture(scope="module")
def recorded() -> Iterator[list[Recording]]:
    """The sessions, recorded once for this module."""
    with recordings() as found:
        yield found


async def holds(name: str, points: Sequence[P], prove: Prove[P], count: int | None) -> None:
    report = await sweep(name, sample(points, count, SEED), prove)
    assert report.failures == (), str(report)


async def test_a_fault_of_the_provider_at_any_chunk_loses_and_repeats_nothing(double: Double) -> None:
    await holds("fault", fault.points(), partial(fault.prove, double=double), 80)


async def test_an_interruption_behind_any_message_closes_everything(double: Double) -> None:
    await holds("abort", abort.points(), partial(abort.prove, double=double), 120)


async def test_a_crash_at_any_record_loses_nothing_that_was_committed(recorded: list[Recording]) -> None:
    await holds("crash at a border", crash.borders(recorded), crash.prove, 500)


async def test_a_crash_at_any_byte_loses_nothing_that_was_committed(recorded: list[Recording]) -> None:
    await holds("crash", crash.points(recorded), crash.prove, 300)


@pytest.mark.skipif(not upstream.points(), reason="the reference's Traces are not there")
async def test_every_trace_of_the_reference_goes_on() -> None:
    await holds("upstream", upstream.points(), upstream.prove, None)
