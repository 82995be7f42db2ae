"""Options that say how a model is reached."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from cyclopts import Parameter

from penguin_harness.llm.gateway import CLIENT_TYPES

BaseUrl: TypeAlias = Annotated[str | None, Parameter(help="Where the provider is reached.")]
ClientType: TypeAlias = Annotated[str | None, Parameter(help=f"The wire protocol: {', '.join(CLIENT_TYPES)}.")]
KeyOnStdin: TypeAlias = Annotated[bool, Parameter(negative="", help="Read the key from standard input.")]
