"""`penguin model detect`: which wire protocols an address speaks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from cyclopts import Parameter

from penguin_harness.cli.console import DONE, FAILED
from penguin_harness.cli.model import environment_key, read_key
from penguin_harness.cli.model_options import KeyOnStdin
from penguin_harness.cli.options import Json
from penguin_harness.cli.terminal.flow import put_line
from penguin_harness.cli.terminal.neutral import one_line
from penguin_harness.cli.terminal.screen import screen_for
from penguin_harness.cli.terminal.spans import Span
from penguin_harness.llm.detect import Finding, detect, native_provider
from penguin_harness.llm.evidence import Proof

_MARKS: dict[Proof, Span] = {
    "answers": Span("✓ ", "green"),
    "refuses": Span("✓ ", "green"),
    "unclear": Span("? ", "yellow"),
    "none": Span("✗ ", "red"),
    "silent": Span("✗ ", "red"),
}
_MEANS: dict[Proof, str] = {
    "answers": "it answers in this protocol",
    "refuses": "it refuses the request as this protocol does",
    "unclear": "it says the same of a call that cannot exist",
    "none": "it does not speak it",
    "silent": "nothing answers there",
}
_WIDTH = 16


async def detect_protocols(
    base_url: str,
    *,
    api_key_stdin: KeyOnStdin = False,
    model_id: Annotated[str | None, Parameter(help="Ask for this model; by default for one that cannot exist.")] = None,
    as_json: Json = False,
) -> int:
    """Ask an address which of the wire protocols it speaks, best first, and with which base URL.

    Each protocol gets a request of a few words. The exit code is 0 when it speaks one.
    """
    provider = native_provider(base_url)
    key = read_key() if api_key_stdin else environment_key(provider) if provider else None
    findings = await detect(base_url, api_key=key, model_id=model_id)
    speaks = any(found.speaks for found in findings)
    if as_json:
        sys.stdout.write(f"{msgspec.json.format(msgspec.json.encode(findings)).decode()}\n")
        return DONE if speaks else FAILED
    screen = screen_for(sys.stdout)
    for found in findings:
        name = Span(f"{found.client_type:<{_WIDTH}}  ", "bold")
        means = f"{_MEANS[found.proof]}{_count(found.models)}"
        screen.lines(
            [[_MARKS[found.proof], name, Span(f"{one_line(found.base_url)}  "), Span(means, "dim")]], whole=True
        )
        if found.said:
            put_line(screen, [Span(f"  {one_line(found.said)}", "dim")], margin=4)
    for line in _advice(findings, provider, has_key=key is not None):
        put_line(screen, [Span(one_line(line))])
    screen.close()
    return DONE if speaks else FAILED


def _count(models: int | None) -> str:
    return "" if models is None else f", and lists {models:,} model{'' if models == 1 else 's'}"


def _advice(findings: Sequence[Finding], provider: str | None, *, has_key: bool) -> Iterator[str]:
    """Why the first one is first, and what to do now."""
    best = findings[0]
    speaking = [found for found in findings if found.speaks]
    if len(speaking) > 1:
        yield f"{best.client_type} is first: {_reason(best, speaking, provider)}"
    if speaking:
        name = f"{provider or 'custom'} MODEL_ID"
        yield f"next: penguin model add {name} --base-url {best.base_url} --client-type {best.client_type}"
    elif any(found.proof == "unclear" for found in findings) and not has_key:
        yield "it wants a key before it says more: --api-key-stdin"
    elif any(found.proof == "unclear" for found in findings):
        yield "its refusals do not say which protocol it speaks: name a model that it serves with --model-id"
    else:
        yield "it speaks none of the four: check the address; a local server must be running"


def _reason(best: Finding, speaking: Sequence[Finding], provider: str | None) -> str:
    if provider is not None:
        return f"the catalogue names it for {provider}"
    if best.proof == "answers" and any(found.proof != "answers" for found in speaking):
        return "it has answered, the others have only refused"
    return "most servers that speak several have had it the longest"
