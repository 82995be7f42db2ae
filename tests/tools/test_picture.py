"""Images reach the model whole, within what providers take, or not at all."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path

import pytest

from penguin_harness.omnimessage import ToolCallOutput
from penguin_harness.tools.picture import picture_of
from penguin_harness.tools.read_file import IMAGE_LIMIT
from tests.tools.support import call, make_toolbox, run


def png(width: int, height: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress((b"\0" + bytes(width)) * height) if width * height < 1_000_000 else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def jpeg(width: int, height: int, *, kind: int = 0xC0) -> bytes:
    application = b"\xff\xe1" + struct.pack(">H", 8) + b"Exif\xff\xd9"
    frame = bytes([0xFF, kind]) + struct.pack(">HBHHB", 8, 8, height, width, 0)
    scan = b"\xff\xda" + struct.pack(">H", 2) + b"\x12\x34"
    return b"\xff\xd8" + application + b"\xff" + frame + scan + b"\xff\xd9"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0, 0, 0) + b"\x2c\0\0;"


def webp(kind: bytes, body: bytes) -> bytes:
    inner = b"WEBP" + kind + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", len(inner)) + inner


LOSSY = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 70, 0x4000 | 50) + bytes(8))
LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", 69 | 49 << 14) + bytes(8))
EXTENDED = webp(b"VP8X", bytes(4) + (69).to_bytes(3, "little") + (49).to_bytes(3, "little") + bytes(4))
IMAGES = {
    "png": ("image/png", png(70, 50)),
    "jpeg": ("image/jpeg", jpeg(70, 50)),
    "progressive": ("image/jpeg", jpeg(70, 50, kind=0xC2)),
    "gif": ("image/gif", gif(70, 50)),
    "lossy": ("image/webp", LOSSY),
    "lossless": ("image/webp", LOSSLESS),
    "extended": ("image/webp", EXTENDED),
}


async def read(folder: Path, data: bytes) -> ToolCallOutput:
    box = make_toolbox(folder)
    (folder / "workspace" / "picture.txt").write_bytes(data)
    return await run(box, call("read_file", path="picture.txt"))


@pytest.mark.parametrize("name", IMAGES)
async def test_an_image_is_shown_whatever_its_name(tmp_path: Path, name: str) -> None:
    mime_type, data = IMAGES[name]
    output = await read(tmp_path, data)
    assert output.output == f"[{mime_type}, 70 x 50 pixels, {len(data)} bytes]"
    assert output.images == (f"data:{mime_type};base64,{base64.b64encode(data).decode()}",)


@pytest.mark.parametrize("name", IMAGES)
async def test_a_part_of_an_image_is_not(tmp_path: Path, name: str) -> None:
    """A provider refuses it, and would refuse every later request of the session."""
    mime_type, data = IMAGES[name]
    for length in range(12, len(data)):
        picture = picture_of(data[:length])
        assert picture is not None
        assert picture == (mime_type, None)
    output = await read(tmp_path, data[:-1])
    assert (output.stop_reason, output.images) == ("fatal", None)
    assert f"is no whole image ({mime_type}, {len(data) - 1} bytes)" in output.output


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (png(8_001, 100), "8001 x 100 pixels: each side may have 1 to 8000"),
        (png(0, 100), "0 x 100 pixels"),
        (
            png(10, 10) + bytes(IMAGE_LIMIT),
            f"an image of {len(png(10, 10)) + IMAGE_LIMIT} bytes: at most {IMAGE_LIMIT}",
        ),
        (png(10, 10)[:40] + bytes(21_000_000), "Make a smaller copy of it"),
    ],
    ids=["wide", "empty", "heavy", "huge"],
)
async def test_too_large_an_image_is_told(tmp_path: Path, data: bytes, said: str) -> None:
    output = await read(tmp_path, data)
    assert (output.stop_reason, output.images) == ("fatal", None)
    assert said in output.output


async def test_the_largest_fits_into_what_providers_take(tmp_path: Path) -> None:
    data = png(10, 10).ljust(IMAGE_LIMIT, b"\0")
    output = await read(tmp_path, data)
    assert output.images
    assert len(output.images[0].partition(",")[2]) <= 5 * 1024 * 1024


async def test_b165_an_image_has_words_for_a_model_without_eyes(tmp_path: Path) -> None:
    output = await read(tmp_path, png(3, 2))
    assert output.images
    assert "3 x 2 pixels" in output.output


def test_other_files_are_no_images() -> None:
    for data in (b"", b"GIF8", b"RIFF1234WAVE", b"BM123456", b"%PDF-1.7", b"text"):
        assert picture_of(data) is None
