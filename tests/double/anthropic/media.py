"""Where the bytes of images and documents come from."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from tests.double import strict_json
from tests.double.anthropic.wording import check_keys, check_string, invalid, one_of, required, should_be, wrong_tag
from tests.double.refusal import Refusal, as_object

IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")
KEYS = {
    "base64": {"type", "media_type", "data"},
    "url": {"type", "url"},
    "text": {"type", "media_type", "data"},
}
SOURCES = {"image": ("base64", "url"), "document": ("base64", "url", "text")}
MAX_BYTES = 5 * 1024 * 1024


def check_source(at: str, kind: str, value: object) -> Iterator[Refusal]:
    """The source of an image or a document."""
    source = as_object(value)
    if source is None:
        yield should_be(at, "an object")
        return
    form = source.get("type")
    if not isinstance(form, str) or form not in SOURCES[kind]:
        yield required(f"{at}.type") if "type" not in source else wrong_tag(at, form, SOURCES[kind])
        return
    at = f"{at}.{form}"
    yield from check_keys(at, source, KEYS[form])
    broken = [refusal for key in sorted(KEYS[form] - {"type"}) for refusal in check_string(at, source, key)]
    yield from broken
    if not broken:
        yield from _check_form(at, kind, {key: str(item) for key, item in source.items()})


def _check_form(at: str, kind: str, source: dict[str, str]) -> Iterator[Refusal]:
    match source["type"], kind:
        case "url", _:
            if not source["url"].startswith("https://"):
                yield invalid(f"{at}.url", "Only HTTPS URLs are supported.")
        case "text", _:
            if source["media_type"] != "text/plain":
                yield one_of(f"{at}.media_type", ["text/plain"])
            if not strict_json.is_visible(source["data"]):
                yield invalid(f"{at}.data", "text content must be non-empty", "blank_text")
        case _, "image":
            yield from _check_image(at, source)
        case _:
            if source["media_type"] != "application/pdf":
                yield one_of(f"{at}.media_type", ["application/pdf"])
            elif not _decoded(source["data"]).startswith(b"%PDF-"):
                yield invalid(f"{at}.data", "The PDF specified was not valid.")


def _check_image(at: str, source: dict[str, str]) -> Iterator[Refusal]:
    if source["media_type"] not in IMAGES:
        yield one_of(f"{at}.media_type", IMAGES)
        return
    data = _decoded(source["data"])
    actual = _media_type(data)
    if len(source["data"]) > MAX_BYTES:
        yield invalid(at, f"image exceeds 5 MB maximum: {len(source['data'])} bytes > {MAX_BYTES} bytes")
    if actual is None:
        yield invalid(at, "Could not process image")
    elif actual != source["media_type"]:
        text = f"The image was specified using the {source['media_type']} media type"
        yield invalid(at, f"{text}, but the image appears to be a {actual} image")


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return b""


def _media_type(data: bytes) -> str | None:
    """What the first bytes say."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    heads = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}
    return next((kind for head, kind in heads.items() if data.startswith(head)), None)
