"""A few words for a session: a request aside, which enters neither the context nor the Trace."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

from penguin_harness.contracts import Model, Outcome, Request, TextDelta
from penguin_harness.omnimessage import CompletePayload, Text, clean, is_blank

PROMPT = (
    "You name conversations. Answer with a title of at most six words for the message you get: no quotes, no full stop."
)
LONGEST = 80
READ = 2000
"""Characters of the first message that the title is made of."""


async def make_title(model: Model, history: Sequence[CompletePayload]) -> str | None:
    """The title, in one line; None when there are no words to name, or the model does not answer."""
    first = next((p.text for p in history if isinstance(p, Text) and p.role == "user" and p.sender is None), None)
    if first is None:
        return None
    pieces: list[str] = []
    request = Request(PROMPT, (Text("user", first[:READ]),), max_output_tokens=200)
    async with aclosing(model.stream(request)) as stream:
        async for item in stream:
            match item:
                case TextDelta(text=text):
                    pieces.append(text)
                case Outcome(status=status) if status != "completed":
                    return None
                case _:
                    continue
    title = " ".join(clean("".join(pieces)).split()).strip("\"'“”*#. ")
    return None if is_blank(title) else title[:LONGEST]
