"""Which processes belong to a command, and that no stranger is taken for one."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from uuid import uuid4

import pytest

from penguin_harness.tools.process_tree import Leader, ProcessTree
from tests.tools.support import until

NO_MARK = "no-process-has-this-"


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """The leader of a session of its own."""
    with subprocess.Popen(["sleep", "300"], start_new_session=True) as process:
        yield process
        process.kill()


async def test_a_leader_and_its_session_are_ended(process: subprocess.Popen[bytes]) -> None:
    tree = ProcessTree([Leader.of(process.pid)], NO_MARK)
    assert tree.signal(0)
    await tree.end()
    assert not tree.signal(0)
    assert process.wait(5) == -signal.SIGTERM


def test_a_stranger_who_has_got_the_number_of_a_leader_is_left_alone(process: subprocess.Popen[bytes]) -> None:
    leader = Leader.of(process.pid)
    earlier = Leader(leader.pid, leader.started - 1)
    assert not ProcessTree([earlier], NO_MARK).signal(0)


async def test_what_is_older_than_the_command_is_none_of_it() -> None:
    """So nobody looks into the environment of every process on the machine."""
    mark = f"{uuid4().hex}."
    argv = ["env", f"MARK={mark}", "sleep", "300"]
    with subprocess.Popen(argv, start_new_session=True) as old:
        begun = Leader.of(old.pid).started
        await until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK") > begun + 1)
        with subprocess.Popen(argv, start_new_session=True) as new:
            found = ProcessTree([Leader.of(new.pid)], mark).signal(signal.SIGTERM)
            code = new.wait(5)
        is_alive = old.poll() is None
        old.kill()
    assert (found, code, is_alive) == (True, -signal.SIGTERM, True)


async def test_a_harness_inside_a_command_is_ended_with_its_own_commands(process: subprocess.Popen[bytes]) -> None:
    """The marks of both stand one behind the other in their environment."""
    outer, inner = f"{uuid4().hex}-1.", f"{uuid4().hex}-1."
    environment = {**os.environ, "MARK": outer + inner}  # there from the start, which `env` would not give
    with subprocess.Popen(["sleep", "300"], env=environment, start_new_session=True) as of_the_inner:
        await ProcessTree([Leader.of(process.pid)], outer).end()
        assert of_the_inner.wait(5) == -signal.SIGTERM
