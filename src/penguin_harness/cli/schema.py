"""`penguin schema`: the protocol out of its own types."""

from __future__ import annotations

import json
import sys
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from penguin_harness.omnimessage import json_schema, protocol_reference

Markdown: TypeAlias = Annotated[bool, Parameter(negative="", help="The reference as Markdown tables.")]


def schema(*, markdown: Markdown = False) -> None:
    """Print the JSON Schema of a message, or the protocol's reference."""
    described = protocol_reference() if markdown else json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
    sys.stdout.write(described)
