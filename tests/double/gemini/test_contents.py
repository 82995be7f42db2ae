from __future__ import annotations

import pytest

from tests.double.gemini.conversation import PNG, asked, called, image, output, request, said, user, without
from tests.double.gemini.endpoint import GeminiEndpoint
from tests.double.gemini.rules import check
from tests.double.steps import Json


def codes(body: Json, endpoint: GeminiEndpoint | None = None) -> list[tuple[object, object]]:
    return [(refusal.code, refusal.param) for refusal in check(asked(body), endpoint or GeminiEndpoint())]


LONG = "a" * 65
NOTHING: Json = {}
STEP = (user(), called("a"), output("a"))
CONTENTS: list[tuple[list[Json], str, str]] = [
    ([{"role": "user"}], "empty_parts", "contents[0].parts"),
    ([user(), {"role": "user", "parts": []}], "empty_parts", "contents[1].parts"),
    ([user({})], "no_data", "contents[0].parts[0].data"),
    ([user("")], "no_data", "contents[0].parts[0].data"),
    ([user({"thought": True})], "no_data", "contents[0].parts[0].data"),
    ([{**user(), "role": "assistant"}], "invalid_role", "contents[0].role"),
    ([without(user(), "role"), user()], "invalid_role", "contents[0].role"),
    ([said("Hi"), user()], "alternate", "contents[0].role"),
    ([user(), said("Hi")], "ends_with_model", "contents[1].role"),
    ([user(image(kind="image/gif"))], "unsupported_mime_type", "contents[0].parts[0].inline_data.mime_type"),
    ([user(image(kind="image/svg+xml"))], "unsupported_mime_type", "contents[0].parts[0].inline_data.mime_type"),
    ([user({"inlineData": {"data": PNG}})], "unsupported_mime_type", "contents[0].parts[0].inline_data.mime_type"),
    ([user(image("QUJD"))], "unreadable_image", "contents[0].parts[0].inline_data.data"),
    ([user({"inlineData": {"mimeType": "image/png"}})], "unreadable_image", "contents[0].parts[0].inline_data.data"),
    ([user({"fileData": {"mimeType": "image/png"}})], "missing_uri", "contents[0].parts[0].file_data.file_uri"),
    ([user(), called("a", name=""), output("a", name="")], "empty_name", "contents[1].parts[0].function_call.name"),
    ([user(), called("a", name="a b"), output("a", name="a b")], "invalid_name",
     "contents[1].parts[0].function_call.name"),
    ([user(), called("a", name=LONG), output("a", name=LONG)], "invalid_name",
     "contents[1].parts[0].function_call.name"),
    ([*STEP[:2], user({"functionResponse": {"id": "a", "name": "read_file"}})], "missing_response",
     "contents[2].parts[0].function_response.response"),
    ([*STEP[:2], output("a", response={"schema": [{"$ref": "#/$defs/x"}]})], "dangling_reference",
     "contents[2].parts[0].function_response.response"),
    ([*STEP[:2], output("a", parts=[{"inlineData": {"mimeType": "audio/wav", "data": "QQ=="}}])],
     "unsupported_mime_type", "contents[2].parts[0].function_response.parts[0].inline_data.mime_type"),
    ([*STEP[:2], output("a", parts=[{"inlineData": {"mimeType": "image/png", "data": "QQ=="}}])],
     "unreadable_image", "contents[2].parts[0].function_response.parts[0].inline_data.data"),
    ([*STEP[:2], output("a", parts=[NOTHING])], "no_data", "contents[2].parts[0].function_response.parts[0].data"),
    ([user(), said("Hm."), called("a"), output("a")], "call_order", "contents[2]"),
    ([*STEP, said("Hm."), called("b"), output("b")], "call_order", "contents[4]"),
    ([user(), called("a", "b"), output("a")], "response_count", "contents[2]"),
    ([user(), called("a", "b"), output("a"), output("b")], "orphan_response", "contents[3]"),
    ([user(), called("a"), user("And?")], "response_count", "contents[2]"),
    ([user(), called("a"), user("And?"), output("a")], "orphan_response", "contents[3]"),
    ([user(), output("a")], "orphan_response", "contents[1]"),
    ([user(), said("Hm."), output("a")], "orphan_response", "contents[2]"),
    ([user(), called("a"), output("a", "b")], "response_count", "contents[2]"),
    ([user(*called("a")["parts"], *output("a")["parts"])], "mixed", "contents[0]"),
    ([user(*called("a")["parts"])], "wrong_role", "contents[0].role"),
    ([user(), called("a"), {**output("a"), "role": "model"}], "wrong_role", "contents[2].role"),
    ([user(), called("a"), output("b")], "response_id", "contents[2].parts[0].function_response.id"),
    ([user(), called("a", "b"), output("a", "a")], "response_id", "contents[2].parts[1].function_response.id"),
    ([user(), called("a"), output("a", name="other")], "response_name", "contents[2].parts[0].function_response.name"),
    ([user(), called("a", signature="QUJD"), output("a")], "signature_corrupted",
     "contents[1].parts[0].thought_signature"),
    ([user(), called("a", signature=None), output("a")], "signature_missing", "contents[1]"),
    ([*STEP, called("b", signature=None), output("b")], "signature_missing", "contents[3]"),
    ([user(), called("a", signature=None), user(*output("a")["parts"], "Quick.")], "signature_missing", "contents[1]"),
]  # fmt: skip


@pytest.mark.parametrize(("contents", "code", "param"), CONTENTS, ids=str)
def test_wrong_contents_are_refused(contents: list[Json], code: str, param: str) -> None:
    assert (code, param) in codes(request(*contents))
