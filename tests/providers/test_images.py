"""Images: shown to models that see, told to those that do not, and never the end of a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penguin_harness import RequestEnd, ToolResult, user_image, user_text
from penguin_harness.llm.notes import NO_IMAGE
from tests.double.client import Double
from tests.providers.dialects import Dialect, against
from tests.support import allow, outputs, texts

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PNG = f"data:image/png;base64,{PIXEL}"


def picture() -> ToolResult:
    """Take a picture."""
    return ToolResult("Here it is.", images=(PNG,))


async def run(session: Any, *messages: Any) -> list[Any]:
    session.inputs += len(messages)
    return await session.read(session.session.run(list(messages), approve=allow))


async def test_a_person_shows_an_image(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    async with against(dialect, double, tmp_path, dialect.build.reply("A pixel.")) as session:
        seen = await run(session, user_text("What is this?"), user_image(PNG))
    assert texts(seen) == ["A pixel."]
    assert PIXEL.encode() in double.requests()[0].body


async def test_a_tool_shows_an_image(dialect: Dialect, double: Double, tmp_path: Path) -> None:
    build = dialect.build
    turns = [build.turn(build.call("picture", {}, id="a")), build.reply("A pixel.")]
    async with against(dialect, double, tmp_path, *turns, tools=[picture]) as session:
        seen = await session.run("look")
    assert [output for output, _ in outputs(seen).values()] == ["Here it is."]
    assert PIXEL.encode() in double.requests()[1].body


@pytest.mark.parametrize("shown", ["by the person", "by a tool"])
async def test_b164_b165_a_model_that_sees_nothing_is_told(
    dialect: Dialect, double: Double, tmp_path: Path, shown: str
) -> None:
    """The refusal is answered once, with notes; later requests have them from the start, the Trace keeps the image."""
    build = dialect.build
    refused = {"images": False}
    if shown == "by a tool":
        turns = [build.turn(build.call("picture", {}, id="a")), build.reply("I see none."), build.reply("Still none.")]
    else:
        turns = [build.reply("I see none."), build.reply("Still none.")]
    async with against(dialect, double, tmp_path, *turns, tools=[picture], **refused) as session:
        image = [user_image(PNG)] if shown == "by the person" else []
        seen = await run(session, user_text("look"), *image)
        await session.run("and now?")
    requests = double.requests()
    assert texts(seen)[-1] == "I see none."
    ends = [m.payload for m in seen if isinstance(m.payload, RequestEnd)]
    assert sorted(end.status for end in ends) == sorted(["completed"] * (len(ends) - 1) + ["retryable"])
    assert "notes in place of the images" in next(end.error_message or "" for end in ends if end.status != "completed")
    assert len(double.refusals()) == 1
    assert NO_IMAGE.encode() in requests[-1].body
    assert PIXEL.encode() not in requests[-1].body
    assert PIXEL.encode() in session.session.trace_path.read_bytes()
