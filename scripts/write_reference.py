"""Write the generated parts of the docs: the JSON Schema, and the protocol reference out of the types and rules."""

from __future__ import annotations

import json
from pathlib import Path

from penguin_harness.omnimessage import json_schema, protocol_reference
from penguin_harness.omnimessage.check import RULES

DOCS = Path(__file__).parent.parent / "docs"
BEGIN = "<!-- generated: scripts/write_reference.py -->"


def schema_file() -> str:
    """The schema as it lies in the docs."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def rules_table() -> str:
    """The checker's rules as a Markdown table."""
    rows = [f"| {rule.id} | {rule.text}{' (strict only)' if rule.strict_only else ''} |" for rule in RULES.values()]
    return "\n".join(["## Rules of the checker", "", "| rule | what it says |", "| --- | --- |", *rows]) + "\n"


def protocol_page(page: str) -> str:
    """The page with its generated part made anew."""
    kept, _, _ = page.partition(BEGIN)
    return f"{kept}{BEGIN}\n\n{protocol_reference()}\n{rules_table()}"


def main() -> None:
    """Write everything."""
    (DOCS / "omnimessage.schema.json").write_text(schema_file(), encoding="utf-8")
    page = DOCS / "protocol.md"
    page.write_text(protocol_page(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
