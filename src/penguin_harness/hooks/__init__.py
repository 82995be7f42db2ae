"""What a user hangs into the course of a run: functions in the process, and programs in the agent's state."""

from __future__ import annotations

from penguin_harness.hooks.answer import Answer
from penguin_harness.hooks.folder import load_hooks
from penguin_harness.hooks.goal import goal
from penguin_harness.hooks.hook_set import HookSet
from penguin_harness.hooks.occasion import Occasion, Prompt, ProposedCall, TaskEnded
from penguin_harness.hooks.program import Host
from penguin_harness.hooks.user_hook import UserHook, in_process

__all__ = [
    "Answer",
    "HookSet",
    "Host",
    "Occasion",
    "Prompt",
    "ProposedCall",
    "TaskEnded",
    "UserHook",
    "goal",
    "in_process",
    "load_hooks",
]
