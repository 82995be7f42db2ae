"""OpenRouter's structured reasoning: cut into fragments when it streams, wanted back whole."""

from __future__ import annotations

import msgspec
from msgspec import Raw, Struct

from penguin_harness.contracts import ThinkingDelta
from penguin_harness.llm.opacity import read
from penguin_harness.llm.openai_chat.fidelity import of_details

_GROWING = ("text", "summary")
"""Members that come in pieces; the others come once, or again."""


class _Label(Struct):
    type: object = None
    index: object = None


_list = msgspec.json.Decoder(list[Raw])
_label = msgspec.json.Decoder(_Label).decode
_members = msgspec.json.Decoder(dict[str, Raw]).decode
_text = msgspec.json.Decoder(str).decode
_encode = msgspec.json.Encoder().encode


class ReasoningDetails:
    """The blocks of one answer, each the list of its fragments."""

    def __init__(self) -> None:
        self.blocks: list[list[Raw]] = []

    def add(self, fragments: Raw) -> None:
        """Continue the last block, or begin another one, with each fragment of a list."""
        for fragment in read(fragments, _list) or ():
            try:
                label = _label(fragment)
            except msgspec.MsgspecError:
                continue  # no object, as a heartbeat's null: nothing that could be wanted back
            kept = Raw(bytes(fragment))
            if label.type == "reasoning.encrypted" or not self.blocks or label != _label(self.blocks[-1][0]):
                self.blocks.append([kept])
            else:
                self.blocks[-1].append(kept)

    def take(self) -> ThinkingDelta:
        """All blocks so far, as the fidelity of the thinking before them."""
        blocks, self.blocks = self.blocks, []
        return ThinkingDelta("", 0, of_details([_joined(fragments) for fragments in blocks]))


def _joined(fragments: list[Raw]) -> Raw:
    """One block: what came in pieces is joined, all else stays byte for byte; a block in one piece is untouched."""
    if len(fragments) == 1:
        return fragments[0]
    block: dict[str, Raw] = {}
    pieces: dict[str, list[str]] = {}
    for fragment in fragments:
        for name, value in _members(fragment).items():
            text = bytes(value)
            if text == b"null" and name in block:
                continue
            block[name] = value
            if name in _GROWING and text.startswith(b'"'):
                pieces.setdefault(name, []).append(_text(value))
    return Raw(_encode(block | {name: Raw(_encode("".join(found))) for name, found in pieces.items()}))
