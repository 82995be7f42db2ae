"""A conversation with an endpoint that checks every request: its fields, its pairs, its prefix."""

from __future__ import annotations

from msgspec.structs import replace

from penguin_harness.contracts import CallDelta, ModelItem, ModelRef, Outcome, Request, TextDelta, ThinkingDelta
from penguin_harness.llm import create_model
from penguin_harness.omnimessage import (
    CompletePayload,
    ImageUrl,
    Text,
    Thinking,
    TokenCounts,
    ToolCall,
    ToolCallOutput,
    ToolSchema,
)
from tests.double.chat.build import EACH_BYTE, Delivery, Endpoint, call, counts, reply, script, text, thinking, turn
from tests.double.client import Double

PNG = "data:image/png;base64,iVBORw0KGgo="
DEMANDS = Endpoint(key="sk-test-123456", reasoning_fields=("reasoning_content",), require_reasoning="reasoning_content")


def whole(items: list[ModelItem]) -> list[CompletePayload]:
    """The answer as complete payloads, without the engine's care."""
    payloads: list[CompletePayload] = []
    for item in items:
        match item:
            case ThinkingDelta():
                payloads.append(Thinking("assistant", item.thinking, fidelity=item.fidelity))
            case TextDelta():
                payloads.append(Text("assistant", item.text))
            case CallDelta(id=str(call_id), name=str(name)):
                payloads.append(ToolCall("assistant", name, item.arguments, f"{call_id}#2"))
            case CallDelta():
                begun = payloads.pop()
                assert isinstance(begun, ToolCall)
                payloads.append(replace(begun, arguments=begun.arguments + item.arguments))
            case _:
                pass
    return payloads


async def test_b034_and_b182_every_request_of_a_conversation_is_accepted(double: Double) -> None:
    double.load(
        script(
            turn(thinking("Hm."), text("Let me look."), call("read_file", {"path": "a"}, id="same")),
            turn(thinking("So."), call("read_file", {}, id="same"), delivery=Delivery(sizes=EACH_BYTE)),
            turn(thinking("Oh."), call("read_file", '{"path": "a', id="same"), text("")),
            reply("Done.", tokens=counts(100, 7, cached=60)),
            endpoint=DEMANDS,
        )
    )
    model = create_model(ModelRef("custom", "test-model"), base_url=double.url, api_key="sk-test-123456", environ={})
    tools = (ToolSchema("read_file", "Read a file."),)
    messages: list[CompletePayload] = [Text("user", "go"), ImageUrl("user", PNG), Text("user", " ")]
    items: list[ModelItem] = []
    for output in ("", "two", "three", None):
        request = Request("Be kind.", messages, tools, "high", 1000)
        items = [item async for item in model.stream(request)]
        messages += whole(items)
        if output is not None:
            messages.append(ToolCallOutput("user", output, "same#2", (PNG,)))
    await model.aclose()
    usage = TokenCounts.of(cache_read=60, cache_write=40, output=7)
    assert items == [TextDelta("Done."), Outcome("completed", usage=usage)]
    assert double.refusals() == []
