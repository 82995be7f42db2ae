"""A content block while it is said, and what of it is known only at its start or its end."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import UNSET, Raw, UnsetType

from penguin_harness.contracts import CallDelta, ModelDelta, TextDelta, ThinkingDelta
from penguin_harness.llm.anthropic.events import decode_block
from penguin_harness.llm.anthropic.fidelity import extra_members, of_block, of_redacted, of_thinking

_NO_INPUT = frozenset({b"{}", b"null"})


class OpenBlock:
    """The content block that is being said."""

    def __init__(self, index: int, raw: Raw | UnsetType) -> None:
        self.index = index
        self.whole = False
        self.streamed = False
        """Whether a call's input came in pieces."""
        self._block = decode_block(raw)
        self._raw = None if isinstance(raw, UnsetType) else Raw(bytes(raw))
        self._signature: list[bytes] = []
        if isinstance(self._block.signature, Raw):
            self.sign(self._block.signature)

    def sign(self, signature: Raw) -> None:
        """A piece of the signature, as a JSON string."""
        text = bytes(signature)
        if text.startswith(b'"'):
            self._signature.append(text[1:-1])

    def first(self) -> Iterator[ModelDelta]:
        """What the block says at its start."""
        block, index = self._block, self.index
        match block.type:
            case "text":
                fidelity = of_block(self._extra())
                if block.text or fidelity is not UNSET:
                    yield TextDelta(block.text or "", index, fidelity)
            case "thinking" if block.thinking:
                yield ThinkingDelta(block.thinking, index)
            case "redacted_thinking" if self._raw is not None:
                yield ThinkingDelta("", index, of_redacted(self._raw))
            case "tool_use":
                yield CallDelta(index, "", block.id, block.name, of_block(self._extra()))
            case _:
                return

    def last(self) -> Iterator[ModelDelta]:
        """What is known of the block only at its end."""
        block, index = self._block, self.index
        match block.type:
            case "thinking":
                signature = Raw(b'"%b"' % b"".join(self._signature)) if self._signature else UNSET
                yield ThinkingDelta("", index, of_thinking(signature, self._extra()))
            case "tool_use" if isinstance(block.input, Raw) and not self.streamed:
                given = bytes(block.input)
                if given not in _NO_INPUT:
                    yield CallDelta(index, given.decode())
            case _:
                return

    def _extra(self) -> dict[str, Raw]:
        return {} if self._raw is None else extra_members(self._raw)
