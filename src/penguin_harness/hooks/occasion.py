"""What a hook is asked about: a prompt, a call, or a task that has ended."""

from __future__ import annotations

from typing import Any, TypeAlias, assert_never

import msgspec
from msgspec import Struct

from penguin_harness.contracts import Permission
from penguin_harness.omnimessage import HookPoint, Text, TokenCounts, ToolCall, UserContent, clean
from penguin_harness.omnimessage.unicode import clean_json


class Prompt(Struct, frozen=True):
    """A person's input; an answer's text is added behind it."""

    content: tuple[UserContent, ...]

    @property
    def text(self) -> str:
        """Its words."""
        return "\n\n".join(each.text for each in self.content if isinstance(each, Text))


class ProposedCall(Struct, frozen=True):
    """A call before it is approved; an answer allows or denies it."""

    call: ToolCall
    permission: Permission

    @property
    def arguments(self) -> dict[str, Any]:
        """What the tool will be given."""
        text = self.call.arguments
        return msgspec.json.decode(clean_json(clean(text).encode()), type=dict[str, Any]) if text.strip() else {}


class TaskEnded(Struct, frozen=True):
    """The model has nothing left to do; an answer's text is what it goes on with."""

    answer: str
    """The model's last words."""
    turns: int
    """Requests that the run has made."""
    usage: TokenCounts
    """Totals of the session."""
    round: int = 0
    """How often hooks have made it go on since the last prompt."""


Occasion: TypeAlias = Prompt | ProposedCall | TaskEnded


def point_of(occasion: Occasion) -> HookPoint:
    """The point of a run at which this is asked."""
    match occasion:
        case Prompt():
            return "user_prompt"
        case ProposedCall():
            return "pre_tool_use"
        case TaskEnded():
            return "stop"
        case _:
            assert_never(occasion)


def fields_of(occasion: Occasion) -> dict[str, Any]:
    """The occasion as a program reads it."""
    match occasion:
        case Prompt(content=content):
            return {"text": occasion.text, "content": content}
        case ProposedCall(call=call, permission=permission):
            known = {"tool": call.name, "arguments": occasion.arguments}
            return known | {"tool_call_id": call.tool_call_id, "permission": permission}
        case TaskEnded():
            return msgspec.structs.asdict(occasion)
        case _:
            assert_never(occasion)
