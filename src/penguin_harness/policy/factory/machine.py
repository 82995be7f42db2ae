"""The machine as a whole: its power, its processes, its schedule, who may use it."""

from __future__ import annotations

from penguin_harness.policy.factory.arguments import asks_for_help, lost, named, written
from penguin_harness.policy.paths import decides_who_enters, is_history, is_ours
from penguin_harness.policy.rules import Rule
from penguin_harness.policy.shell.command import Command
from penguin_harness.policy.shell.options import options

_SIGNAL_FLAGS = ("-s", "-n", "--signal")
_ALL_PROCESSES = "-1"


def _is_bomb(command: Command) -> bool:
    return command.is_bomb


def _powers_off(command: Command) -> bool:
    if asks_for_help(command):
        return False
    if command.runs("shutdown"):
        return not options(command.arguments).has("-c", "-k", "--show")
    if command.runs("init", "telinit"):
        return any(field.text in {"0", "6"} for field in command.arguments)
    return command.runs("reboot", "halt", "poweroff") or named(
        command, "systemctl poweroff", "systemctl reboot", "systemctl halt", "systemctl kexec"
    )


def _kills_all(command: Command) -> bool:
    if command.runs("killall5"):
        return True
    if not command.runs("kill"):
        return False
    words = [field.text for field in command.arguments]
    if words and words[0] in _SIGNAL_FLAGS:
        words = words[2:]
    elif words and words[0].startswith("-") and words[0] != "--":
        words = words[1:]
    return _ALL_PROCESSES in words


def _drops_the_schedule(command: Command) -> bool:
    return named(command, "crontab -r")


def _erases_history(command: Command) -> bool:
    if command.runs("history"):
        return options(command.arguments).has("-c")
    return any(is_history(field, command) for field in lost(command))


def _changes_accounts(command: Command) -> bool:
    return any(decides_who_enters(field, command) for field in written(command))


def _changes_the_rules(command: Command) -> bool:
    return any(map(is_ours, written(command)))


RULES = (
    Rule("fork-bomb", "forbid", "it starts itself again and again until nothing else can run", _is_bomb),
    Rule("power-off", "forbid", "it stops or restarts the machine", _powers_off),
    Rule("kill-all", "forbid", "it ends every process of the user", _kills_all),
    Rule("drop-schedule", "forbid", "it removes all scheduled jobs of the user", _drops_the_schedule),
    Rule("erase-history", "forbid", "it erases the record of what was typed", _erases_history),
    Rule("change-accounts", "forbid", "it changes who may log in, and as whom", _changes_accounts),
    Rule("change-policy", "forbid", "it changes the rules that the agent is held to, or its keys", _changes_the_rules),
)
