"""A function that starts itself twice, side by side, until nothing else runs."""

from __future__ import annotations

from collections.abc import Iterator

from penguin_harness.policy.shell.syntax import Function, Node, Script, Simple, Text, Word


def is_bomb(function: Function) -> bool:
    """Whether the function calls itself at least twice, and not only one after another."""
    calls = list(_own_calls(function.body, function.name, beside=False))
    return len(calls) > 1 and any(calls)


def _own_calls(node: Node, name: str, *, beside: bool) -> Iterator[bool]:
    """For each call of the function, whether it runs beside what comes next."""
    if isinstance(node, Simple):
        if node.words and isinstance(first := node.words[0], Word) and _text(first) == name:
            yield beside
    elif not isinstance(node, Function):
        for body in node.bodies:
            yield from _in_script(body, name, beside=beside)


def _in_script(script: Script, name: str, *, beside: bool) -> Iterator[bool]:
    for item in script.items:
        for pipeline in item.pipelines:
            is_beside = beside or item.background or len(pipeline.stages) > 1
            for stage in pipeline.stages:
                yield from _own_calls(stage, name, beside=is_beside)


def _text(word: Word) -> str:
    return "".join(piece.text for piece in word.pieces if isinstance(piece, Text))
