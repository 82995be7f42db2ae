"""Which tool calls the policy looks at, and as what."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penguin_harness.llm.script import Script, call, say
from penguin_harness.omnimessage import ApprovalDecision, Decision, ToolCall
from penguin_harness.policy import RuleBook, command_allowance, command_policy
from penguin_harness.state.config import PolicyEntry
from tests.policy.test_lines import ENVIRONMENT, WORKSPACE
from tests.support import outputs, watched

POLICY = command_policy(RuleBook(), environment=ENVIRONMENT, workspace=WORKSPACE)


def made(name: str = "exec_command", **arguments: object) -> ToolCall:
    return ToolCall("assistant", name, json.dumps(arguments), "c")


@pytest.mark.parametrize(
    "each",
    [
        made(command="rm -rf /"),
        made(command="rm -rf *", workdir="/"),
        made(command="rm -rf *", workdir="../.."),
        made(command="rm -rf *", workdir="~/"),
        made(command="rm -rf ../project/.."),
        made("mcp__shell__run", command="rm -rf /"),
        made("mcp__shell__run", cmd="rm -rf /"),
        made("mcp__shell__run", command=["rm", "-rf", "/"]),
        made("mcp__shell__run", command=["bash", "-lc", "cd / && rm -rf *"]),
        made("mcp__shell__run", command="rm", args=["-rf", "/"]),
        made("mcp__shell__run", commands=["ls", "rm -rf /"]),
        made("input_command", process_id="p", action="write", text="rm -rf /\n"),
        ToolCall("assistant", "exec_command", '{"command": "ls", "command": "rm -rf /"}', "c"),
        ToolCall("assistant", "exec_command", '{"command": "rm \\u002drf /\\ud800; rm -rf /"}', "c"),
    ],
)
def test_a_command_is_found_in_a_call(each: ToolCall) -> None:
    assert "remove-tree" in (POLICY(each) or "")


@pytest.mark.parametrize(
    "each",
    [
        made(command="ls"),
        made(command="rm -rf *", workdir="build"),
        made("write_file", path="x", content="rm -rf /"),
        made("run_subagent", prompt="never run rm -rf /"),
        made("mcp__editor__edit", command="it's a title"),
        made("input_command", process_id="p", action="write", text="it's"),
        made("mcp__x__y", command=3, cmd=None, commands={"a": "rm -rf /"}),
        ToolCall("assistant", "exec_command", "not json", "c"),
        ToolCall("assistant", "exec_command", "[" * 5_000, "c"),
        ToolCall("assistant", "exec_command", "", "c"),
    ],
)
def test_other_calls_pass(each: ToolCall) -> None:
    assert POLICY(each) is None


def test_a_line_that_cannot_be_read_is_forbidden_to_our_shell() -> None:
    assert "cannot be read as bash" in (POLICY(made(command="echo 'oops")) or "")


def test_only_our_shell_is_allowed_without_a_question() -> None:
    allows = command_allowance(RuleBook([PolicyEntry("allow", "ls")]), environment=ENVIRONMENT, workspace=WORKSPACE)
    assert allows(made(command="ls -l"))
    assert not allows(made(command="ls; rm x"))
    assert not allows(made("mcp__shell__run", command="ls"))
    assert not allows(ToolCall("assistant", "exec_command", "{}", "c"))


def shell(command: str) -> str:
    """Stands for a shell: what a test must never run for real."""
    return f"ran {command}"


async def test_a_forbidden_call_is_answered_before_anybody_is_asked(tmp_path: Path) -> None:
    asked: list[str] = []
    model = Script(
        [
            [call("shell", id="c1", command="ls && sudo rm -rf /"), call("shell", id="c2", command="ls")],
            [say("Done.")],
        ]
    )

    def approve(each: ToolCall) -> Decision:
        asked.append(each.tool_call_id)
        return "allow"

    async with watched(tmp_path, model, [shell], policy=POLICY) as session:
        stream = await session.run(approve=approve)
    decisions = [message.payload.decision for message in stream if isinstance(message.payload, ApprovalDecision)]
    assert decisions == ["forbidden", "allow"]
    assert asked == ["c2"]
    refused, reason = outputs(stream)["c1"]
    assert refused.startswith("Tool call denied by policy. The command policy forbids `rm -rf /`: it removes a system")
    assert reason == "aborted"
    assert outputs(stream)["c2"] == ("ran ls", "completed")
