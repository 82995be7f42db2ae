"""From words to fields: what the shell makes of quotes, variables, substitutions, wildcards."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct

from penguin_harness.policy.shell.braces import expand_braces
from penguin_harness.policy.shell.command import Command, Field
from penguin_harness.policy.shell.parameters import changed
from penguin_harness.policy.shell.scope import EMPTY, Members, Scope
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
            return self._scope.value("HOME")
        if user == "+":
            return self._scope.value("PWD")
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
        is_list = piece.name in {"@", "*"} or piece.index in {"@", "*"}
        found: list[Members] = []
        for members in self._scope.readings(piece.name, piece.source):
            chosen = members if is_list else _member(members, piece)
            found += self._operated(chosen, piece, is_list=is_list) if piece.operator else [chosen]
        return [_chunks(members, piece, is_list=is_list) for members in dict.fromkeys(found)]

    def _operated(self, members: Members, piece: Parameter, *, is_list: bool) -> Iterator[Members]:
        arguments = self.texts(piece.argument) if piece.argument is not None else (EMPTY,)
        match piece.operator.removeprefix(":"):
            case "-" | "=" | "+" | "?" as operator:
                yield from self._instead(members, piece, operator, arguments)
            case "!":
                unknown = ((Field(piece.source, known=False),),)
                for field in members:
                    yield from self._scope.readings(field.text, piece.source) if field.known else unknown
            case "" if is_list:
                yield from (_slice(members, argument, piece) for argument in arguments)
            case _:
                for argument in arguments:
                    yield tuple(_changed(field, piece.operator, argument, piece.source) for field in members)

    def _instead(
        self, members: Members, piece: Parameter, operator: str, arguments: tuple[Field, ...]
    ) -> Iterator[Members]:
        """What stands for a variable that is there, and for one that is not, or is empty where the colon says so."""
        is_there = any(field.text for field in members) if piece.operator.startswith(":") else bool(members)
        is_certain = all(field.known for field in members)
        if operator == "+":
            yield from ((argument,) for argument in arguments) if is_there else [()]
        elif is_there or operator == "?":
            yield members
        if operator in "-=" and not (is_there and is_certain):
            yield from ((argument,) for argument in arguments)
            if operator == "=":
                self._scope.set(piece.name, arguments)

    def _split(self, chunks: Iterable[Chunk]) -> tuple[Field, ...]:
        separators = self._scope.any_of("IFS")
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


def _changed(value: Field, operator: str, argument: Field, source: str) -> Field:
    text = changed(value.text, operator, argument.text) if value.known and argument.known else None
    made_by = (*value.made_by, *argument.made_by)
    return Field(source, known=False, made_by=made_by) if text is None else Field(text, made_by=made_by)


def _member(members: Members, piece: Parameter) -> Members:
    """The member that `${name[index]}` is, or that the name alone stands for."""
    if piece.index and not piece.index.isdigit():
        return (Field(piece.source, known=False),)
    at = int(piece.index or 0)
    return members[at : at + 1]


def _slice(members: Members, argument: Field, piece: Parameter) -> Members:
    """Of `$@` the members count from 1, of a list from 0."""
    start, _, length = argument.text.partition(":")
    if not argument.known or not start.strip().isdigit() or (length and not length.strip().isdigit()):
        return (Field(piece.source, known=False),)
    first = int(start) - (piece.name in {"@", "*"} and int(start) > 0)
    return members[first : first + int(length) if length else None]


def _chunks(members: Members, piece: Parameter, *, is_list: bool) -> Sequence[Chunk]:
    if not is_list or (piece.quoted and "*" in {piece.name, piece.index}):
        members = (_joined(members, " "),)
    last = len(members) - 1
    return tuple(
        Chunk(member, piece.quoted, splits=member.known and not piece.quoted, ends=at < last)
        for at, member in enumerate(members)
    )
