"""The real command in a clean home: as a process in pipes, and on a terminal of its own."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Generator, Mapping
from pathlib import Path

from msgspec import Struct

PENGUIN = (sys.executable, "-c", "import sys; from penguin_harness.cli.app import main; sys.exit(main())")
PATIENCE = 20.0
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[()][AB0]|\x1b[=>]")


class Ended(Struct, frozen=True):
    """What a process left behind."""

    code: int
    out: str
    err: str


class Home:
    """A home folder with nothing in it, and the command inside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.workspace = folder / "work"
        self.workspace.mkdir()

    @property
    def traces(self) -> list[Path]:
        """The Trace files, oldest first."""
        return sorted(self.data.glob("default_project/agents/default_agent/traces/*/*.jsonl"))

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Nothing of the developer's own settings."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PENGUIN_HOME": str(self.data),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": os.pathsep.join(sys.path),
            **(more or {}),
        }

    def penguin(self, *arguments: str, given: str | bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
        """Run the command in pipes to its end."""
        data = given.encode() if isinstance(given, str) else given
        done = subprocess.run(
            [*PENGUIN, *arguments],
            input=data,
            capture_output=True,
            env=self.environment(env),
            cwd=self.workspace,
            timeout=PATIENCE,
            check=False,
        )
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        return Ended(done.returncode, done.stdout.decode(), done.stderr.decode())

    def add_model(self, url: str) -> None:
        """Make the double the default model."""
        added = self.penguin("model", "add", "custom", "test-model", "--base-url", url, "--default")
        assert added.code == 0, added.err

    @contextlib.contextmanager
    def process(self, *arguments: str) -> Generator[subprocess.Popen[bytes], None, None]:
        """Run the command in pipes while the test does something else."""
        with subprocess.Popen(
            [*PENGUIN, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            cwd=self.workspace,
        ) as process:
            try:
                yield process
            finally:
                process.kill()

    @contextlib.contextmanager
    def on_terminal(
        self, *arguments: str, env: Mapping[str, str] | None = None, columns: int = 90
    ) -> Generator[Terminal, None, None]:
        """Run the command on a terminal; whatever happens, nothing of it stays."""
        terminal = Terminal([*PENGUIN, *arguments], self.environment(env), self.workspace, columns)
        try:
            yield terminal
        finally:
            terminal.close()


class Terminal:
    """A process on a pseudo terminal. Every wait is for something, and bounded."""

    def __init__(self, command: list[str], env: Mapping[str, str], folder: Path, columns: int) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 30, columns, 0, 0))
        self.raw = b""
        self._seen = 0
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**env, "PROMPT_TOOLKIT_NO_CPR": "1"},
            cwd=folder,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    @property
    def text(self) -> str:
        """Everything that was printed, without escape sequences."""
        return _ESCAPES.sub("", self.raw.decode(errors="replace")).replace("\r", "")

    def send(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        self._process.send_signal(number)

    def expect(self, wanted: str, seconds: float = PATIENCE) -> None:
        """Wait until the text appears behind what was expected last."""
        deadline = time.monotonic() + seconds
        while (found := self.text.find(wanted, self._seen)) < 0:
            if not self._read(deadline - time.monotonic()):
                shown = self.text[self._seen :][-2000:]
                raise AssertionError(f"{wanted!r} did not appear; since the last match: {shown}")
        self._seen = found + len(wanted)

    def ended(self, seconds: float = PATIENCE) -> int:
        """Wait for the end; the exit code."""
        deadline = time.monotonic() + seconds
        while self._read(deadline - time.monotonic()):
            pass
        code = self._process.wait(max(deadline - time.monotonic(), 0.1))
        assert "Traceback" not in self.text, self.text
        return code

    def is_echoing(self) -> bool:
        """Whether the terminal shows what is typed, as a shell expects it."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    def close(self) -> None:
        """End it."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._master)

    def _read(self, seconds: float) -> bool:
        if seconds <= 0 or not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:  # the other side is closed
            return False
        self.raw += data
        return bool(data)
