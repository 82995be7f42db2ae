"""What the vendor refuses in a content by itself: its parts and their data."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.proto import Json
from tests.double.gemini.shapes import PART
from tests.double.gemini.wording import argument, field
from tests.double.refusal import Refusal, as_list, as_object

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]*")
IMAGES: dict[str, bytes] = {
    "image/png": rb"\x89PNG\r\n\x1a\n",
    "image/jpeg": rb"\xff\xd8\xff",
    "image/webp": rb"RIFF.{4}WEBP",
    "image/heic": rb".{4}ftyp",
    "image/heif": rb".{4}ftyp",
    "image/avif": rb".{4}ftyp",
}
"""Formats that the vendor takes, and how their bytes begin."""
OTHERS = re.compile(
    r"application/(?:pdf|json)|text/(?:plain|html|css|csv|xml|rtf|javascript|markdown)"
    r"|audio/(?:wav|mp3|mpeg|aiff|aac|ogg|flac|m4a)|video/(?:mp4|mpeg|mov|quicktime|webm|x-flv|wmv)"
)
IN_RESPONSES = {"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}
INITIALIZED = "required oneof field 'data' must have one initialized field"


def check_content(at: str, content: Json, *, model: str, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    """Each part by itself; pairing and order are not seen here."""
    parts = parts_of(content)
    if not parts:
        yield field(f"{at}.parts", "contents.parts must not be empty.", "empty_parts")
    for number, part in enumerate(parts):
        yield from check_part(f"{at}.parts[{number}]", part, model=model, endpoint=endpoint)


def check_part(at: str, part: Json, *, model: str, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    kind = next((key for key in part if key in PART.data), None)
    if kind is None or (part.get("text") == "" and not part.get("thought_signature")):
        yield field(f"{at}.data", INITIALIZED, "no_data")
        return
    data = as_object(part[kind]) or {}
    match kind:
        case "inline_data":
            yield from check_blob(f"{at}.inline_data", data, model=model, endpoint=endpoint)
        case "file_data" if not data.get("file_uri"):
            yield field(f"{at}.file_data.file_uri", "must be specified.", "missing_uri")
        case "function_call" | "function_response":
            yield from check_name(f"{at}.{kind}.name", data.get("name"), endpoint)
            if kind == "function_response":
                yield from check_response(f"{at}.function_response", data, model=model, endpoint=endpoint)
        case _:
            pass


def check_name(at: str, name: object, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    if not isinstance(name, str) or not name:
        yield field(at, "Name cannot be empty.", "empty_name")
    elif not NAME.fullmatch(name) or len(name) > endpoint.max_name:
        text = "[FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9"
        text = f"{text}, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of"
        yield field(at, f"{text} {endpoint.max_name}.", "invalid_name")


def check_blob(at: str, blob: Json, *, model: str, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    kind, data = str(blob.get("mime_type", "")), blob.get("data")
    if kind not in IMAGES and not OTHERS.fullmatch(kind):
        yield Refusal(f"Unsupported MIME type: {kind}", f"{at}.mime_type", "unsupported_mime_type")
    elif kind in IMAGES and not endpoint.images:
        text = f"Image input modality is not enabled for models/{model}"
        yield Refusal(text, f"{at}.mime_type", "unsupported_image")
    elif not isinstance(data, bytes) or (kind in IMAGES and not re.match(IMAGES[kind], data, re.DOTALL)):
        text = "Unable to process input image. Please retry or report in"
        text = f"{text} https://developers.generativeai.google/guide/troubleshooting"
        yield Refusal(text, f"{at}.data", "unreadable_image")


def check_response(at: str, response: Json, *, model: str, endpoint: GeminiEndpoint) -> Iterator[Refusal]:
    if "response" not in response:
        yield field(f"{at}.response", "must be specified.", "missing_response")
    blobs = [as_object(part.get("inline_data")) or {} for part in parts_of(response)]
    if blobs and not endpoint.media_in_responses:
        yield argument(f"{at}.parts", "media_in_response")
    for number, blob in enumerate(blobs):
        place = f"{at}.parts[{number}].inline_data"
        if not blob:
            yield field(f"{at}.parts[{number}].data", INITIALIZED, "no_data")
        elif blob.get("mime_type") not in IN_RESPONSES:
            text = f"Unsupported MIME type: {blob.get('mime_type', '')}"
            yield Refusal(text, f"{place}.mime_type", "unsupported_mime_type")
        else:
            yield from check_blob(place, blob, model=model, endpoint=endpoint)
    names = {blob.get("display_name") for blob in blobs}
    for name in references(response.get("response")):
        if name not in names:
            text = f"The referenced name `{name}` in function_response.response does not match to a display_name in"
            yield Refusal(f"{text} the function_response.parts.", f"{at}.response", "dangling_reference")


def references(value: object) -> Iterator[str]:
    """What the vendor takes for the name of a part of the response: the text under any `$ref`."""
    fields = as_object(value) or {}
    name = fields.get("$ref")
    if isinstance(name, str):
        yield name
    for one in as_list(value) or fields.values():
        yield from references(one)


def parts_of(content: Json) -> list[Json]:
    """The parts of a content or of a function response."""
    return [as_object(part) or {} for part in as_list(content.get("parts")) or ()]
