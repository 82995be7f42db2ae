"""Reads words: quotes, escapes, parameters, substitutions."""

from __future__ import annotations

import re

from penguin_harness.policy.shell.cursor import Cursor
from penguin_harness.policy.shell.escapes import unescape_quoted
from penguin_harness.policy.shell.syntax import (
    Arithmetic,
    Parameter,
    Piece,
    Process,
    Script,
    Substitution,
    Text,
    Unreadable,
    Word,
)

BROKEN_NAME = "a name is broken across lines"

_PLAIN = re.compile(r"[^ \t\n;&|<>()'\"\\$`]+")
_PLAIN_IN_QUOTES = re.compile(r'[^"\\$`]+')
_PLAIN_IN_BRACES = re.compile(r"[^}'\"\\$`]+")
_PLAIN_IN_TEST = re.compile(r"[^ \t\n'\"\\$`]+")
_END_OF_TEST = re.compile(r"\]\](?=[\s;&|<>()]|\Z)")
_PLAIN_IN_DOCUMENT = re.compile(r"[^\\$`]+")
_ANSI_C = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_BACKTICK_ESCAPE = re.compile(r"\\([`\\$])")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]|[@*#?$!-]")
_BRACED = re.compile(r"\$\{([!#]?)([A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])(?:\[([^]]*)\])?")
_OPERATOR = re.compile(r":?[-=+?]|:|##?|%%?|//?|\^\^?|,,?|@")
_BROKEN = re.compile(r"\$\w*\\\n[\w({$'\"\\@*#?!-]")
_NOT_IN_A_DOCUMENT = '"'


class WordReader(Cursor):
    """Reads words. What it opens, it closes, or the line is unreadable."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self._no_arithmetic: set[int] = set()

    def script(self) -> Script:
        """Commands from here to whatever ends them."""
        raise NotImplementedError

    def nested(self, text: str) -> Script:
        """Another text as a script of its own."""
        raise NotImplementedError

    def word(self) -> Word | None:
        """The word that begins here, if one does."""
        start, pieces = self.at, list[Piece]()
        while not self.is_over:
            if self.starts("<(", ">("):
                pieces.append(self._process())
            elif not self._take(pieces, _PLAIN):
                break
        return Word(tuple(pieces), self.text[start : self.at]) if self.at > start else None

    def test_word(self) -> Word | None:
        """A word inside `[[ … ]]`, where operators are plain characters."""
        start, pieces = self.at, list[Piece]()
        if found := _END_OF_TEST.match(self.text, start):
            self.at = found.end()
            return Word((Text(found[0]),), found[0])
        while not self.is_over and self._take(pieces, _PLAIN_IN_TEST):
            pass
        return Word(tuple(pieces), self.text[start : self.at]) if self.at > start else None

    def document(self, text: str) -> Word:
        """Another text as the body of a here-document that is expanded."""
        reader = type(self)(text, self.depth + 1)
        pieces: list[Piece] = []
        while not reader.is_over:
            if found := _PLAIN_IN_DOCUMENT.match(text, reader.at):
                pieces.append(Text(found[0], quoted=True))
                reader.at = found.end()
            else:
                pieces.append(reader._expansion_in_quotes())
        return Word(tuple(pieces), text)

    def _take(self, pieces: list[Piece], plain: re.Pattern[str], *, quoted: bool = False) -> bool:
        """Add the piece that begins here; False when something begins that is no part of a word."""
        if found := plain.match(self.text, self.at):
            before = pieces[-1] if pieces else None
            if isinstance(before, Text) and before.quoted == quoted:  # a joined line
                pieces[-1] = Text(f"{before.text}{found[0]}", quoted)
            else:
                pieces.append(Text(found[0], quoted))
            self.at = found.end()
        elif self.starts("'"):
            pieces.append(self._single_quoted())
        elif self.starts('"', '$"'):
            pieces += self._double_quoted()
        elif self.starts("\\"):
            pieces += self._escaped()
        elif self.starts("$'"):
            found = _ANSI_C.match(self.text, self.at) or self.fail("a quote $' is never closed")
            pieces.append(Text(unescape_quoted(found[1]).partition("\0")[0], quoted=True))
            self.at = found.end()
        elif self.starts("$", "`"):
            pieces.append(self._expansion(quoted=quoted))
        else:
            return False
        return True

    def _single_quoted(self) -> Text:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            self.fail("a quote ' is never closed")
        piece = Text(self.text[self.at + 1 : end], quoted=True)
        self.at = end + 1
        return piece

    def _double_quoted(self) -> list[Piece]:
        start = self.at
        self.at += 2 if self.starts("$") else 1
        pieces: list[Piece] = []
        while not self.starts('"'):
            if self.is_over:
                self.at = start
                self.fail('a quote " is never closed')
            if found := _PLAIN_IN_QUOTES.match(self.text, self.at):
                pieces.append(Text(found[0], quoted=True))
                self.at = found.end()
            else:
                pieces.append(self._expansion_in_quotes(_NOT_IN_A_DOCUMENT))
        self.at += 1
        return pieces or [Text("", quoted=True)]

    def _expansion_in_quotes(self, also_escaped: str = "") -> Piece:
        if not self.starts("\\"):
            return self._expansion(quoted=True)
        following = self.text[self.at + 1 : self.at + 2]
        self.at += 1 + len(following)
        if following == "\n":
            return Text("", quoted=True)
        return Text(following if following and following in f"$`\\{also_escaped}" else f"\\{following}", quoted=True)

    def _escaped(self) -> list[Piece]:
        following = self.text[self.at + 1 : self.at + 2] or self.fail("nothing follows a backslash")
        self.at += 2
        return [] if following == "\n" else [Text(following, quoted=True)]

    def _expansion(self, *, quoted: bool) -> Piece:
        start = self.at
        if _BROKEN.match(self.text, start):
            self.fail(BROKEN_NAME)
        if self.starts("`"):
            found = _BACKTICKS.match(self.text, self.at) or self.fail("a backtick is never closed")
            self.at = found.end()
            return Substitution(self.nested(_BACKTICK_ESCAPE.sub(r"\1", found[1])), found[0], quoted)
        if self.starts("$((") and start not in self._no_arithmetic:
            inner = self.arithmetic(3)
            if inner is not None:
                return Arithmetic(inner, self.text[start : self.at], quoted)
        if self.starts("$("):
            self.at += 2
            script = self._enclosed()
            return Substitution(script, self.text[start : self.at], quoted)
        if self.starts("${"):
            return self._braced(quoted=quoted)
        if found := _NAME.match(self.text, start + 1):
            self.at = found.end()
            return Parameter(found[0], self.text[start : self.at], quoted)
        self.at += 1
        return Text("$", quoted)

    def _process(self) -> Process:
        start = self.at
        self.at += 2
        return Process(self._enclosed(), self.text[start : self.at])

    def _enclosed(self) -> Script:
        """The script up to the closing parenthesis."""
        with self.nesting():
            script = self.script()
        if not self.starts(")"):
            self.fail("a parenthesis is never closed")
        self.at += 1
        return script

    def _braced(self, *, quoted: bool) -> Piece:
        start = self.at
        found = _BRACED.match(self.text, start) or self.fail("a parameter in braces has no name")
        prefix, name, index = found.groups()
        self.at = found.end()
        operator = _OPERATOR.match(self.text, self.at)
        argument = None
        if operator is not None:
            self.at = operator.end()
            argument = self._argument(quoted=quoted)
        if not self.starts("}"):
            self.fail("a brace is never closed")
        self.at += 1
        sign = f"{prefix}{operator[0] if operator else ''}"
        return Parameter(name, self.text[start : self.at], quoted, index or "", sign, argument)

    def _argument(self, *, quoted: bool) -> Word:
        start, pieces = self.at, list[Piece]()
        with self.nesting():
            while not self.is_over and not self.starts("}"):
                if quoted and self.starts("'"):
                    pieces.append(Text("'", quoted=True))
                    self.at += 1
                else:
                    self._take(pieces, _PLAIN_IN_BRACES, quoted=quoted)
        return Word(tuple(pieces), self.text[start : self.at])

    def arithmetic(self, opening: int) -> Word | None:
        """What stands between `((` and `))`; None, and nothing read, when the parentheses mean something else."""
        start, depth = self.at, self.depth
        try:
            return self._sum(opening)
        except Unreadable:
            self._no_arithmetic.add(start)
            self.at, self.depth = start, depth
            return None

    def _sum(self, opening: int) -> Word:
        self.at += opening
        start, pieces, open_parentheses = self.at, list[Piece](), 0
        while not self.is_over:
            if self.starts("$", "`"):
                pieces.append(self._expansion(quoted=True))
            elif self.starts("'", '"'):
                pieces += [self._single_quoted()] if self.starts("'") else self._double_quoted()
            elif self.starts("))") and open_parentheses == 0:
                self.at += 2
                return Word(tuple(pieces), self.text[start : self.at - 2])
            else:
                open_parentheses += {"(": 1, ")": -1}.get(self.text[self.at], 0)
                if open_parentheses < 0:
                    break
                self.at += 1
        return self.fail("an arithmetic expression is never closed")
