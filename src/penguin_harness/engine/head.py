"""The head of a later Trace file: a function of the state at the end of the file before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.engine.context import Context
from penguin_harness.omnimessage import (
    AssistantContent,
    CompletePayload,
    ImageUrl,
    InlineData,
    InlineThinking,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    ToolListReady,
    ToolSchema,
    UserContent,
    block,
)

_SUMMARY = re.compile(r"\[summary\](.*?)(?:\[/summary\]|\Z)", re.DOTALL)
_THOUGHTS = "[Left out here: {thoughts} of the model's thinking, which only the model that thought them may be given.]"
_LEFT_OUT = "[The older part of this conversation is left out here: it was too long.]"


class HeadRecord(Struct, frozen=True):
    """One record of a head, and whether the caller sees it."""

    payload: ToolListReady | UserContent
    streamed: bool


class Head(Struct, frozen=True):
    """What a new context begins with, behind its session_meta."""

    opening: Text | None
    carried: tuple[UserContent, ...]

    def all(self, tools: tuple[ToolSchema, ...]) -> Iterator[HeadRecord]:
        """The records in their order; copies of what the caller said are not streamed again."""
        yield HeadRecord(ToolListReady(tools), streamed=True)
        if self.opening is not None:
            yield HeadRecord(self.opening, streamed=True)
        for content in self.carried:
            yield HeadRecord(content, streamed=False)


def next_head(state: Context) -> Head:
    """The head of the context that follows this one: after a compaction its summary, else a hand-over in words."""
    carried = tuple(replace(content, carried=True) for content in state.unanswered())
    if state.compacted is None:
        told = transcript(state.answered())
    elif state.compacted.begin.mode == "summarize":
        told = summary_of(state.compacted.reply)
    else:
        told = None
    opening = Text("user", block("context_summary", told), sender="harness") if told else None
    return Head(opening, carried)


def missing_head(before: Context, current: Context) -> list[HeadRecord]:
    """What a crash left out of the head of the current file, given the state at the end of the file before."""
    opening, *content = [*next_head(before).all(current.tools or before.tools or ())]
    left = content[len(current.messages) :]
    return left if current.tools is not None else [opening, *left]


def summary_of(reply: Sequence[AssistantContent]) -> str | None:
    """The first summary with anything in it; a mark that was never closed reaches to the end."""
    text = "".join(content.text for content in reply if isinstance(content, Text))
    return next((found for match in _SUMMARY.finditer(text) if (found := match[1].strip())), None)


def shortened(history: Sequence[CompletePayload], halvings: int) -> Sequence[CompletePayload]:
    """The history, cut so many times to the newer half of its turns; a border lies where no call is open."""
    borders = [
        place
        for place, payload in enumerate(history)
        if place and payload.role == "assistant" and history[place - 1].role == "user"
    ]
    if halvings == 0 or not borders:
        return history
    first = borders[min(len(borders) - 1, len(borders) - (len(borders) >> halvings))]
    return (Text("user", _LEFT_OUT, sender="harness"), *history[first:])


def transcript(history: Sequence[CompletePayload]) -> str:
    """The conversation in words, for a model that cannot take over another one's messages; and what is left out."""
    told = [part for payload in history if (part := _told(payload))]
    thoughts = sum(isinstance(payload, Thinking | InlineThinking) for payload in history)
    if told and thoughts:
        told.append(_THOUGHTS.format(thoughts=f"{thoughts} part{'' if thoughts == 1 else 's'}"))
    return "\n\n".join(told)


def _told(payload: CompletePayload) -> str:
    match payload:
        case Text(role=role, text=text):
            return f"{'Person' if role == 'user' else 'Assistant'}: {text}" if text.strip() else ""
        case ToolCall(name=name, arguments=arguments):
            return f"Assistant calls {name} {arguments}"
        case ToolCallOutput(output=output):
            return f"Output: {output}"
        case ImageUrl() | InlineData():
            return "(An image or other data, left out here.)"
        case Thinking() | InlineThinking():
            return ""
