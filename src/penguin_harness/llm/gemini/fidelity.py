"""What must be remembered of a part, so that it goes back as it came."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from penguin_harness.llm.opacity import read, written
from penguin_harness.omnimessage import CompletePayload, InlineData, InlineThinking, Text, Thinking, ToolCall

SIGNATURE = "thoughtSignature"


class PartFidelity(Struct, omit_defaults=True):
    """Of a part: all its members that the payload does not hold. An empty one says that this vendor's model made it."""

    part: dict[str, Raw]
    """Members beside the content, the signature among them."""
    content: dict[str, Raw] = {}
    """Members of a call or of binary data, as the id that a call had on the wire."""
    after: dict[str, Raw] = {}
    """Of the part without text that followed a text only to sign it."""
    whole: Raw | UnsetType = UNSET
    """A part of a kind that has no payload; the text shows what it says."""


_part = msgspec.json.Decoder(PartFidelity)


def of_part(
    part: Mapping[str, Raw], *, content: Mapping[str, Raw] | None = None, after: Mapping[str, Raw] | None = None
) -> Raw:
    """A part whose content is in the payload."""
    return written(PartFidelity(dict(part), dict(content or {}), dict(after or {})))


def of_whole(part: Raw) -> Raw:
    """A part that no payload stands for."""
    return written(PartFidelity({}, whole=part))


def read_part(payload: Text | Thinking | ToolCall | InlineData | InlineThinking) -> PartFidelity | None:
    """What this protocol recorded: of whole parts only, also where the answer was cut behind them."""
    return read(payload.fidelity, _part)


def keeps(payload: CompletePayload) -> bool:
    """Whether everything of the payload goes out again."""
    match payload:
        case Thinking(fidelity=fidelity) | InlineThinking(fidelity=fidelity):
            return read(fidelity, _part) is not None
        case Text(fidelity=Raw()) | ToolCall(fidelity=Raw()):
            return read(payload.fidelity, _part) is not None
        case InlineData(role="assistant", fidelity=fidelity):
            return read(fidelity, _part) is not None
        case _:
            return True


OWN = of_part({})
