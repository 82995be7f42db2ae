"""The sandbox: real processes that try to write, look and talk where they must not, and file tools that keep to it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.tools import Toolbox
from penguin_harness.tools.sandbox import (
    SandboxMode,
    SandboxPolicy,
    programs_in_hidden_places,
    require_sandbox,
    wrap,
)
from tests.tools.support import call, make_context, make_toolbox, processes_with, run, until


def why_not() -> str | None:
    with TemporaryDirectory() as folder:
        try:
            require_sandbox(policy_of(Path(folder), "read-only"))
        except ConfigError as error:
            return str(error)
    return None


def policy_of(folder: Path, mode: SandboxMode = "workspace-write", **options: Any) -> SandboxPolicy:
    (folder / "workspace").mkdir(exist_ok=True)
    options = {"network": False, "read_only": programs_in_hidden_places()} | options
    return SandboxPolicy(mode=mode, workspace=folder / "workspace", temporary=folder / "scratchpad" / "tmp", **options)


REASON = why_not()
needs_sandbox = pytest.mark.skipif(REASON is not None, reason=REASON or "")


def shell(command: str, policy: SandboxPolicy, **environment: str) -> tuple[int, str]:
    done = subprocess.run(
        wrap(["bash", "-c", command], policy, folder=policy.workspace),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=os.environ | environment,
        start_new_session=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def test_without_a_sandbox_a_command_line_stays_as_it_is(tmp_path: Path) -> None:
    for policy in (None, policy_of(tmp_path, "off")):
        assert wrap(("ls", "-l"), policy) == ["ls", "-l"]
        require_sandbox(policy)


def test_a_sandbox_that_is_not_there_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for function in (lambda: wrap(["ls"], policy_of(tmp_path)), lambda: require_sandbox(policy_of(tmp_path))):
        with pytest.raises(ConfigError, match=r"there is no bwrap: install bubblewrap .*, or set sandbox"):
            function()


@pytest.mark.parametrize("script", ["echo 'bwrap: no namespaces' >&2; exit 1", "exit 3"])
def test_a_sandbox_that_does_not_work_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = tmp_path / "bwrap"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    said = "no namespaces" if "namespaces" in script else "exit code 3"
    with pytest.raises(ConfigError, match=f"cannot be had here .*{said}.*user namespaces"):
        require_sandbox(policy_of(tmp_path))


@needs_sandbox
def test_the_workspace_and_tmp_can_be_written_and_nothing_else(tmp_path: Path) -> None:
    policy = policy_of(tmp_path)
    (tmp_path / "other").mkdir()
    tried = ["a.txt", "/tmp/b.txt", "/dev/shm/c.txt", tmp_path / "other" / "d.txt", "/etc/penguin-test", "/run/e.txt"]
    _, said = shell("".join(f"touch {path} && echo made {path}\n" for path in tried), policy)
    assert [line for line in said.splitlines() if line.startswith("made")] == [f"made {path}" for path in tried[:3]]
    assert (tmp_path / "workspace" / "a.txt").exists()
    assert (policy.temporary / "b.txt").exists()
    assert not Path("/tmp/b.txt").exists()
    assert list((tmp_path / "other").iterdir()) == []


@needs_sandbox
def test_what_is_in_tmp_is_there_for_the_next_command(tmp_path: Path) -> None:
    policy = policy_of(tmp_path)
    assert shell("echo kept > $TMPDIR/a", policy, TMPDIR=str(tmp_path)) == (0, "")
    assert shell("cat /tmp/a; pwd", policy) == (0, f"kept\n{policy.workspace}\n")


@needs_sandbox
def test_read_only_means_the_workspace_too(tmp_path: Path) -> None:
    policy = policy_of(tmp_path, "read-only", writable=(tmp_path / "workspace",))
    (tmp_path / "workspace" / "a.txt").write_text("here\n")
    code, said = shell("cat a.txt; touch /tmp/x; echo > a.txt", policy)
    assert code != 0
    assert said.startswith("here\n")
    assert "Read-only file system" in said
    assert (tmp_path / "workspace" / "a.txt").read_text() == "here\n"


@needs_sandbox
def test_more_folders_can_be_writable_and_parts_of_the_workspace_not(tmp_path: Path) -> None:
    cache, fixed = tmp_path / "cache", tmp_path / "workspace" / "fixed"
    policy = policy_of(
        tmp_path, writable=(cache, tmp_path / "missing"), read_only=(fixed, *programs_in_hidden_places())
    )
    cache.mkdir()
    fixed.mkdir()
    shell(f"touch {cache}/a fixed/b c", policy)
    assert (cache / "a").exists()
    assert [path.name for path in sorted((tmp_path / "workspace").iterdir())] == ["c", "fixed"]
    assert list(fixed.iterdir()) == []


@needs_sandbox
def test_b173_hidden_files_and_folders_are_not_seen_by_any_path(tmp_path: Path) -> None:
    root = tmp_path / "data"
    state = root / "agent" / "agent_state"
    state.mkdir(parents=True)
    vault, config = state / ".vault.toml", root / ".project_config.toml"
    vault.write_text("TOKEN = 'in-the-vault'")
    config.write_text("api_key = 'in-the-config'")
    (state / "AGENTS.md").write_text("instructions")
    policy = policy_of(tmp_path, hidden=(root, vault), read_only=(state, *programs_in_hidden_places()))
    (policy.workspace / "link").symlink_to(vault)
    _, said = shell(
        f"cat {vault} {config} link /proc/self/root{vault} /proc/1/root{vault}; cat {state}/AGENTS.md; ls -A {root};"
        f" grep -rs in-the- {root}; rm -f {vault}; mv {state} {state}2",
        policy,
    )
    assert "in-the-vault" not in said
    assert "in-the-config" not in said
    assert "instructions" in said
    assert vault.read_text() == "TOKEN = 'in-the-vault'"


@needs_sandbox
def test_b172_the_processes_outside_and_their_environment_are_not_seen(tmp_path: Path) -> None:
    marker = f"planted-{os.getpid()}"
    with subprocess.Popen(["sleep", "60"], env={"MARKER": marker}) as outside:
        try:
            _, said = shell("cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'; kill -9 -1", policy_of(tmp_path))
        finally:
            assert outside.poll() is None
            outside.kill()
    assert marker not in said
    assert "TMPDIR=/tmp" in said


@needs_sandbox
@pytest.mark.parametrize("network", [True, False])
def test_the_network_is_on_or_off(tmp_path: Path, network: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        code, _ = shell(f"echo hello > /dev/tcp/127.0.0.1/{port}", policy_of(tmp_path, network=network))
        assert (code == 0) == network


@needs_sandbox
@pytest.mark.parametrize("network", [True, False])
def test_sockets_of_services_are_out_of_reach(tmp_path: Path, network: bool) -> None:
    """Whoever reaches that of docker, systemd or tmux runs what he likes outside."""
    script = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('reached')"
    with TemporaryDirectory(dir="/tmp") as folder, socket.socket(socket.AF_UNIX) as server:
        path = f"{folder}/service"
        server.bind(path)
        server.listen()
        _, said = shell(f'/usr/bin/env python3 -c "{script}" {path}', policy_of(tmp_path, network=network))
    assert "reached" not in said
    assert "FileNotFoundError" in said
    assert shell("ls -A /run | grep -v -e systemd -e resolvconf -e NetworkManager", policy_of(tmp_path))[1] == ""


@needs_sandbox
def test_a_user_who_is_root_is_not_inside(tmp_path: Path) -> None:
    _, said = shell("grep CapEff /proc/self/status; mount -o remount,rw / ; mknod /tmp/d b 8 0", policy_of(tmp_path))
    assert "CapEff:\t0000000000000000" in said
    assert not (tmp_path / "scratchpad" / "tmp" / "d").exists()


@needs_sandbox
async def test_everything_inside_ends_with_its_session(tmp_path: Path) -> None:
    """A process that goes to a session of its own is found by nobody outside, and ends with the first inside."""
    marker = f"planted-{os.getpid()}-sandboxed"
    process = subprocess.Popen(
        wrap(["bash", "-c", "setsid -f sleep 60; sleep 60"], policy_of(tmp_path)),
        env=os.environ | {"MARKER": marker},
        start_new_session=True,
    )
    try:
        await until(lambda: len(processes_with(marker)) >= 4)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=10)
    await until(lambda: not processes_with(marker))


@needs_sandbox
async def test_a_command_in_the_background_outlives_the_one_in_front(tmp_path: Path) -> None:
    policy = policy_of(tmp_path)
    os.mkfifo(policy.workspace / "gate")
    command = wrap(["sh", "-c", "cat gate > done.txt &"], policy, folder=policy.workspace)
    subprocess.run(command, stdin=subprocess.DEVNULL, start_new_session=True, timeout=60, check=True)
    (policy.workspace / "gate").write_text("through\n")  # waits for the reader
    await until(lambda: (policy.workspace / "done.txt").read_text() == "through\n")


@pytest.fixture
def box(tmp_path: Path) -> Toolbox:
    context = make_context(tmp_path)
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "key").write_text("in-the-dark")
    context.sandbox = policy_of(
        tmp_path, hidden=(hidden,), read_only=(tmp_path / "outside", tmp_path / "workspace" / "fixed")
    )
    (tmp_path / "workspace" / "fixed").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.txt").write_text("outside\n")
    return make_toolbox(tmp_path, context=context)


@pytest.mark.parametrize("path", ["link/a.txt", "../outside/a.txt", "file", "link/new/b.txt", "fixed/c.txt", "/etc/x"])
async def test_b175_file_tools_write_where_commands_may(box: Toolbox, tmp_path: Path, path: str) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "link").symlink_to(tmp_path / "outside")
    (workspace / "file").symlink_to(tmp_path / "outside" / "a.txt")
    output = await run(box, call("write_file", path=path, content="mine\n"))
    assert output.stop_reason == "fatal"
    assert "the sandbox (workspace-write) allows no changes there" in output.output
    if "a.txt" in path or path == "file":
        assert "outside" in (await run(box, call("read_file", path=path))).output
        edited = await run(box, call("edit_file", path=path, old_text="outside", new_text="mine"))
        assert "allows no changes there" in edited.output
    assert [(each.name, each.read_text()) for each in (tmp_path / "outside").iterdir()] == [("a.txt", "outside\n")]


async def test_b175_tmp_outside_is_reached_by_no_link(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("outside\n")
    (tmp_path / "workspace" / "link").symlink_to(tmp_path)
    for name, more in (("read_file", {}), ("write_file", {"content": "x"})):
        assert "is hidden by the sandbox" in (await run(box, call(name, path="link/mine.txt", **more))).output
    assert (tmp_path / "mine.txt").read_text() == "outside\n"


async def test_b175_links_inside_work(box: Toolbox, tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "folder").mkdir()
    (workspace / "link").symlink_to("folder")
    assert (await run(box, call("write_file", path="link/a.txt", content="x"))).stop_reason == "completed"
    assert (workspace / "folder" / "a.txt").read_text() == "x"


async def test_what_is_hidden_is_not_read_either(box: Toolbox, tmp_path: Path) -> None:
    (tmp_path / "workspace" / "link").symlink_to(tmp_path / "hidden")
    for path in (tmp_path / "hidden" / "key", "link/key", "../hidden/key", tmp_path / "hidden"):
        for name, more in (("read_file", {}), ("write_file", {"content": "x"})):
            output = await run(box, call(name, path=str(path), **more))
            assert "is hidden by the sandbox" in output.output
            assert "in-the-dark" not in output.output
    assert (tmp_path / "hidden" / "key").read_text() == "in-the-dark"


async def test_tmp_is_the_same_for_file_tools_and_commands(box: Toolbox, tmp_path: Path) -> None:
    output = await run(box, call("write_file", path="/tmp/sub/../a.txt", content="by the tool\n"))
    assert output.stop_reason == "completed"
    assert (tmp_path / "scratchpad" / "tmp" / "a.txt").read_text() == "by the tool\n"
    assert "by the tool" in (await run(box, call("read_file", path="/tmp/a.txt"))).output
    if REASON is None:
        assert shell("cat /tmp/a.txt", policy_of(tmp_path)) == (0, "by the tool\n")


def test_areas_in_one_another(tmp_path: Path) -> None:
    """The inner one counts, whatever lies in what."""
    policy = SandboxPolicy(
        mode="workspace-write",
        workspace=Path("/srv/home"),
        temporary=Path("/srv/home/.penguin/agent/scratchpad/tmp"),
        network=False,
        read_only=(Path("/srv/home/.penguin/agent/agent_state"),),
        hidden=(Path("/srv/home/.penguin"), Path("/srv/home/.penguin/agent/agent_state/.vault.toml")),
    )
    may = {
        "": (True, True),
        "/a": (True, True),
        "/.penguin": (False, False),
        "/.penguin/config": (False, False),
        "/.penguin/agent/agent_state/AGENTS.md": (True, False),
        "/.penguin/agent/agent_state/.vault.toml": (False, False),
        "/.penguin/agent/scratchpad/tmp/x": (True, True),
        "/../other": (True, False),
    }
    for path, expected in may.items():
        assert (policy.may_read(Path(f"/srv/home{path}")), policy.may_write(Path(f"/srv/home{path}"))) == expected
    assert policy.outside(Path("/tmp/../srv/home/a")) == Path("/tmp/../srv/home/a")
    assert policy.outside(Path("/srv/../tmp/a")) == policy.temporary / "a"


def test_programs_in_tmp_stay_in_sight() -> None:
    environ = {"PATH": "/usr/bin:/tmp/venv/bin:/tmp/tools:/run/current-system/sw/bin:relative:/tmp/venv/bin::/tmp"}
    assert programs_in_hidden_places(environ) == (
        Path("/tmp/venv"),
        Path("/tmp/tools"),
        Path("/run/current-system/sw"),
    )
