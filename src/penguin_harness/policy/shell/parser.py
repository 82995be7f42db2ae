"""Reads a line of bash as commands."""

from __future__ import annotations

import re

from penguin_harness.policy.shell.cursor import TOO_DEEP
from penguin_harness.policy.shell.simple import BOUNDARY, SimpleReader
from penguin_harness.policy.shell.syntax import (
    Compound,
    Function,
    Item,
    Node,
    Parameter,
    Pipeline,
    Script,
    Unreadable,
    Word,
)

_CLOSING = re.compile(rf"(?:then|do|done|fi|elif|else|esac|\}}){BOUNDARY.pattern}")
_OPENING = re.compile(rf"(?:if|while|until|for|select|case|\{{|\[\[){BOUNDARY.pattern}|\(\(?")
_PREFIX = re.compile(rf"(?:!|time(?:[ \t]+-p)?(?![ \t]+-)|coproc){BOUNDARY.pattern}")
_FUNCTION = re.compile(r"([^\s;&|<>()$`'\"\\=#]+)[ \t]*\([ \t]*\)\s*")
_NAMED_FUNCTION = re.compile(r"function[ \t]+([^\s;&|<>()$`'\"\\]+)[ \t]*(?:\([ \t]*\))?\s*")
_NAME = re.compile(r"[A-Za-z_]\w*")
_IN = re.compile(rf"in{BOUNDARY.pattern}")
_ESAC = re.compile(rf"esac{BOUNDARY.pattern}")


def parse(text: str, depth: int = 0) -> Script:
    """The commands of a line. Raises Unreadable for what bash would not take, and what is nested too deeply."""
    parser = _Parser(text, depth)
    try:
        script = parser.script()
    except RecursionError:
        raise Unreadable(TOO_DEEP) from None
    if not parser.is_over:
        parser.fail(f"unexpected {text[parser.at : parser.at + 10]!r}")
    return script


class _Parser(SimpleReader):
    def nested(self, text: str) -> Script:
        return parse(text, self.depth + 1)

    def script(self) -> Script:
        items: list[Item] = []
        self.skip_lines()
        while not self._at_end():
            items.append(self._item())
            self.skip_lines()
        return Script(tuple(items))

    def _at_end(self) -> bool:
        return self.is_over or self.starts(")", ";;", ";&") or _CLOSING.match(self.text, self.at) is not None

    def _item(self) -> Item:
        pipelines = [self._pipeline()]
        while self.starts("&&", "||"):
            self.at += 2
            self.skip_lines()
            pipelines.append(self._pipeline())
        background = self.starts("&")
        if background or (self.starts(";") and not self.starts(";;", ";&")):
            self.at += 1
        elif not (self.starts("\n") or self._at_end()):
            self.fail(f"unexpected {self.text[self.at]!r}")
        return Item(tuple(pipelines), background)

    def _pipeline(self) -> Pipeline:
        self.skip_blanks()
        is_apart = False
        while found := _PREFIX.match(self.text, self.at):
            is_apart = is_apart or found[0] == "coproc"
            self.at = found.end()
            self.skip_blanks()
            if self.is_over or self.starts("\n", ";"):  # `time` by itself
                return Pipeline(())
        stages = [self._command()]
        self.skip_blanks()
        while self.starts("|") and not self.starts("||"):
            self.at += 2 if self.starts("|&") else 1
            self.skip_lines()
            stages.append(self._command())
            self.skip_blanks()
        pipeline = Pipeline(tuple(stages))
        return Pipeline((Compound("subshell", (Script((Item((pipeline,)),)),)),)) if is_apart else pipeline

    def _command(self) -> Node:
        start = self.at
        if found := _NAMED_FUNCTION.match(self.text, start):
            self.at = found.end()
            return self._function(found[1], start)
        if found := _OPENING.match(self.text, start):
            with self.nesting():
                return self._compound(found[0])
        if found := _FUNCTION.match(self.text, start):
            self.at = found.end()
            return self._function(found[1], start)
        return self.simple()

    def _function(self, name: str, start: int) -> Function:
        found = _OPENING.match(self.text, self.at) or self.fail("a function has no body")
        with self.nesting():
            body = self._compound(found[0])
        return Function(name, body, self.text[start : self.at])

    def _compound(self, opening: str) -> Compound:
        if opening == "((":
            inner = self.arithmetic(2)
            if inner is not None:
                return Compound("arithmetic", words=(inner,), redirects=self.redirects())
            opening = "("
        self.at += len(opening)
        match opening:
            case "(":
                bodies = (self.script(),)
                self.expect(")")
                return Compound("subshell", bodies, redirects=self.redirects())
            case "{":
                return Compound("group", (self._script_until("}"),), redirects=self.redirects())
            case "if":
                return Compound("branch", self._branches(), redirects=self.redirects())
            case "while" | "until":
                bodies = (self._script_until("do"), self._script_until("done"))
                return Compound("loop", bodies, redirects=self.redirects())
            case "case":
                return self._case()
            case "[[":
                return self._test()
            case _:
                return self._for()

    def _script_until(self, word: str) -> Script:
        script = self.script()
        self.expect(word)
        return script

    def _branches(self) -> tuple[Script, ...]:
        bodies = [self._script_until("then"), self.script()]
        while (found := _CLOSING.match(self.text, self.at)) and found[0] in {"elif", "else"}:
            self.at = found.end()
            if found[0] == "elif":
                bodies.append(self._script_until("then"))
            bodies.append(self.script())
        self.expect("fi")
        return tuple(bodies)

    def _for(self) -> Compound:
        self.skip_blanks()
        variable, words = "", list[Word]()
        if self.starts("(("):
            words = [self.arithmetic(2) or self.fail("the head of a loop is never closed")]
        else:
            found = _NAME.match(self.text, self.at) or self.fail("a loop has no variable")
            variable = found[0]
            self.at = found.end()
            self.skip_lines()
            if _IN.match(self.text, self.at):
                self.at += 2
                words = self._words()
            else:
                words = [Word((Parameter("@", "$@", quoted=True),), "")]
        self.skip_blanks()
        if self.starts(";"):
            self.at += 1
        self.skip_lines()
        if self.starts("{"):
            self.at += 1
            body = self._script_until("}")
        else:
            self.expect("do")
            body = self._script_until("done")
        return Compound("for", (body,), tuple(words), self.redirects(), variable)

    def _words(self) -> list[Word]:
        words: list[Word] = []
        self.skip_blanks()
        while word := self.word():
            words.append(word)
            self.skip_blanks()
        return words

    def _case(self) -> Compound:
        self.skip_blanks()
        words = [self.word() or self.fail("a case has no subject")]
        self.skip_lines()
        if not _IN.match(self.text, self.at):
            self.fail("'in' is missing")
        self.at += 2
        bodies: list[Script] = []
        self.skip_lines()
        while not _ESAC.match(self.text, self.at):
            self.at += self.starts("(")
            words += self._patterns()
            bodies.append(self.script())
            mark = next((mark for mark in (";;&", ";;", ";&") if self.starts(mark)), "")
            self.at += len(mark)
            self.skip_lines()
            if not mark:
                break
        self.expect("esac")
        return Compound("branch", tuple(bodies), tuple(words), self.redirects())

    def _patterns(self) -> list[Word]:
        patterns: list[Word] = []
        while True:
            self.skip_blanks()
            patterns.append(self.word() or self.fail("a case has no pattern"))
            self.skip_blanks()
            self.at += 1
            if self.text[self.at - 1 : self.at] == ")":
                return patterns
            if self.text[self.at - 1 : self.at] != "|":
                self.fail("a case has no pattern")

    def _test(self) -> Compound:
        words: list[Word] = []
        while True:
            self.skip_lines()
            word = self.test_word() or self.fail("']]' is missing")
            if word.source == "]]":
                return Compound("test", words=tuple(words), redirects=self.redirects())
            words.append(word)
