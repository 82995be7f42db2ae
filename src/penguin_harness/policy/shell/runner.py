"""Takes commands, and follows what they run in turn: wrappers, shells, functions."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from penguin_harness.policy.shell.builtins import change_scope
from penguin_harness.policy.shell.command import Command, Field, Target
from penguin_harness.policy.shell.cursor import TOO_DEEP
from penguin_harness.policy.shell.finders import fed_by_xargs, found_by_find
from penguin_harness.policy.shell.outputs import output_of
from penguin_harness.policy.shell.parser import parse
from penguin_harness.policy.shell.shells import ShellText, reads_script, script_arguments, shell_texts
from penguin_harness.policy.shell.streams import Place, Stream, unique
from penguin_harness.policy.shell.syntax import Compound, Function, Script, Unreadable
from penguin_harness.policy.shell.wrappers import wrapped

MOST_COMMANDS = 3_000
DEEPEST = 30
_IN_THIS_SHELL = {"eval", "trap", "source", "."}


class Runner:
    """The commands found so far, and the way to more."""

    def __init__(self) -> None:
        self.commands: list[Command] = []
        self._calling: list[str] = []
        self._traps: dict[str, tuple[ShellText, Place]] = {}

    def end(self) -> None:
        """The shells end, and what was kept for that runs, each text once."""
        ran: set[str] = set()
        while left := self._traps.keys() - ran:
            text = min(left)
            ran.add(text)
            self._run_text(*self._traps[text])

    def script(self, script: Script, place: Place) -> Stream:
        """Follow a script: what it prints, and the commands that do."""
        raise NotImplementedError

    def compound(self, node: Compound, place: Place) -> Stream:
        """Follow a compound command."""
        raise NotImplementedError

    def run(self, command: Command, place: Place) -> Stream:
        """Take a command, and follow what it runs in turn."""
        self.add(command)
        if len(place.via) > DEEPEST:
            raise Unreadable(TOO_DEEP)
        outputs = [*self._inner(command, place)]
        function = place.scope.functions.get(command.fields[0].text)
        if function is not None and function.name not in self._calling:
            outputs.append(self._call(function, command, place))
        made = outputs[0].text if len(outputs) == 1 else None
        printed = made if outputs else output_of(command, place.given.text)
        change_scope(command, place.scope, printed)
        inner = [each for output in outputs for each in output.commands]
        return Stream(printed, unique((*place.given.commands, *_makers(command), command, *inner)))

    def _inner(self, command: Command, place: Place) -> Iterator[Stream]:
        name = command.fields[0].name
        if fields := wrapped(command):
            yield self._run_inside(fields, command, place, name)
        elif not command.fields[0].known and command.arguments:
            yield self._run_inside(command.arguments, command, place, name)
        elif command.runs("xargs", "parallel"):
            for fields in fed_by_xargs(command, place.given.text, place.given.commands):
                yield self._run_inside(fields, command, place, name)
        elif command.runs("find"):
            for fields in found_by_find(command):
                yield self._run_inside(fields, command, place, f"{name} -exec")
        for text in shell_texts(command):
            if text.via == "trap":
                self._traps[text.text.text] = (text, place)
            yield self._run_text(text, place)
        if reads_script(command) and place.given.text is not None:
            script = ShellText(Field(place.given.text), name, command.fields[0], script_arguments(command))
            has_rest = "\n" in place.given.text.strip()  # of one line nothing is left for its commands to read
            rest = place.given if has_rest else Stream("", place.given.commands)
            yield self._run_text(script, Place(place.scope, rest, place.via))

    def _run_inside(self, fields: tuple[Field, ...], command: Command, place: Place, via: str) -> Stream:
        if not fields:
            return Stream("")
        inner = Place(place.scope, place.given, (*place.via, via))
        source = " ".join(field.spelled for field in fields)
        return self.run(
            msgspec.structs.replace(command, fields=fields, source=source, via=inner.via, targets=()), inner
        )

    def _run_text(self, text: ShellText, place: Place) -> Stream:
        inner = Place(place.scope, place.given, (*place.via, text.via))
        if text.via not in _IN_THIS_SHELL:
            inner = Place(place.scope.child(), place.given, inner.via)
            inner.scope.name, inner.scope.arguments = text.name, (text.positional,)
        return self.script(parse(text.text.text), inner)

    def _call(self, function: Function, command: Command, place: Place) -> Stream:
        self._calling.append(function.name)
        outer, place.scope.arguments = place.scope.arguments, (command.arguments,)
        made = self.compound(function.body, Place(place.scope, place.given, (*place.via, function.name)))
        place.scope.arguments = outer
        self._calling.pop()
        return made

    def command(
        self,
        fields: tuple[Field, ...],
        source: str,
        place: Place,
        targets: tuple[Target, ...] = (),
        assigned: tuple[str, ...] = (),
    ) -> Command:
        """A command that runs at this place."""
        scope = place.scope
        return Command(
            fields=fields,
            source=source,
            targets=targets,
            assigned=assigned,
            via=place.via,
            folder=scope.folder,
            feeders=place.given.commands,
            given=place.given.text,
            home=scope.home,
            base=scope.base,
        )

    def add(self, command: Command) -> None:
        """Take note of a command. Raises Unreadable when there are too many."""
        self.commands.append(command)
        if len(self.commands) > MOST_COMMANDS:
            raise Unreadable("it runs too many commands")


def _makers(command: Command) -> Iterator[Command]:
    for field in command.fields:
        yield from field.made_by
