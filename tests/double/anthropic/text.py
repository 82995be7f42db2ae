"""The text in a request: what scripts are chosen by and what they expect."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.double.anthropic.turns import Block, blocks_of, messages_of, turns_of
from tests.double.protocol import Words
from tests.double.refusal import as_list, as_object


def model_of(body: object) -> str:
    """The model that the request names, or nothing."""
    model = (as_object(body) or {}).get("model")
    return model if isinstance(model, str) else ""


def words(body: object) -> Words:
    """The words of a request."""
    value = as_object(body) or {}
    system = blocks_of("system", value.get("system"), message=0)
    turns = turns_of(messages_of(value))
    blocks = [block for turn in turns for block in turn.blocks]
    users: dict[int, list[str]] = {}
    for block in (block for turn in turns if turn.role == "user" for block in turn.blocks):
        if block.kind != "tool_result":
            users.setdefault(block.message, []).extend(_texts(block))
    tools = [as_object(tool) or {} for tool in as_list(value.get("tools")) or ()]
    return Words(
        everything="\n".join(text for block in [*system, *blocks] for text in _texts(block)),
        users=tuple("\n".join(texts) for texts in users.values()),
        last_role=_last_role(turns[-1].role, turns[-1].blocks) if turns else "",
        tools=tuple(str(tool.get("name")) for tool in tools),
    )


def _last_role(role: str, blocks: list[Block]) -> str:
    return "tool" if blocks and blocks[-1].kind == "tool_result" else role


def _texts(block: Block) -> Iterator[str]:
    match block.kind:
        case "tool_use":
            yield from (block.text("name"), json.dumps(block.value.get("input"), ensure_ascii=False))
        case "tool_result":
            inner = blocks_of("", block.value.get("content"), message=block.message)
            yield from (text for part in inner for text in _texts(part))
        case _:
            yield from filter(None, (block.text("text"), block.text("thinking")))
