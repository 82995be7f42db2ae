"""A call's arguments, as protocols want them that parse those of earlier calls."""

from __future__ import annotations

import msgspec
from msgspec import Raw

from penguin_harness.omnimessage.unicode import clean_json

_object = msgspec.json.Decoder(dict[str, Raw])


def object_text(arguments: str) -> str:
    """What the model wrote, or `{}` where that is no JSON object.

    A server that parses the arguments of earlier calls refuses the whole request over a bad one. The output of such a
    call tells the model what was wrong with it.
    """
    cleaned = clean_json(arguments.encode()).decode()
    try:
        _object.decode(cleaned)
    except (msgspec.MsgspecError, RecursionError):
        return "{}"
    return cleaned


def object_json(arguments: str) -> Raw:
    """The same as a value: the bytes that the model wrote."""
    return Raw(object_text(arguments).encode())
