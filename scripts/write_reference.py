"""Write the generated parts of the docs: JSON Schema, protocol reference and rules, the commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from penguin_harness.cli.app import build_app
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
    """The protocol's page with its generated part made anew."""
    return _renewed(page, f"{protocol_reference()}\n{rules_table()}")


def cli_page(page: str) -> str:
    """The command line's page with its generated part made anew."""
    reference = build_app().generate_docs(output_format="markdown", include_hidden=False, heading_level=2)
    return _renewed(page, reference.rstrip() + "\n")


def _renewed(page: str, generated: str) -> str:
    kept, _, _ = page.partition(BEGIN)
    return f"{kept}{BEGIN}\n\n{generated}"


GENERATED: dict[str, Callable[[str], str]] = {
    "omnimessage.schema.json": lambda _: schema_file(),
    "protocol.md": protocol_page,
    "cli.md": cli_page,
}
"""Each file in the docs with a generated part, and how it is made of what the file holds."""


def main() -> None:
    """Write everything."""
    for name, make in GENERATED.items():
        file = DOCS / name
        file.write_text(make(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
