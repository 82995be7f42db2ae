"""From words to fields: what the shell makes of quotes, variables, substitutions, wildcards."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from penguin_harness.policy.shell.braces import expand_braces
from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.parameters import changed
from penguin_harness.policy.shell.scope import EMPTY, Scope
from penguin_harness.policy.shell.streams import Stream
from penguin_harness.policy.shell.syntax import (
    Arithmetic,
    Parameter,
    Piece,
    Process,
    Script,
    Substitution,
    Text,
    Word,
)

MOST_READINGS = 256
T = TypeVar("T")

_WILD = re.compile(r"[*?\[]")
_TILDE = re.compile(r"((?:[A-Za-z_]\w*=)?)~([\w.+-]*)(?=/|\Z)")


class Chunk(Struct, frozen=True):
    """A part of a word, expanded; where one stands with `ends`, a field ends behind it."""

    field: Field
    quoted: bool = False
    splits: bool = False
    ends: bool = False


class Expander:
    """Expands the words of one command."""

    def __init__(self, scope: Scope, run: Callable[[Script], Stream]) -> None:
        self.fed: list[Script] = []
        """The scripts in `>(…)`, which the command feeds."""
        self._scope = scope
        self._run = run

    def fields(self, word: Word) -> list[tuple[Field, ...]]:
        """The fields that the word becomes, in each way that it may."""
        words = expand_braces(word)
        single = len(words) == 1  # what braces make is no assignment
        parts = [[self._split(chunks) for chunks in self._readings(each, may_assign=single)] for each in words]
        return [tuple(itertools.chain(*reading)) for reading in readings(parts, (Field(word.source, known=False),))]

    def texts(self, word: Word) -> tuple[Field, ...]:
        """The one text that the word becomes, in each way that it may: nothing is split, no wildcard counts."""
        return tuple(dict.fromkeys(_joined([chunk.field for chunk in chunks]) for chunks in self._readings(word)))

    def _readings(self, word: Word, *, may_assign: bool = True) -> list[tuple[Chunk, ...]]:
        alternatives = [self._piece(piece) for piece in self._with_home(word, may_assign=may_assign)]
        unknown = (Chunk(Field(word.source, known=False)),)
        return [tuple(itertools.chain(*reading)) for reading in readings(alternatives, unknown)]

    def _with_home(self, word: Word, *, may_assign: bool) -> tuple[Piece, ...]:
        """A tilde at the beginning, or behind what looks like an assignment, is a home folder."""
        first = word.pieces[0] if word.pieces else None
        if not isinstance(first, Text) or first.quoted:
            return word.pieces
        found = _TILDE.match(first.text)
        if found is None or (found.end() == len(first.text) and len(word.pieces) > 1):
            return word.pieces
        name, user = found.groups()
        if name and not may_assign:
            return word.pieces
        rest = Text(first.text[found.end() :])
        return (Text(name), Text(self._home_of(user), quoted=True), rest, *word.pieces[1:])

    def _home_of(self, user: str) -> str:
        if not user:
            return self._scope.values("HOME", "~")[0].text
        if user == "+":
            return self._scope.values("PWD", "~+")[0].text
        return "/root" if user == "root" else f"/home/{user}"

    def _piece(self, piece: Piece) -> list[Sequence[Chunk]]:
        match piece:
            case Text(text, quoted):
                return [(Chunk(Field(text), quoted),)]
            case Parameter():
                return self._parameter(piece)
            case Substitution(script, source, quoted):
                output = self._run(script)
                known = output.text is not None
                text = source if output.text is None else output.text.rstrip("\n")
                return [(Chunk(Field(text, known, None, output.commands), quoted, splits=known and not quoted),)]
            case Process(script, source):
                if source.startswith(">"):
                    self.fed.append(script)
                    return [(Chunk(Field(source, known=False)),)]
                return [(Chunk(Field(source, known=False, made_by=self._run(script).commands)),)]
            case Arithmetic(inner, source):
                self._readings(inner)
                self._scope.calculate(inner.source)
                return [(Chunk(Field(source, known=False), quoted=True),)]

    def _parameter(self, piece: Parameter) -> list[Sequence[Chunk]]:
        if piece.operator == "#" and piece.argument is None:
            return [(Chunk(Field(piece.source, known=False), quoted=True),)]
        if piece.name in {"@", "*"} or piece.index in {"@", "*"}:
            members = self._scope.members(piece.name, piece.source)
            if not piece.operator:
                return [self._members(members, piece)]
            values: tuple[Field, ...] = (_joined(members, " "),)
        else:
            values = self._values(piece)
        operated = self._operated(values, piece) if piece.operator else values
        return [(Chunk(value, piece.quoted, splits=value.known and not piece.quoted),) for value in operated]

    def _members(self, members: Sequence[Field], piece: Parameter) -> Sequence[Chunk]:
        if piece.quoted and "*" in {piece.name, piece.index}:
            return (Chunk(_joined(members, " "), quoted=True),)
        last = len(members) - 1
        return [
            Chunk(member, piece.quoted, splits=member.known and not piece.quoted, ends=at < last)
            for at, member in enumerate(members)
        ]

    def _values(self, piece: Parameter) -> tuple[Field, ...]:
        if piece.index.isdigit():
            members = self._scope.members(piece.name, piece.source)
            return members[int(piece.index) : int(piece.index) + 1] or (EMPTY,)
        return self._scope.values(piece.name, piece.source)

    def _operated(self, values: tuple[Field, ...], piece: Parameter) -> tuple[Field, ...]:
        arguments = self.texts(piece.argument) if piece.argument is not None else (EMPTY,)
        unknown = Field(piece.source, known=False)
        is_set = self._scope.is_set(piece.name)

        def counts(value: Field) -> bool:
            return bool(value.text) if piece.operator.startswith(":") else is_set

        match piece.operator:
            case ":-" | "-" | ":=" | "=":
                found = [other for value in values for other in ([value] if counts(value) else arguments)]
                found += arguments if any(not value.known for value in values) else ()
                if "=" in piece.operator:
                    self._scope.set(piece.name, found)
            case ":+" | "+":
                found = [other for value in values for other in (arguments if counts(value) else [EMPTY])]
            case ":?" | "?":
                found = [*values]
            case "!":
                found = [
                    other
                    for value in values
                    for other in (self._scope.values(value.text, piece.source) if value.known else (unknown,))
                ]
            case operator:
                found = [_changed(value, operator, argument, unknown) for value in values for argument in arguments]
        return tuple(dict.fromkeys(found))

    def _split(self, chunks: Iterable[Chunk]) -> tuple[Field, ...]:
        separators = self._scope.values("IFS", "$IFS")[0].text
        builder = _Builder()
        for chunk in chunks:
            if chunk.splits and separators and chunk.field.text:
                first, *rest = re.split(f"[{re.escape(separators)}]+", chunk.field.text)
                builder.add(first, chunk)
                for part in rest:
                    builder.end()
                    builder.add(part, chunk)
            else:
                builder.add(chunk.field.text, chunk)
            if chunk.ends:
                builder.end()
        builder.end()
        return tuple(builder.fields)


class _Builder:
    """Puts fields together."""

    def __init__(self) -> None:
        self.fields: list[Field] = []
        self._reset()

    def _reset(self) -> None:
        self._texts: list[str] = []
        self._pattern: list[str] = []
        self._known, self._wild, self._is_there = True, False, False
        self._made_by: dict[Command, None] = {}

    def add(self, text: str, chunk: Chunk) -> None:
        """More of the open field."""
        self._texts.append(text)
        self._pattern.append(_WILD.sub(r"[\g<0>]", text) if chunk.quoted else text)
        self._wild = self._wild or (not chunk.quoted and chunk.field.known and _WILD.search(text) is not None)
        self._known = self._known and chunk.field.known
        self._is_there = self._is_there or chunk.quoted or bool(text)
        self._made_by |= dict.fromkeys(chunk.field.made_by)

    def end(self) -> None:
        """The open field is whole."""
        if self._is_there:
            pattern = "".join(self._pattern) if self._wild and self._known else None
            self.fields.append(Field("".join(self._texts), self._known, pattern, tuple(self._made_by)))
        self._reset()


def readings(parts: Sequence[Sequence[Sequence[T]]], instead: Sequence[T]) -> list[tuple[Sequence[T], ...]]:
    """Each way to choose one of every part; where they are too many, what has a choice is not known."""
    if math.prod(map(len, parts)) > MOST_READINGS:
        parts = [part if len(part) == 1 else [instead] for part in parts]
    return list(itertools.product(*parts))


def _joined(fields: Iterable[Field], between: str = "") -> Field:
    fields = tuple(fields)
    made_by = tuple(dict.fromkeys(command for field in fields for command in field.made_by))
    return Field(between.join(field.text for field in fields), all(field.known for field in fields), None, made_by)


def _changed(value: Field, operator: str, argument: Field, unknown: Field) -> Field:
    text = changed(value.text, operator, argument.text) if value.known and argument.known else None
    made_by = (*value.made_by, *argument.made_by)
    return Field(unknown.text, known=False, made_by=made_by) if text is None else Field(text, made_by=made_by)
