"""Reads simple commands: words, assignments, redirections, and the documents behind a line."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penguin_harness.policy.shell.syntax import Assignment, Document, Redirect, Simple, Text, Word
from penguin_harness.policy.shell.words import BROKEN_NAME, WordReader

BOUNDARY = re.compile(r"(?=[\s;&|<>()]|\Z)")
_REDIRECT = re.compile(r"([0-9]+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)(?:\[([^]\n]*)\])?(\+?)=")
_BROKEN = re.compile(r"[A-Za-z_]\w*\\\n(?:\w|\\\n)*(?:\[[^]\n]*\])?\+?(?:\\\n)*=")


class SimpleReader(WordReader):
    """Reads what no other command encloses."""

    def __init__(self, text: str, depth: int = 0) -> None:
        super().__init__(text, depth)
        self._documents: list[Document] = []

    def skip_lines(self) -> None:
        """Go over blanks and ends of lines, and over the documents that stand behind them."""
        self.skip_blanks()
        while self.starts("\n"):
            self.at += 1
            self._read_documents()
            self.skip_blanks()

    def _read_documents(self) -> None:
        for document in self._documents:
            text = "".join(self._lines_of(document))
            plain = Word((Text(text, quoted=True),), text)
            document.body = self.document(text) if document.expands else plain
        self._documents.clear()

    def _lines_of(self, document: Document) -> Iterator[str]:
        while not self.is_over:
            end = self.text.find("\n", self.at)
            line = self.text[self.at : end if end >= 0 else len(self.text)]
            self.at = end + 1 if end >= 0 else len(self.text)
            line = line.lstrip("\t") if document.strips else line
            if line == document.delimiter:
                return
            yield f"{line}\n"

    def expect(self, word: str) -> None:
        """Go over the parenthesis or the word that must stand here."""
        self.skip_lines()
        if not self.starts(word) or (word != ")" and not BOUNDARY.match(self.text, self.at + len(word))):
            self.fail(f"{word!r} is missing")
        self.at += len(word)

    def simple(self) -> Simple:
        """A command with its words, assignments and redirections."""
        start = end = self.at
        assignments: list[Assignment] = []
        words: list[Word | Assignment] = []
        redirects: list[Redirect] = []
        while True:
            self.skip_blanks()
            if redirect := self._redirect():
                redirects.append(redirect)
            elif assignment := self._assignment(is_argument=bool(words)):
                (words or assignments).append(assignment)
            elif word := self.word():
                words.append(word)
            else:
                break
            end = self.at
        if not (assignments or words or redirects):
            self.fail("a command is missing")
        return Simple(tuple(assignments), tuple(words), tuple(redirects), self.text[start:end])

    def _assignment(self, *, is_argument: bool) -> Assignment | None:
        """An assignment before the command; among its arguments only a list, which is nothing else."""
        if _BROKEN.match(self.text, self.at):
            self.fail(BROKEN_NAME)
        found = _ASSIGNMENT.match(self.text, self.at)
        if found is None or (is_argument and not self.text.startswith("(", found.end())):
            return None
        name, index, plus = found.groups()
        self.at = found.end()
        if not self.starts("("):
            return Assignment(name, self.word() or Word((), ""), None, bool(plus), index or "")
        self.at += 1
        values: list[Word] = []
        self.skip_lines()
        while word := self.word():
            values.append(word)
            self.skip_lines()
        self.expect(")")
        return Assignment(name, None, tuple(values), bool(plus), index or "")

    def redirects(self) -> tuple[Redirect, ...]:
        """The redirections from here on."""
        redirects: list[Redirect] = []
        self.skip_blanks()
        while redirect := self._redirect():
            redirects.append(redirect)
            self.skip_blanks()
        return tuple(redirects)

    def _redirect(self) -> Redirect | None:
        found = _REDIRECT.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        self.skip_blanks()
        target = self.word() or self.fail("a redirection has no target")
        descriptor, operator = found[1] or "", found[2]
        if operator not in {"<<", "<<-"}:
            return Redirect(operator, target, descriptor)
        delimiter = "".join(piece.text if isinstance(piece, Text) else piece.source for piece in target.pieces)
        expands = not any(piece.quoted for piece in target.pieces)
        document = Document(delimiter, expands, strips=operator == "<<-")
        self._documents.append(document)
        return Redirect(operator, document, descriptor)
