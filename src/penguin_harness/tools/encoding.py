"""How a text file is written: its character encoding, its byte order mark, its line endings."""

from __future__ import annotations

import codecs
import re

from msgspec import Struct

SNIFF = 8_192
"""Bytes at the beginning of a file that tell what it is."""
_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_FOREIGN = re.compile("[\udc80-\udcff]")


class Encoding(Struct, frozen=True):
    """How a text file is written."""

    mark: bytes
    codec: str

    @property
    def reader(self) -> str:
        """The codec that skips the mark itself."""
        return "utf-8-sig" if self.codec == "utf-8" else self.codec.removesuffix("-le").removesuffix("-be")

    @property
    def name(self) -> str:
        """In words; "" for plain UTF-8."""
        if self.codec != "utf-8":
            return self.codec.upper()
        return "UTF-8 with a byte order mark" if self.mark else ""

    def decode(self, data: bytes) -> str:
        """The text behind the mark; bytes that are no UTF-8 survive the way there and back."""
        return data[len(self.mark) :].decode(self.codec, "surrogateescape")

    def encode(self, text: str) -> bytes:
        """The bytes of a file that holds the text."""
        return self.mark + text.encode(self.codec, "surrogateescape")


PLAIN = Encoding(b"", "utf-8")


def encoding_of(start: bytes) -> Encoding | None:
    """What the first bytes of a file say; None when it is binary."""
    for mark, codec in _MARKS:
        if start.startswith(mark):
            return Encoding(mark, codec)
    return None if b"\0" in start[:SNIFF] else PLAIN


def has_foreign_bytes(text: str) -> bool:
    """Whether a decoded text holds bytes that were no UTF-8, as those of an older encoding."""
    return _FOREIGN.search(text) is not None


def has_windows_endings(text: str) -> bool:
    """Whether every line ends in CR and LF."""
    return "\n" in text and text.count("\r\n") == text.count("\n")


def with_windows_endings(text: str) -> str:
    """The text with CR and LF at the end of each line."""
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
