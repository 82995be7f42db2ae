"""Gemini: nameless chunks with lines that end in CRLF, token counts in each, whole calls, and no mark of the end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from benchmarks.replies.turn import ASKED, Turn, WireReply, event

SIGNATURE = "Cs" + "A" * 254
"""Stands for the thoughts before a call: the next request has to bring it back."""


def events(turn: Turn) -> Iterator[bytes]:
    for number, word in enumerate(turn.words, 1):
        yield chunk(turn, {"text": word}, number)
    last: dict[str, Any] = {"text": ""}
    if turn.calls:
        call = {"name": "add", "args": turn.arguments, "id": turn.call_id}
        last = {"functionCall": call, "thoughtSignature": SIGNATURE}
    yield chunk(turn, last, turn.length, finish="STOP")


def chunk(turn: Turn, part: dict[str, Any], length: int, finish: str | None = None) -> bytes:
    candidate: dict[str, Any] = {"content": {"parts": [part], "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    usage = {
        "promptTokenCount": ASKED,
        "candidatesTokenCount": length,
        "totalTokenCount": ASKED + length,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": ASKED}],
    }
    named = {"modelVersion": turn.model, "responseId": f"{turn.number:023}"}
    return event({"candidates": [candidate], "usageMetadata": usage, **named}, newline="\r\n")


WIRE = WireReply(path=b":streamGenerateContent", output=re.compile(rb'"functionResponse":'), events=events)
