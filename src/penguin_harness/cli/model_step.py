"""One thing that a session needs of a model: whether it works, and if not, the way out."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from penguin_harness.cli.explain import explain
from penguin_harness.cli.model_talk import Heard

Mark: TypeAlias = Literal["✓", "✗", "-"]

STEPS = ("reachable", "authorised", "answers", "streams", "usage", "tools", "images", "thinking", "output limit")
"""In the order in which they are tried."""

NEEDED = frozenset({"reachable", "authorised", "answers", "tools"})
"""Without these no session works."""


class Step(Struct, frozen=True, omit_defaults=True):
    """One thing, and how it went: `-` is a fact, or was not tried."""

    name: str
    mark: Mark = "-"
    note: str = ""
    words: str = ""
    """The provider's, of a failure."""
    way_out: str = ""
    learnt: tuple[str, ...] = ()
    """How it was asked differently, after refusals that taught it."""
    ends: bool = False
    """The failure is about the endpoint, and not about what was asked of it: nothing else can be tried."""

    @property
    def failed(self) -> bool:
        """Whether it does not work."""
        return self.mark == "✗"

    @property
    def rules_out(self) -> bool:
        """Whether no session would work with this."""
        return self.failed and (self.ends or self.name in NEEDED)


def failed(name: str, heard: Heard, *, note: str = "", way_out: str = "") -> Step:
    """The step that a request's failure ends."""
    code = heard.outcome.error_code
    what = note or f"{explain(code).what} ({code})"
    then = way_out if way_out and code == "rejected" else explain(code).then
    ends = code not in ("rejected", "unsupported")
    return Step(name, "✗", what, heard.outcome.error_message or "", then, heard.learnt, ends)


def with_learnt(step: Step, *others: Heard) -> Step:
    """The step with what these requests taught, too."""
    lessons = dict.fromkeys((*step.learnt, *(lesson for heard in others for lesson in heard.learnt)))
    return replace(step, learnt=tuple(lessons))
