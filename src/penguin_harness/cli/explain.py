"""What the protocol's error codes mean to a person, and what to do about each."""

from __future__ import annotations

from typing import NamedTuple

from penguin_harness.cli.terminal.neutral import one_line


class Explanation(NamedTuple):
    """A failure in a person's words."""

    what: str
    then: str


_EXPLANATIONS = {
    "auth": Explanation("the provider refused the credentials", "store a valid key: penguin model add"),
    "rejected": Explanation(
        "the provider refused the request", "its words say why: often the model id, or a request that is too long"
    ),
    "unsupported": Explanation("this cannot be sent to this model", "use another model, or leave that part out"),
    "invalid_input": Explanation("the input cannot become a request", "write the input anew"),
    "network": Explanation("the provider could not be reached, or failed", "try again, or check --base-url"),
    "timeout": Explanation("the provider went silent", "try again; penguin model test shows how far it comes"),
    "malformed": Explanation(
        "the provider's answer could not be read", "try again; if it stays so, check --base-url and --client-type"
    ),
    "output_limit": Explanation("the answer was cut by the output limit", "ask it to go on, or for less at a time"),
    "process_exited": Explanation("the program ended during this request", "go on with an empty run: --resume"),
    "user_abort": Explanation("interrupted", "go on with --resume"),
    "backoff_interrupted": Explanation("given up while waiting for the next attempt", "go on with --resume"),
    "compaction_interrupted": Explanation("interrupted while the context was made smaller", "go on with --resume"),
    "connect_failed": Explanation("the MCP server could not be reached", "check its command or address"),
}


def explain(error_code: str | None) -> Explanation:
    """The explanation of a code; a later version's code is shown as it is."""
    code = error_code or "network"
    return _EXPLANATIONS.get(code) or Explanation(f"failed ({one_line(code)})", "its words say why")


def failure_text(error_code: str | None, error_message: str | None) -> str:
    """One sentence: what happened, the code, the raw words, what to do."""
    explanation = explain(error_code)
    raw = f": {one_line(error_message)}" if error_message else ""
    return f"{explanation.what} ({one_line(error_code or 'network')}){raw}. Next: {explanation.then}"
