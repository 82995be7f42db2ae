"""What a caller may say: checked before anything is written."""

from __future__ import annotations

from msgspec.structs import replace

from penguin_harness.errors import InputError
from penguin_harness.omnimessage import (
    ImageUrl,
    InlineData,
    ModelMessage,
    OmniMessage,
    Text,
    UserContent,
    block,
    clean,
    is_blank,
)


def user_content(number: int, message: OmniMessage) -> UserContent:
    """The content of the n-th input message, as it is recorded. Raises InputError that names what is wrong."""
    payload = message.payload if isinstance(message, ModelMessage) else None
    match payload:
        case Text(role="user", text=text):
            if is_blank(text):
                raise InputError(f"input {number} is a blank text: {text!r}; leave it out or write something")
            return Text("user", clean(text), sender=payload.sender)
        case ImageUrl(image_url=url):
            if is_blank(url):
                raise InputError(f"input {number} is an image without a URL")
            return replace(payload, carried=False, stop_reason="completed")
        case InlineData(role="user"):
            return InlineData("user", payload.data, payload.mime_type, sender=payload.sender)
        case _:
            role = getattr(payload, "role", None)
            what = f"{message.payload.type} of the {role}" if role else message.payload.type
            raise InputError(f"input {number} is a {what}; a run takes user texts, images and inline data only")


def steering(content: UserContent) -> UserContent:
    """The content as the model is given it in the middle of a task."""
    sender = content.sender or "user"
    if isinstance(content, Text):
        return Text("user", block("user_steering", content.text), sender=sender)
    return replace(content, sender=sender)
