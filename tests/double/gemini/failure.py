"""The vendor's error bodies."""

from __future__ import annotations

import msgspec

from tests.double.gemini.proto import Json
from tests.double.refusal import Refusal

STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    499: "CANCELLED",
    500: "INTERNAL",
    501: "UNIMPLEMENTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
RPC = "type.googleapis.com/google.rpc"


def described(code: int, message: str, *, status: str | None = None, details: list[Json] | None = None) -> Json:
    """An error object."""
    error: Json = {"code": code, "message": message, "status": status or STATUS.get(code, "UNKNOWN")}
    return {"error": error | ({"details": details} if details else {})}


def body_of(refusal: Refusal) -> bytes:
    """The body that says why a request is refused."""
    message, details = refusal.message, list[Json]()
    match refusal.code:
        case "unknown_name" | "invalid_value":
            violation = {"field": refusal.param, "description": message}
            details.append({"@type": f"{RPC}.BadRequest", "fieldViolations": [violation]})
        case "API_KEY_INVALID":
            details.append(reason("API_KEY_INVALID"))
        case "model_not_found":
            name = message.split("`")[1]
            message = f"models/{name} is not found for API version v1beta, or is not supported for generateContent."
            message = f"{message} Call ListModels to see the list of available models and their supported methods."
        case _:
            pass
    return msgspec.json.encode(described(refusal.status, message, details=details))


def reason(word: str) -> Json:
    """Details that give a reason in one word."""
    metadata = {"service": "generativelanguage.googleapis.com"}
    return {"@type": f"{RPC}.ErrorInfo", "reason": word, "domain": "googleapis.com", "metadata": metadata}


def retry_after(seconds: float) -> Json:
    """Details that say when to ask again; the vendor sends no Retry-After."""
    return {"@type": f"{RPC}.RetryInfo", "retryDelay": f"{seconds:g}s"}
