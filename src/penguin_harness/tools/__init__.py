"""Tools: functions that the model may call, the built-in ones, and the toolbox that runs them."""

from penguin_harness.tools.context import ToolContext
from penguin_harness.tools.edit_file import edit_file
from penguin_harness.tools.environment import child_environment
from penguin_harness.tools.exec_command import exec_command
from penguin_harness.tools.execution import Limits
from penguin_harness.tools.executor import Toolbox
from penguin_harness.tools.input_command import input_command
from penguin_harness.tools.read_file import read_file
from penguin_harness.tools.tool import Tool, ToolResult, as_tool, raw_tool, tool
from penguin_harness.tools.write_file import write_file

__all__ = [
    "Limits",
    "Tool",
    "ToolContext",
    "ToolResult",
    "Toolbox",
    "as_tool",
    "builtin_tools",
    "child_environment",
    "raw_tool",
    "tool",
]


def builtin_tools() -> list[Tool]:
    """The tools that every session may offer, in the order in which the model is told of them."""
    return [exec_command, input_command, read_file, edit_file, write_file]
