"""Whether a request brings back what the whole answers of its context said."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from tests.double.gemini.contents import parts_of
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.proto import Json
from tests.double.gemini.request import contents_of, read
from tests.double.gemini.said import Item, item_of, merged, whole
from tests.double.protocol import Answer
from tests.double.refusal import Refusal


def check_replay(contents: Sequence[Json], past: Sequence[Answer], endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    """What is missing or changed of each whole answer."""
    start = 0
    for number, answer in enumerate(past if endpoint.expect_replay else ()):
        items = whole(answer)
        if not items:
            continue
        behind = len(contents_of(read(answer.asked.body, endpoint.extra_keys).message))
        places = range(behind, behind + 1) if endpoint.expect_prefix else range(start, len(contents))
        lacks = {place: _lack(items, _given(contents, place)) for place in places}
        place = next((place for place in lacks if lacks[place] is None), next(iter(lacks), len(contents)))
        lack = lacks.get(place, items[0])
        if lack is not None:
            text = f"Answer {number} does not come back as it was said"
            text = f"{text}: {lack.kind} {lack.content!r} is missing or changed."
            yield Refusal(text, f"contents[{place}]", "answer_changed")
        start = place + 1


def _given(contents: Sequence[Json], place: int) -> list[Item]:
    """The items of an answer that begins here; it may have come back as several contents in a row."""
    answer = itertools.takewhile(lambda content: content.get("role") == "model", contents[place:])
    return merged(item_of(part) for content in answer for part in parts_of(content))


def _lack(items: Sequence[Item], given: Sequence[Item]) -> Item | None:
    """The first item that is not at its place; the output limit may have cut what stands behind the last."""
    return next((item for place, item in enumerate(items) if given[place : place + 1] != [item]), None)
