"""Valid requests, for tests that change one thing in them."""

from __future__ import annotations

import json

from tests.double.gemini.signature import PLACEHOLDERS
from tests.double.protocol import Asked
from tests.double.steps import MODEL, Json

HEADERS = {"content-type": "application/json", "x-goog-api-key": "key"}
PATH = "/v1beta/models/{}:streamGenerateContent?alt=sse"

DECLARATION: Json = {
    "name": "read_file",
    "description": "Read.",
    "parametersJsonSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
OBJECT: Json = {"type": "OBJECT", "properties": {"a": {"type": "STRING"}}}
"""A schema of the vendor's own kind."""
TOOLS: list[Json] = [{"functionDeclarations": [DECLARATION]}]
SYSTEM: Json = {"parts": [{"text": "Be brief."}]}
PNG = "iVBORw0KGgo="
FOREIGN = PLACEHOLDERS[0]
"""The signature of a call that no model of the vendor's made."""


def user(*parts: Json | str) -> Json:
    return {"role": "user", "parts": _parts(*(parts or ("Hello",)))}


def said(*parts: Json | str) -> Json:
    return {"role": "model", "parts": _parts(*parts)}


def image(data: str = PNG, kind: str = "image/png") -> Json:
    return {"inlineData": {"mimeType": kind, "data": data}}


def called(*ids: str, name: str = "read_file", args: object = None, signature: str | None = FOREIGN) -> Json:
    """The calls of one answer, of which the first is signed."""
    calls: list[Json] = [{"functionCall": {"id": one, "name": name, "args": args or {}}} for one in ids]
    return said({**calls[0], **({"thoughtSignature": signature} if signature else {})}, *calls[1:])


def output(*ids: str, name: str = "read_file", response: object = None, **extra: object) -> Json:
    """The responses to the calls of one answer."""
    given = {"result": "ok"} if response is None else response
    return user(*({"functionResponse": {"id": one, "name": name, "response": given, **extra}} for one in ids))


def request(*contents: Json, **extra: object) -> Json:
    return {"contents": list(contents or (user(),)), "systemInstruction": SYSTEM, "tools": TOOLS, **extra}


def config(**fields: object) -> Json:
    return request(generationConfig=fields)


def thinking(**fields: object) -> Json:
    return config(thinkingConfig=fields)


def calling(**fields: object) -> Json:
    return request(toolConfig={"functionCallingConfig": fields})


def asked(body: Json | bytes, *, model: str = MODEL, path: str = PATH, **headers: str) -> Asked:
    """A request as it arrives at the double."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Asked("POST", path.format(model), HEADERS | named, data)


def declaring(**fields: object) -> Json:
    """A request that declares one function with other fields than the usual ones."""
    return request(tools=[{"functionDeclarations": [{**DECLARATION, **fields}]}])


def parameters(schema: object) -> Json:
    """A request that declares one function with this schema of the vendor's own kind."""
    plain = {key: value for key, value in DECLARATION.items() if key != "parametersJsonSchema"}
    return request(tools=[{"functionDeclarations": [{**plain, "parameters": schema}]}])


def without(body: Json, *keys: str) -> Json:
    return {key: value for key, value in body.items() if key not in keys}


def _parts(*parts: Json | str) -> list[Json]:
    return [{"text": part} if isinstance(part, str) else part for part in parts]
