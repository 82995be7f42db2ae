"""Subagents: sessions that a session starts, live on its stream and under its approval."""

from penguin_harness.subagents.children import SUBAGENT_TOOLS, Children, SubagentLimits
from penguin_harness.subagents.sharing import Borrowed, Gates

__all__ = ["SUBAGENT_TOOLS", "Borrowed", "Children", "Gates", "SubagentLimits"]
