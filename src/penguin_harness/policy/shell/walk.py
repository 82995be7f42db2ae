"""Follows a line as a shell would, without running anything, and finds every simple command that it may run."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from penguin_harness.policy.shell.bomb import is_bomb
from penguin_harness.policy.shell.command import Command, Field, Target
from penguin_harness.policy.shell.cursor import TOO_DEEP
from penguin_harness.policy.shell.expansion import Expander, readings
from penguin_harness.policy.shell.parser import parse
from penguin_harness.policy.shell.runner import Runner
from penguin_harness.policy.shell.scope import EMPTY, Scope
from penguin_harness.policy.shell.streams import NOTHING, Place, Stream, together, unique
from penguin_harness.policy.shell.syntax import (
    Assignment,
    Compound,
    Document,
    Function,
    Item,
    Node,
    Pipeline,
    Redirect,
    Script,
    Simple,
    Unreadable,
    Word,
)


def find_commands(
    line: str, *, environment: Mapping[str, str], folder: str | None = None, workspace: str | None = None
) -> list[Command]:
    """The commands of a line that runs in a folder of a workspace, in the order in which they stand.

    Raises Unreadable.
    """
    walk = _Walk()
    try:
        walk.script(
            parse(line), Place(Scope(environment, posixpath.normpath(folder or workspace or "."), workspace), NOTHING)
        )
        walk.end()
    except RecursionError:
        raise Unreadable(TOO_DEEP) from None
    return walk.commands


class _Walk(Runner):
    def script(self, script: Script, place: Place) -> Stream:
        return together([self._item(item, place) for item in script.items])

    def _item(self, item: Item, place: Place) -> Stream:
        if item.background:
            place = place.inside()
        was_sure = place.scope.is_sure
        outputs: list[Stream] = []
        for pipeline in item.pipelines:
            outputs.append(self._pipeline(pipeline, place))
            place.scope.is_sure = False
        place.scope.is_sure = was_sure
        return together(outputs)

    def _pipeline(self, pipeline: Pipeline, place: Place) -> Stream:
        if len(pipeline.stages) < 2:
            return together([self._node(stage, place) for stage in pipeline.stages])
        stream = place.given
        for stage in pipeline.stages:
            made = self._node(stage, place.inside(stream))
            stream = Stream(made.text, unique((*stream.commands, *made.commands)))
        return stream

    def _node(self, node: Node, place: Place) -> Stream:
        match node:
            case Simple():
                return self._simple(node, place)
            case Compound():
                return self.compound(node, place)
            case Function():
                return self._define(node, place)

    def _define(self, node: Function, place: Place) -> Stream:
        """A function's body counts when it is never called, too; nobody knows its arguments then."""
        inside = place.inside(NOTHING)
        inside.scope.arguments = None
        self.compound(node.body, inside)
        if is_bomb(node):
            self.add(Command((), node.source, via=place.via, is_bomb=True))
        place.scope.functions[node.name] = node
        return Stream("")

    def compound(self, node: Compound, place: Place) -> Stream:
        if node.kind == "subshell":
            place = place.inside()
        scope, was_sure = place.scope, place.scope.is_sure
        expander = self._expander(place)
        targets, given = self._targets(node.redirects, expander, place.given)
        if targets:
            self.add(self.command((), " ".join(f"{t.operator} {t.field.text}" for t in targets), place, targets))
        if node.kind == "for" and node.variable:
            found = [expander.fields(word) for word in node.words]
            scope.set(node.variable, itertools.chain(*itertools.chain(*found)))
        else:
            for word in node.words:
                expander.texts(word)
        if node.kind == "arithmetic" or (node.kind == "for" and not node.variable):
            scope.calculate(" ".join(word.source for word in node.words))
        scope.is_sure = was_sure and node.kind in {"group", "subshell"}
        inner = Place(scope, given, place.via)
        before = scope.copy()
        made = [self.script(body, inner) for body in node.bodies]
        if node.kind in {"loop", "for"} and not scope.is_like(before):  # the next round finds what this one left
            made += [self.script(body, inner) for body in node.bodies]
        scope.is_sure = was_sure
        self._feed(expander, made, place)
        return together(made)

    def _simple(self, node: Simple, place: Place) -> Stream:
        expander = self._expander(place)
        targets, given = self._targets(node.redirects, expander, place.given)
        place = Place(place.scope, given, place.via)
        assigned = tuple(each.name for each in node.assignments)
        if not node.words:
            self._assign_all(node.assignments, place.scope, expander)
            if targets or assigned:
                self.add(self.command((), node.source, place, targets, assigned))
            return Stream("")
        outputs: list[Stream] = []
        for fields in self._fields(node.words, place.scope, expander):
            with place.scope.for_a_while(assigned):
                self._assign_all(node.assignments, place.scope, expander)
                place.scope.export(*assigned)
                command = self.command(fields, node.source, place, targets, assigned)
                outputs.append(self.run(command, place))
        self._feed(expander, outputs, place)
        return outputs[0] if len(outputs) == 1 else together(outputs, is_one=False)

    def _fields(
        self, words: Sequence[Word | Assignment], scope: Scope, expander: Expander
    ) -> Iterator[tuple[Field, ...]]:
        parts: list[list[tuple[Field, ...]]] = []
        for word in words:
            if isinstance(word, Word):
                parts.append(expander.fields(word))
            else:
                self._assign(word, scope, expander)
        for reading in readings(parts, (Field("…", known=False),)):
            if fields := tuple(itertools.chain(*reading)):
                yield fields

    def _assign_all(self, assignments: Iterable[Assignment], scope: Scope, expander: Expander) -> None:
        for assignment in assignments:
            self._assign(assignment, scope, expander)

    def _assign(self, assignment: Assignment, scope: Scope, expander: Expander) -> None:
        name = assignment.name
        if assignment.values is not None:
            members = [field for value in assignment.values for field in itertools.chain(*expander.fields(value))]
            for before in scope.readings(name, f"${name}") if assignment.appends else [()]:
                scope.set_list(name, [*before, *members])
            return
        values = expander.texts(assignment.value or Word((), ""))
        if assignment.index:
            scope.set_list(name, [Field(f"${name}", known=False)])
        elif assignment.appends:
            before = [members[0] if members else EMPTY for members in scope.readings(name, f"${name}")]
            scope.set(name, [_appended(old, new) for old in before for new in values])
        else:
            scope.set(name, values)

    def _expander(self, place: Place) -> Expander:
        return Expander(place.scope, lambda script: self.script(script, place.inside()))

    def _targets(
        self, redirects: Iterable[Redirect], expander: Expander, given: Stream
    ) -> tuple[tuple[Target, ...], Stream]:
        """Where the redirections lead, and what can be read then."""
        targets: list[Target] = []
        for redirect in redirects:
            if isinstance(redirect.target, Document):
                given = _as_stream(expander.texts(redirect.target.body)[0], "")
            elif redirect.operator == "<<<":
                given = _as_stream(expander.texts(redirect.target)[0], "\n")
            else:
                fields = [*itertools.chain(*expander.fields(redirect.target))]
                targets += [Target(redirect.operator, field, redirect.descriptor) for field in fields]
                if redirect.operator == "<" and redirect.descriptor in {"", "0"}:
                    given = Stream(None, unique(command for field in fields for command in field.made_by))
        return tuple(targets), given

    def _feed(self, expander: Expander, outputs: Iterable[Stream], place: Place) -> None:
        """What a command writes into `>(…)` is read there."""
        given = Stream(None, unique(command for output in outputs for command in output.commands))
        while expander.fed:
            self.script(expander.fed.pop(0), place.inside(given))


def _as_stream(field: Field, end: str) -> Stream:
    return Stream(f"{field.text}{end}" if field.known else None, field.made_by)


def _appended(old: Field, new: Field) -> Field:
    return Field(f"{old.text}{new.text}", old.known and new.known, None, (*old.made_by, *new.made_by))
