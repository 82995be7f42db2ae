"""Raw lines: whether they decode, and whether a writer of today's protocol would have written them (section 1)."""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw

from penguin_harness.omnimessage.check.report import Findings
from penguin_harness.omnimessage.codec import DecodeError, decode, encode
from penguin_harness.omnimessage.messages import KnownMessage, OmniMessage, UnknownMessage
from penguin_harness.omnimessage.unicode import clean_json

_today: msgspec.json.Decoder[KnownMessage] = msgspec.json.Decoder(KnownMessage)
_ORDER = ("type", "timestamp", "payload", "origin")
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SPACE = re.compile(rb"\s")
_AT = re.compile(r"at `\$\.payload\S*?(\w+)`$")
_WORDS = {"stop_reason": "7.1", "status": "7.1", "role": "3.1"}


class BrokenLine(ValueError):
    """A line that is no OmniMessage, with the rule that says so."""

    def __init__(self, rule: str, message: str, *, torn: bool) -> None:
        super().__init__(message)
        self.rule = rule
        self.torn = torn
        """Whether it is not even whole JSON: what a writer leaves that dies in the middle of a record."""


def read_line(line: bytes, findings: Findings) -> OmniMessage:
    """The line's message, its form checked. Raises BrokenLine when it is none."""
    text = clean_json(line)
    try:
        message = decode(text)
    except DecodeError as error:
        torn = not _is_json(text)
        raise BrokenLine(_rule(str(error), "1.1"), f"{error} in {_short(line)}", torn=torn) from None
    if text != line:
        findings.broken("1.9", f"invalid Unicode in {_short(line)}")
    if findings.strict and not isinstance(message, UnknownMessage):
        _check_words(text, findings)
        if encode(message) != text:
            _check_form(text, findings)
    return message


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _check_words(line: bytes, findings: Findings) -> None:
    try:
        _today.decode(line)
    except msgspec.MsgspecError as error:
        findings.broken(_rule(str(error), "1.10"), f"{error} in {_short(line)}")


def _check_form(line: bytes, findings: Findings) -> None:
    members = msgspec.json.decode(line, type=dict[str, Raw])
    keys = [key for key in members if key in _ORDER]
    if keys != sorted(keys, key=_ORDER.index) or ("origin" in members and [*members][-1] != "origin"):
        findings.broken("1.6", f"the keys stand in the order {', '.join(members)}")
    payload = msgspec.json.decode(members["payload"], type=dict[str, Raw])
    if _SPACE.search(_STRING.sub(b"", _without_opaque(line, payload))):
        findings.broken("1.7", f"spaces outside the strings of {_short(line)}")
    for name, value in payload.items():
        if bytes(value) == b"null" or (name == "stop_reason" and bytes(value) == b'"completed"'):
            findings.broken("1.8", f"`{name}` is {bytes(value).decode()} and should be absent")


def _without_opaque(line: bytes, payload: dict[str, Raw]) -> bytes:
    opaque = [payload[name] for name in ("fidelity",) if name in payload]
    if "tools" in payload and payload.get("type") == Raw(b'"tool_list_ready"'):
        for tool in msgspec.json.decode(payload["tools"], type=list[dict[str, Raw]]):
            opaque += [tool[name] for name in ("parameters",) if name in tool]
    for value in opaque:
        line = line.replace(bytes(value), b"")
    return line


def _rule(error: str, otherwise: str) -> str:
    found = _AT.search(error)
    return _WORDS.get(found[1], otherwise) if found else otherwise


def _short(line: bytes) -> str:
    text = line.decode(errors="replace")
    return repr(text if len(text) <= 120 else text[:119] + "…")
