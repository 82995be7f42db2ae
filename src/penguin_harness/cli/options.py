"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from penguin_harness.cli.approval import ApprovalMode
from penguin_harness.contracts import Budget, ThinkingLevel


@Parameter(name="*")
@dataclass(frozen=True)
class ModelOptions:
    """Which model, and where it is reached; without them the project's default."""

    provider: Annotated[str | None, Parameter(help="Who serves the model; goes with --model-id.")] = None
    model_id: Annotated[str | None, Parameter(help="The model's name at that provider.")] = None
    base_url: Annotated[str | None, Parameter(help="Where the provider is reached.")] = None
    client_type: Annotated[str | None, Parameter(help="The wire protocol, when it is not the provider's own.")] = None


@Parameter(name="*")
@dataclass(frozen=True)
class Spend:
    """What may be spent; looked at between requests."""

    max_tokens: Annotated[int | None, Parameter(help="Stop when so many tokens are spent.")] = None
    max_cost: Annotated[Decimal | None, Parameter(help="Stop when so many US dollars are spent.")] = None

    @property
    def budget(self) -> Budget | None:
        """The caps as the SDK takes them."""
        return None if self.max_tokens is None and self.max_cost is None else Budget(self.max_tokens, self.max_cost)


Workspace: TypeAlias = Annotated[Path | None, Parameter(help="The folder to work in; by default this one.")]
Approval: TypeAlias = Annotated[
    ApprovalMode | None,
    Parameter(help="Who decides about tool calls; by default you are asked, and without a terminal all are denied."),
]
MaxTurns: TypeAlias = Annotated[int | None, Parameter(help="Stop after so many turns.")]
Thinking: TypeAlias = Annotated[ThinkingLevel | None, Parameter(help="How much the model should think.")]
Json: TypeAlias = Annotated[bool, Parameter(name="--json", negative="", help="Print JSON for programs.")]
Lenient: TypeAlias = Annotated[bool, Parameter(negative="", help="Let files of other and older writers pass.")]
