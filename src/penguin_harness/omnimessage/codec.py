"""One encoder and one decoder: strict in what they write, tolerant in what they read."""

from __future__ import annotations

import re

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.omnimessage.dialect import modernize
from penguin_harness.omnimessage.messages import KINDS, KnownMessage, OmniMessage, UnknownMessage, UnknownPayload
from penguin_harness.omnimessage.unicode import clean_json

_decoder: msgspec.json.Decoder[KnownMessage] = msgspec.json.Decoder(KnownMessage)
_encoder = msgspec.json.Encoder()
_OUTSIDE_STRINGS = re.compile(rb'("(?:[^"\\]|\\.)*")|\s+', re.DOTALL)


class DecodeError(ValueError):
    """A line that is no OmniMessage; the text says where and why."""


class _Envelope(Struct):
    type: str
    timestamp: str
    payload: Raw
    origin: tuple[str, ...] | None = None


class _Kind(Struct):
    type: str | UnsetType = UNSET


def encode(message: OmniMessage) -> bytes:
    """The message as one line of compact UTF-8 JSON, without its newline."""
    return message.line if isinstance(message, UnknownMessage) else _encoder.encode(message)


def decode(line: bytes) -> OmniMessage:
    """Read one line: any key order, unknown fields and kinds, the old dialect, broken Unicode.

    Raises DecodeError when the line is no OmniMessage at all.
    """
    try:
        return _decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return _decode_tolerantly(line)


def decode_lines(block: bytes) -> list[KnownMessage]:
    """Read whole lines at once, at the speed of the decoder.

    Raises msgspec.MsgspecError when any line needs the tolerant path; read that block line by line then.
    """
    return _decoder.decode_lines(block)


def forward(line: bytes, session_id: str) -> bytes:
    """A child's encoded line as its parent passes it on: the child's id in front of `origin`, all else untouched."""
    own = b',"origin":[' + _encoder.encode(session_id)
    if line.endswith(b"}}"):
        return line[:-1] + own + b"]}"
    head, _, chain = line.rpartition(b',"origin":[')
    return head + own + b"," + chain


def opaque(data: bytes) -> Raw:
    """Provider data as fidelity: valid UTF-8 on one line, otherwise byte for byte.

    Raises DecodeError when it is not a JSON object.
    """
    text = clean_json(data)
    if b"\n" in text or b"\r" in text:
        text = _OUTSIDE_STRINGS.sub(lambda found: found[1] or b"", text)
    try:
        msgspec.json.decode(text, type=dict[str, Raw])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DecodeError(f"fidelity must be a JSON object: {error}") from None
    return Raw(text)


def _decode_tolerantly(line: bytes) -> OmniMessage:
    line = clean_json(line)
    try:
        envelope = msgspec.json.decode(line, type=_Envelope)
        if envelope.type not in KINDS:
            return _unknown(envelope, envelope.type, line)
        kind = _kind_of(envelope)
        members = modernize(kind, msgspec.json.decode(envelope.payload, type=dict[str, Raw]))
    except (msgspec.MsgspecError, RecursionError) as error:
        raise DecodeError(f"not an OmniMessage: {error}") from None
    modern = _Envelope(envelope.type, envelope.timestamp, Raw(_encoder.encode(members)), envelope.origin)
    try:
        return _decoder.decode(_encoder.encode(modern))
    except (msgspec.MsgspecError, RecursionError) as error:
        if kind in KINDS[envelope.type]:
            raise DecodeError(f"not a valid {kind}: {error}") from None
        return _unknown(envelope, kind, line)


def _kind_of(envelope: _Envelope) -> str:
    if envelope.type == "session_meta":
        return "session_meta"
    kind = msgspec.json.decode(envelope.payload, type=_Kind).type
    if kind is UNSET:
        raise msgspec.ValidationError("Object missing required field `type` - at `$.payload`")
    return kind


def _unknown(envelope: _Envelope, kind: str, line: bytes) -> UnknownMessage:
    payload = UnknownPayload(kind, Raw(bytes(envelope.payload)))
    return UnknownMessage(envelope.type, envelope.timestamp, payload, envelope.origin, line)
