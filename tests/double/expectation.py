"""What a script wants of a request beside the rules."""

from __future__ import annotations

from collections.abc import Iterator

from tests.double.protocol import Words
from tests.double.refusal import Refusal
from tests.double.script import Expect


def check_expectation(words: Words, expect: Expect) -> Iterator[Refusal]:
    """Each way in which the request is not the one that the script expects."""
    user = words.users[-1] if words.users else ""
    if expect.last_role not in (None, words.last_role):
        yield _unmet(f"the last role is {words.last_role!r}, not {expect.last_role!r}")
    if expect.last_user is not None and expect.last_user not in user:
        yield _unmet(f"the last user text is {user!r} and does not hold {expect.last_user!r}")
    for part in expect.contains:
        if part not in words.everything:
            yield _unmet(f"{part!r} is not in the messages")
    for part in expect.absent:
        if part in words.everything:
            yield _unmet(f"{part!r} is in the messages")
    if expect.tools not in (None, words.tools):
        yield _unmet(f"the tools are {words.tools}, not {expect.tools}")


def _unmet(why: str) -> Refusal:
    return Refusal(f"The script expects another request: {why}.", code="expectation")
