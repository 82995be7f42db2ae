"""Events out of bytes: the same whatever the chunking."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penguin_harness.llm.sse import Event, SseReader, WholeBody


def read(*chunks: bytes) -> list[Event]:
    reader = SseReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    return events + reader.finish()


def cut(body: bytes, places: list[int]) -> list[bytes]:
    borders = [0, *sorted(place % (len(body) + 1) for place in places), len(body)]
    return [body[start:end] for start, end in pairwise(borders)]


@pytest.mark.parametrize(
    ("body", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a\n\n", [("", b" a")]),
        (b"data\n\n", [("", b"")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b"data: a\n\n\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"event: error\ndata: {}\n\ndata: x\n\n", [("error", b"{}"), ("", b"x")]),
        (b"data: {}\nevent: late\n\n", [("late", b"{}")]),
        (b"event: ping\n\ndata: x\n\n", [("", b"x")]),
        (b": comment\n\ndata: x\n: y\nid: 7\nretry: 10\nodd\n\n", [("", b"x")]),
        (b"\xef\xbb\xbfdata: x\n\n", [("", b"x")]),
        (b"data: [DONE]\n\n", [("", b"[DONE]")]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", [("", b"a"), ("", b"b"), ("", b"c")]),
        (b"data: cut", [("", b"cut")]),
        (b"data: cut\n", [("", b"cut")]),
        (b"data: a\ndata: ", [("", b"a\n")]),
        (b"", []),
    ],
)
def test_reads_what_the_standard_says(body: bytes, events: list[Event]) -> None:
    assert read(body) == events
    assert read(*(body[place : place + 1] for place in range(len(body)))) == events


def test_an_event_is_delivered_as_soon_as_it_is_whole() -> None:
    """Also at a CR that may turn out to be half of a CRLF."""
    reader = SseReader()
    assert reader.feed(b"data: a\r\n\r") == [("", b"a")]
    assert reader.feed(b"\ndata: b\n") == []
    assert reader.feed(b"\n") == [("", b"b")]


def test_b063_only_line_feeds_and_carriage_returns_end_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf".encode()
    assert read(b"data: " + text + b"\n\n") == [("", text)]


@given(st.lists(st.integers(0, 10_000), max_size=12))
def test_b062_and_b066_cuts_never_matter(places: list[int]) -> None:
    body = "data: 漢字🐧\n\nevent: x\ndata: é\r\ndata: 🐧\r\n\r\n: hi\n\ndata: last\n\n".encode()
    assert read(*cut(body, places)) == read(body) == [
        ("", "漢字🐧".encode()),
        ("x", "é\n🐧".encode()),
        ("", b"last"),
    ]  # fmt: skip


lines = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=8)
noise = st.sampled_from(["", ": keep-alive\n", "id: 4\n", "retry: 9\n", ":\n\n", "\n", "odd line\n"])


@given(st.data())
def test_line_endings_comments_and_heartbeats_never_matter(data: st.DataObject) -> None:
    datas = data.draw(st.lists(st.lists(lines, min_size=1, max_size=3), max_size=6))
    body = ""
    for wanted in datas:
        body += data.draw(noise)
        body += "".join(data.draw(st.sampled_from(["data: ", "data:"])) + line + "\n" for line in wanted) + "\n"
    ending = data.draw(st.sampled_from(["\n", "\r", "\r\n"]))
    places = data.draw(st.lists(st.integers(0, 10_000), max_size=8))
    plain = read(body.encode())
    assert read(*cut(body.replace("\n", ending).encode(), places)) == plain
    assert len(plain) == len(datas)


def test_a_long_line_in_many_pieces_is_read_in_linear_time() -> None:
    pieces = [b"data: ", *[b"x" * 100] * 100_000, b"\n\n"]
    assert read(*pieces) == [("", b"x" * 10_000_000)]


def test_a_document_in_place_of_a_stream_is_one_event() -> None:
    body = WholeBody()
    assert body.feed(b'{"a":') == []
    assert body.feed(b"1}") == []
    assert body.finish() == [("", b'{"a":1}')]
