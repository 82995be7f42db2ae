"""JSON as the vendor's servers read it into messages: fields in camelCase or by their own names, no others."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Literal, TypeAlias

from msgspec import Struct

from tests.double.refusal import Refusal, as_list, as_object

Json: TypeAlias = dict[str, object]
Scalar: TypeAlias = Literal["string", "bool", "int32", "float", "bytes", "struct", "value", "message"]
"""`struct` is any JSON object, `value` any JSON, `message` an object whose fields do not matter here."""
PACKAGE = "type.googleapis.com/google.ai.generativelanguage.v1beta"


class Message(Struct, frozen=True):
    """An object with known fields, of which those in `data` exclude one another."""

    name: str
    fields: dict[str, Kind]
    data: frozenset[str] = frozenset()


class Many(Struct, frozen=True):
    """A repeated field."""

    item: Kind


class Mapped(Struct, frozen=True):
    """A map from any string."""

    item: Kind


class Choice(Struct, frozen=True):
    """An enum; case does not matter."""

    name: str
    values: tuple[str, ...]


Kind: TypeAlias = Message | Many | Mapped | Choice | Scalar


class Reader:
    """Reads values into their kinds; what does not fit is `found`."""

    def __init__(self) -> None:
        self.found: list[Refusal] = []

    def read(self, at: str, kind: Kind, value: object) -> object:
        """The value with its fields' own names, bytes decoded and enums in upper case."""
        match kind:
            case Message():
                return self._message(at, kind, value)
            case Many(item=item):
                items = as_list(value)
                if items is None:
                    return self._wrong(at, "repeated", value)
                return [self.read(f"{at}[{number}]", item, one) for number, one in enumerate(items)]
            case Mapped(item=item):
                pairs = as_object(value)
                if pairs is None:
                    return self._wrong(at, "map", value)
                numbered = enumerate(pairs.items())
                return {key: self.read(f"{at}[{number}].value", item, one) for number, (key, one) in numbered}
            case Choice(name=name, values=values):
                if isinstance(value, str) and value.upper() in values:
                    return value.upper()
                return self._wrong(at, f"{PACKAGE}.{name}", value)
            case "value":
                return value
            case "struct" | "message":
                fields = as_object(value)
                return self._wrong(at, "google.protobuf.Struct", value) if fields is None else fields
            case _:
                return self._scalar(at, kind, value)

    def _message(self, at: str, kind: Message, value: object) -> object:
        given = as_object(value)
        if given is None:
            return self._wrong(at, f"{PACKAGE}.{kind.name}", value)
        message: dict[str, object] = {}
        for key, one in given.items():
            name = _own_name(key)
            if name not in kind.fields or key not in (name, camel(name)):
                self.found.append(unknown(at, key, "Cannot find field."))
            elif as_list(one) is not None and not isinstance(kind.fields[name], Many) and kind.fields[name] != "value":
                self.found.append(unknown(at, name, "Proto field is not repeating, cannot start list."))
            elif name in kind.data and not kind.data.isdisjoint(message):
                text = f"Invalid value at '{at}' (oneof), oneof field 'data' is already set. Cannot set '{name}'"
                self.found.append(Refusal(text, at, "invalid_value"))
            elif one is not None or kind.fields[name] == "value":
                message[name] = self.read(f"{at}.{name}" if at else name, kind.fields[name], one)
        return message

    def _scalar(self, at: str, kind: Scalar, value: object) -> object:
        match kind:
            case "bytes" if isinstance(value, str):
                content = decoded(value)
                if content is None:
                    shown = json.dumps(value, ensure_ascii=False)
                    text = f"Invalid value at '{at}' (TYPE_BYTES), Base64 decoding failed for {shown}"
                    self.found.append(Refusal(text, at, "invalid_value"))
                return content
            case "int32" if isinstance(value, float) and value.is_integer() and abs(value) < 1 << 31:
                return int(value)
            case "int32" if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 31:
                return value
            case "string" if isinstance(value, str):
                return value
            case "bool" if isinstance(value, bool):
                return value
            case "float" if isinstance(value, int | float) and not isinstance(value, bool):
                return value
            case _:
                return self._wrong(at, f"TYPE_{kind.upper()}", value)

    def _wrong(self, at: str, kind: str, value: object) -> None:
        starts = isinstance(value, dict) and kind.startswith("TYPE_")
        shown = "Starting an object on a scalar field" if starts else json.dumps(value, ensure_ascii=False)
        self.found.append(Refusal(f"Invalid value at '{at}' ({kind}), {shown}", at, "invalid_value"))


def unknown(at: str, name: str, why: str) -> Refusal:
    where = f" at '{at}'" if at else ""
    return Refusal(f'Invalid JSON payload received. Unknown name "{name}"{where}: {why}', at or name, "unknown_name")


def decoded(text: str) -> bytes | None:
    """The bytes of base64 in either alphabet, padded or not; None when it is not base64."""
    plain = text.replace("-", "+").replace("_", "/").rstrip("=")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def camel(name: str) -> str:
    """`function_call` -> `functionCall`."""
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _own_name(key: str) -> str:
    return re.sub(r"[A-Z]", lambda match: f"_{match[0].lower()}", key)
