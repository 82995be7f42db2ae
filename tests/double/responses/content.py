"""What is refused in the content of messages and outputs."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

from tests.double import strict_json
from tests.double.refusal import Refusal, as_list, as_object, invalid, missing, unknown, wrong_type
from tests.double.responses.wording import empty, not_one_of

INPUT = {
    "input_text": frozenset({"type", "text", "prompt_cache_breakpoint"}),
    "input_image": frozenset({"type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"}),
    "input_file": frozenset({
        "type", "file_data", "file_id", "file_url", "filename", "detail", "prompt_cache_breakpoint"
    }),
}  # fmt: skip
OUTPUT = {
    "output_text": frozenset({"type", "text", "annotations", "logprobs"}),
    "refusal": frozenset({"type", "refusal"}),
}
DATA_URL = re.compile(r"data:([^;,]*);base64,(.*)", re.DOTALL)
MAGIC = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
EXAMPLE = "data:image/png;base64,aW1nIGJ5dGVzIGhlcmU="


def check_input(at: str, content: object, *, images: bool) -> Iterator[Refusal]:
    """A text or a list of input parts; what the client writes must be visible."""
    if isinstance(content, str):
        yield from check_visible(at, content)
        return
    parts = as_list(content)
    if parts is None:
        yield wrong_type(at, "one of an array of objects or string", content)
    elif not parts:
        yield empty(at)
    for number, part in enumerate(parts or ()):
        yield from check_input_part(f"{at}[{number}]", part, images=images)


def check_input_part(at: str, value: object, *, images: bool) -> Iterator[Refusal]:
    part = as_object(value)
    if part is None:
        yield wrong_type(at, "an object", value)
        return
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in INPUT:
        yield not_one_of(f"{at}.type", kind, tuple(INPUT))
        return
    yield from (unknown(f"{at}.{key}") for key in part if key not in INPUT[kind])
    if part.get("prompt_cache_breakpoint") is not None:
        yield from check_breakpoint(f"{at}.prompt_cache_breakpoint", part["prompt_cache_breakpoint"])
    match kind:
        case "input_text":
            yield from check_visible(f"{at}.text", part.get("text"))
        case "input_image":
            yield from check_image(at, part, images=images)
        case _:
            if not any(isinstance(part.get(key), str) for key in ("file_data", "file_id", "file_url")):
                yield missing(f"{at}.file_data")


def check_output(at: str, content: object) -> Iterator[Refusal]:
    """What an assistant said: a text or a list of output parts, empty as they may be."""
    if isinstance(content, str):
        return
    parts = as_list(content)
    if parts is None:
        yield wrong_type(at, "one of an array of objects or string", content)
    for number, value in enumerate(parts or ()):
        part, place = as_object(value), f"{at}[{number}]"
        kind = None if part is None else part.get("type")
        if part is None or not isinstance(kind, str) or kind not in OUTPUT:
            yield not_one_of(place, kind, tuple(OUTPUT))
            continue
        yield from (unknown(f"{place}.{key}") for key in part if key not in OUTPUT[kind])
        key = "text" if kind == "output_text" else "refusal"
        yield from check_string(f"{place}.{key}", part.get(key))
        for name in ("annotations", "logprobs"):
            if as_list(part.get(name, [])) is None:
                yield wrong_type(f"{place}.{name}", "an array of objects", part[name])


def check_string(at: str, text: object) -> Iterator[Refusal]:
    if not isinstance(text, str):
        yield missing(at) if text is None else wrong_type(at, "a string", text)


def check_visible(at: str, text: object) -> Iterator[Refusal]:
    yield from check_string(at, text)
    if isinstance(text, str) and not strict_json.is_visible(text):
        yield invalid(at, "text content must contain a visible character.", "blank_text")


def check_breakpoint(at: str, value: object) -> Iterator[Refusal]:
    marker = as_object(value)
    if marker is None:
        yield wrong_type(at, "an object", value)
        return
    yield from (unknown(f"{at}.{key}") for key in marker if key not in ("mode", "ttl"))
    if marker.get("mode") != "explicit":
        yield not_one_of(f"{at}.mode", marker.get("mode"), ("explicit",))
    if marker.get("ttl", "30m") not in ("30m", "12h"):
        yield not_one_of(f"{at}.ttl", marker["ttl"], ("30m", "12h"))


def check_image(at: str, part: dict[str, object], *, images: bool) -> Iterator[Refusal]:
    if not images:
        yield Refusal("Invalid content type. input_image is only supported by certain models.", at)
    if part.get("detail") not in (None, "low", "high", "auto", "original"):
        yield not_one_of(f"{at}.detail", part["detail"], ("low", "high", "auto", "original"))
    url = part.get("image_url")
    if url is None:
        file_id = part.get("file_id")
        text = f"No such File object: {file_id}"
        yield missing(f"{at}.image_url") if file_id is None else Refusal(text, f"{at}.file_id", None, 404)
    elif not isinstance(url, str):
        yield wrong_type(f"{at}.image_url", "an image URL", url)
    elif url.startswith("data:"):
        yield from check_data_url(f"{at}.image_url", url)
    elif not url.startswith(("https://", "http://")):
        text = f"Invalid '{at}.image_url'. Expected a valid URL, but got a value with an invalid format."
        yield Refusal(text, f"{at}.image_url", "invalid_value")


def check_data_url(at: str, url: str) -> Iterator[Refusal]:
    match = DATA_URL.fullmatch(url)
    kind = "" if match is None else match[1]
    if match is None or kind not in MAGIC:
        text = f"Expected a base64-encoded data URL with an image MIME type (e.g. '{EXAMPLE}'), but got"
        yield Refusal(f"Invalid '{at}'. {text} unsupported MIME type '{kind}'.", at, "invalid_value")
        return
    try:
        data = base64.b64decode(match[2], validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not data.startswith(MAGIC[kind]):
        text = "The image data you provided does not represent a valid image. Please check your input and try again"
        yield Refusal(f"{text} with one of the supported image formats: {sorted(MAGIC)}.", at, "invalid_image")
