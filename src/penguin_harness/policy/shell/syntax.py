"""What a shell line consists of, as values: words in pieces, simple commands, pipelines, compounds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

CompoundKind: TypeAlias = Literal["group", "subshell", "branch", "loop", "for", "test", "arithmetic"]


class Unreadable(Exception):
    """The line cannot be read; the text says what is wrong with it."""


class Text(Struct, frozen=True):
    """Characters that stand for themselves."""

    text: str
    quoted: bool = False


class Parameter(Struct, frozen=True):
    """`$name`, or `${name…}` with what is done to its value."""

    name: str
    source: str
    quoted: bool = False
    index: str = ""
    operator: str = ""
    argument: Word | None = None


class Substitution(Struct, frozen=True):
    """`$(…)` or backticks: the output of a script."""

    script: Script
    source: str
    quoted: bool = False


class Process(Struct, frozen=True):
    """`<(…)` or `>(…)`: a script as a file."""

    script: Script
    source: str
    quoted: bool = False


class Arithmetic(Struct, frozen=True):
    """`$((…))`: a number."""

    inner: Word
    source: str
    quoted: bool = False


Piece: TypeAlias = Text | Parameter | Substitution | Process | Arithmetic


class Word(Struct, frozen=True):
    """One word before expansion."""

    pieces: tuple[Piece, ...]
    source: str


class Assignment(Struct, frozen=True):
    """`name=value`, `name+=value` or `name=(values)`."""

    name: str
    value: Word | None = None
    values: tuple[Word, ...] | None = None
    appends: bool = False
    index: str = ""


class Document(Struct):
    """A here-document, whose text comes behind the line that names it."""

    delimiter: str
    expands: bool
    strips: bool
    body: Word = Word((), "")


class Redirect(Struct, frozen=True):
    """A redirection to or from a file, another descriptor, or a text."""

    operator: str
    target: Word | Document
    descriptor: str = ""
    """As it stands before the operator, if it does."""


class Simple(Struct, frozen=True):
    """A command with its words."""

    assignments: tuple[Assignment, ...]
    words: tuple[Word | Assignment, ...]
    redirects: tuple[Redirect, ...]
    source: str


class Compound(Struct, frozen=True):
    """A group, a branch, a loop or a test: its scripts, and the words that it reads besides."""

    kind: CompoundKind
    bodies: tuple[Script, ...] = ()
    words: tuple[Word, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    variable: str = ""


class Function(Struct, frozen=True):
    """A function's definition."""

    name: str
    body: Compound
    source: str


Node: TypeAlias = Simple | Compound | Function


class Pipeline(Struct, frozen=True):
    """Commands that feed one another."""

    stages: tuple[Node, ...]


class Item(Struct, frozen=True):
    """Pipelines joined by `&&` and `||`."""

    pipelines: tuple[Pipeline, ...]
    background: bool = False


class Script(Struct, frozen=True):
    """Items that run one after another."""

    items: tuple[Item, ...] = ()
