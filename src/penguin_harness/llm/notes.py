"""What stands in the place of content that a model cannot be shown."""

from __future__ import annotations

from penguin_harness.omnimessage import InlineData, ToolCallOutput

NO_OUTPUT = "[no output]"
NO_IMAGE = "[An image is left out here: this model takes no images.]"


def of_data(payload: InlineData) -> str:
    """Content of a type that the protocol has no place for."""
    return f"[{payload.mime_type} data, {len(payload.data) * 3 // 4} bytes, cannot be shown here]"


def output_text(payload: ToolCallOutput, *, images: bool) -> str:
    """The text of an output, never blank; where images cannot be shown, with a note of each."""
    notes = () if images else (NO_IMAGE for _ in payload.images or ())
    return "\n".join((payload.output if payload.output.strip() else NO_OUTPUT, *notes))
