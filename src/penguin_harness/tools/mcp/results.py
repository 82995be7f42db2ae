"""What a server answers to a call, as a tool's result: text and images, everything else in files or in words."""

from __future__ import annotations

import base64
import binascii
import json
import mimetypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, assert_never, cast

import msgspec
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    InputRequiredResult,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from penguin_harness.errors import ToolFailed
from penguin_harness.tools.picture import picture_of
from penguin_harness.tools.tool import ToolResult

_NO_ERROR_TEXT = "The tool reported an error and said nothing about it."


class Answer:
    """Gathers the parts of one answer; `folder` gives the place for data that is neither text nor image."""

    def __init__(self, folder: Callable[[], Path], name: str) -> None:
        self._folder = folder
        self._name = name
        self._texts: list[str] = []
        self._images: list[str] = []

    def result(self, answer: CallToolResult | InputRequiredResult) -> ToolResult:
        """The whole of it. Raises ToolFailed when it is a question."""
        if isinstance(answer, InputRequiredResult):
            raise ToolFailed("The MCP server asks for more input before it answers, which is not supported here.")
        for block in answer.content:
            self._add(block)
        said = [block.text for block in answer.content if isinstance(block, TextContent)]
        structured: Any = answer.structured_content
        if structured is not None and not is_said(structured, said):
            self._texts.append(json.dumps(structured, ensure_ascii=False))
        text = "\n".join(self._texts)
        if answer.is_error:
            return ToolResult(text, tuple(self._images), None if text.strip() else _NO_ERROR_TEXT, "fatal")
        return ToolResult(text, tuple(self._images))

    def _add(self, block: TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource) -> None:
        match block:
            case TextContent():
                self._texts.append(block.text)
            case ImageContent() | AudioContent():
                self._add_data(block.data, block.mime_type)
            case ResourceLink():
                about = f": {block.description}" if block.description else ""
                self._texts.append(f"[resource {block.name}, {block.uri}{about}]")
            case EmbeddedResource(resource=TextResourceContents() as resource):
                self._texts.append(f"[{resource.uri}]\n{resource.text}")
            case EmbeddedResource(resource=BlobResourceContents() as resource):
                self._texts.append(f"[{resource.uri}]")
                self._add_data(resource.blob, resource.mime_type or "application/octet-stream")
            case EmbeddedResource():
                raise AssertionError("a resource is text or a blob")
            case _:
                assert_never(block)

    def _add_data(self, encoded: str, mime_type: str) -> None:
        try:
            data = base64.b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            self._texts.append(f"[{mime_type} that is not in base64, left out]")
            return
        picture = picture_of(data)
        if picture is not None and picture.size is not None:
            self._images.append(f"data:{picture.mime_type};base64,{encoded}")
        else:
            self._texts.append(f"[{mime_type}, {len(data)} bytes, {self._kept(data, mime_type)}]")

    def _kept(self, data: bytes, mime_type: str) -> str:
        ending = mimetypes.guess_extension(mime_type) or ".bin"
        try:
            for number in range(1, 1000):
                path = self._folder() / f"{self._name}-{number}{ending}"
                try:
                    with path.open("xb") as file:
                        file.write(data)
                except FileExistsError:
                    continue
                return f"in {path}"
        except OSError as error:
            return f"which could not be kept: {error.strerror or error}"
        return "which could not be kept: there are too many"


def is_said(structured: Any, texts: Sequence[str]) -> bool:
    """Whether the texts say what the structured part says: as JSON, or as the one value that some servers wrap."""
    values = [structured]
    if isinstance(structured, dict) and set(cast("dict[str, Any]", structured)) == {"result"}:
        values.append(structured["result"])
    parsed = [_parsed(text) for text in texts]
    forms: list[Any] = [*texts, *parsed, [*texts], parsed]
    return any(value == form for value in values for form in forms)


def _parsed(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return text
