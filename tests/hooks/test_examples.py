"""The hooks that the documentation shows, as they stand."""

from __future__ import annotations

import json
import time
from pathlib import Path

from penguin_harness.contracts import HookVerdict
from penguin_harness.hooks import UserHook, load_hooks
from tests.hooks.support import Asked, host

EXAMPLES = Path(__file__).parent / "examples"


def example(name: str, workspace: Path) -> UserHook:
    [hook] = [hook for hook in load_hooks(EXAMPLES, host(workspace)) if hook.name == name]
    return hook


async def test_no_force_push(tmp_path: Path) -> None:
    asked = Asked(example("no-force-push", tmp_path))
    assert await asked.call("exec_command", json.dumps({"command": "git push"})) is None
    assert await asked.call("exec_command", json.dumps({"command": "git push --force"})) == HookVerdict(
        "deny", "no-force-push", "published history stays; push without --force"
    )
    broken = await asked.call("exec_command", json.dumps({"command": "git push '"}))
    assert broken is not None
    assert broken.decision == "deny"
    assert [event.decision for event in asked.events] == ["deny", "deny"]


async def test_today(tmp_path: Path) -> None:
    days = {time.strftime("Today is %A.")}
    added = await Asked(example("today", tmp_path)).prompt("hello")
    days.add(time.strftime("Today is %A."))
    assert [text.text in days for text in added] == [True]


async def test_tests_pass(tmp_path: Path) -> None:
    suite = tmp_path / "test_sums.py"
    head = "import unittest\n\n\nclass Sums(unittest.TestCase):\n    def test_one(self):\n"
    suite.write_text(f"{head}        self.assertEqual(1 + 1, 3, 'no sum')\n")
    asked = Asked(example("tests-pass", tmp_path))
    said = [await asked.stop() for _ in range(4)]
    assert [text is not None for text in said] == [True, True, True, False]
    assert "no sum" in (said[0] or "")
    suite.write_text(f"{head}        self.assertEqual(1 + 1, 2)\n\n\n# mended\n")
    await asked.prompt("again")
    assert await asked.stop() is None
