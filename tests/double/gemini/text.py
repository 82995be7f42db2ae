"""The text in a request, as far as it can be read."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.gemini.contents import parts_of
from tests.double.gemini.proto import Json
from tests.double.gemini.request import contents_of
from tests.double.gemini.tools import declared
from tests.double.protocol import Words
from tests.double.refusal import as_list, as_object


def words(message: Json) -> Words:
    """What scripts are chosen by and what they expect."""
    contents = contents_of(message)
    spoken = [content for content in contents if content.get("role", "user") == "user" and not _is_output(content)]
    users = tuple("\n".join(str(part["text"]) for part in parts_of(content) if "text" in part) for content in spoken)
    everything = "\n".join(_strings([message.get("system_instruction"), contents]))
    return Words(everything, users, _role(contents[-1]) if contents else "", tuple(declared(message)))


def _role(content: Json) -> str:
    if content.get("role") == "model":
        return "assistant"
    return "tool" if _is_output(content) else "user"


def _is_output(content: Json) -> bool:
    """Whether a content holds outputs of tools and nothing else."""
    return all("function_response" in part for part in parts_of(content))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for item in as_list(value) or (as_object(value) or {}).values():
        yield from _strings(item)
