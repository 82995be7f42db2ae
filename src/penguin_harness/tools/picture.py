"""Image files: their kind and size, and whether they are whole. A broken one would make every later request fail."""

from __future__ import annotations

import struct
from typing import NamedTuple

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG = b"\xff\xd8\xff"
_WITHOUT_LENGTH = frozenset({0x01, *range(0xD0, 0xD9)})
_NO_FRAME = frozenset({0xC4, 0xC8, 0xCC})
_SCAN = 0xDA


class Picture(NamedTuple):
    """What the bytes of an image file say."""

    mime_type: str
    size: tuple[int, int] | None
    """Width and height in pixels; None when the file does not get that far, or is cut off behind it."""


def picture_of(data: bytes) -> Picture | None:
    """Of a PNG, JPEG, GIF or WebP file; None for any other. A few bytes are enough to know the kind."""
    if data.startswith(_PNG[:6]):
        return Picture("image/png", _png(data))
    if data.startswith(_JPEG):
        return Picture("image/jpeg", _jpeg(data))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return Picture("image/gif", _gif(data))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return Picture("image/webp", _webp(data))
    return None


def _png(data: bytes) -> tuple[int, int] | None:
    if data[:8] != _PNG or data[12:16] != b"IHDR" or not 0 <= data.rfind(b"IEND", 24) <= len(data) - 8:
        return None
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """Goes from segment to segment: the size is in the frame header, and behind the scan there is an end mark."""
    size: tuple[int, int] | None = None
    position = 2
    while position + 4 <= len(data) and data[position] == 0xFF:
        kind = data[position + 1]
        if kind == _SCAN:
            return size if b"\xff\xd9" in data[position:] else None
        if kind in _WITHOUT_LENGTH or kind == 0xFF:
            position += 1 if kind == 0xFF else 2
            continue
        if 0xC0 <= kind <= 0xCF and kind not in _NO_FRAME and position + 9 <= len(data):
            height, width = struct.unpack_from(">HH", data, position + 5)
            size = width, height
        position += 2 + struct.unpack_from(">H", data, position + 2)[0]
    return None


def _gif(data: bytes) -> tuple[int, int] | None:
    if len(data) < 14 or not data.rstrip(b"\0").endswith(b";"):
        return None
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _webp(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30 or struct.unpack_from("<I", data, 4)[0] + 8 > len(data):
        return None
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            return None
