"""A toolbox with the commands' tools, which must leave nothing behind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from penguin_harness.invoke import invoke
from penguin_harness.tools import Toolbox, ToolContext
from tests.tools.support import make_commands, make_context, open_files, own_zombies, processes_with, until


@pytest.fixture
def marker() -> str:
    return f"marker-{uuid4().hex}"


@pytest.fixture
def context(tmp_path: Path, marker: str) -> ToolContext:
    """Its commands' processes can be found by the marker."""
    return make_context(tmp_path, MARKED_BY_TEST=marker)


@pytest.fixture
async def box(context: ToolContext, marker: str) -> AsyncIterator[Toolbox]:
    await invoke(id, None)  # the thread that idles from now on has pipes of its own
    before = open_files()
    toolbox = make_commands(context)
    yield toolbox
    await toolbox.aclose()
    await until(lambda: not own_zombies())
    assert processes_with(marker) == []
    await until(lambda: not open_files() - before)  # an idle thread takes its pipe with it
