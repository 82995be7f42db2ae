"""The old dialect: what other and earlier implementations write, read as today's protocol.

Works on raw JSON members, so that what is not renamed keeps its bytes.
"""

from __future__ import annotations

import msgspec
from msgspec import Raw

Members = dict[str, Raw]

_OLD: dict[bytes, tuple[bytes, bytes, bytes]] = {
    b'"failed"': (b'"retryable"', b'"fatal"', b'"network"'),
    b'"timeout"': (b'"retryable"', b'"fatal"', b'"timeout"'),
    b'"malformed"': (b'"retryable"', b'"fatal"', b'"malformed"'),
    b'"auth"': (b'"fatal"', b'"fatal"', b'"auth"'),
}
"""Old stop reason: what it means on the model's side, on a tool, and as an error code."""
_TOOL_SIDE = frozenset({"tool_call_output", "partial_tool_call_output"})


def modernize(kind: str, members: Members) -> Members:
    """The members of a payload of this type, with old names and values in today's words."""
    members = {name: value for name, value in members.items() if bytes(value) != b"null"}
    match kind:
        case "session_meta":
            _number(members, "model_context_window")
        case "abort":
            if "reason" in members:
                members.setdefault("error_message", members.pop("reason"))
            members.setdefault("error_code", Raw(b'"user_abort"'))
        case "approval_decision":
            members.setdefault("decision", Raw(b'"deny"'))
        case "request_end" | "compaction_end":
            _status(members)
        case "mcp_connect_end":
            _status(members)
            if "results" in members:
                members["results"] = _servers(members["results"])
        case _ if "stop_reason" in members:
            model_side, tool_side, _ = _reading(members["stop_reason"])
            members["stop_reason"] = Raw(tool_side if kind in _TOOL_SIDE else model_side)
        case _:
            pass
    return members


def _number(members: Members, name: str) -> None:
    value = bytes(members.get(name, b""))
    if value[:1] == b'"':
        members[name] = Raw(value.strip(b'"'))


def _reading(value: Raw) -> tuple[bytes, bytes, bytes | None]:
    old = bytes(value)
    return _OLD.get(old, (old, old, None))


def _status(members: Members) -> None:
    status, _, code = _reading(members.get("status", Raw(b"null")))
    members["status"] = Raw(status)
    if code is not None:
        members.setdefault("error_code", Raw(code))


def _servers(results: Raw) -> Raw:
    servers = msgspec.json.decode(results, type=list[Members])
    for server in servers:
        _, status, code = _reading(server.get("status", Raw(b"null")))
        server["status"] = Raw(status)
        if code is not None:
            server.setdefault("error_code", Raw(b'"connect_failed"'))
    return Raw(msgspec.json.encode(servers))
