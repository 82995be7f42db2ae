"""The handle on a running double."""

from __future__ import annotations

import asyncio
import http.client
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from types import TracebackType

import msgspec

from tests.double.records import (
    Command,
    Extend,
    Load,
    Recorded,
    Refused,
    Release,
    Report,
    ReportQuery,
    Reset,
    Wait,
)
from tests.double.script import Script, Turn
from tests.double.steps import MODEL

ROOT = Path(__file__).parents[2]
BASES = {
    "openai_chat": "/v1",
    "openai_responses": "/responses/v1",
    "anthropic": "/anthropic",
    "gemini": "/gemini/v1beta",
}
"""What a client's base URL ends with, by its type."""


class Double:
    """A double in a process of its own, which ends with `close` or with this process."""

    def __init__(self) -> None:
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.double.server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": path},
            start_new_session=True,
        )
        assert self._process.stdout is not None
        port = self._process.stdout.readline()
        if not port:
            self.close()
            raise RuntimeError("The double did not start; its stderr says why.")
        self._port = int(port)
        self._refusals_read = False

    def __enter__(self) -> Double:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def url(self) -> str:
        """The base URL for a client of Chat Completions: requests go to `{url}/chat/completions`."""
        return self.base_url("openai_chat")

    def base_url(self, client_type: str) -> str:
        """The base URL for a client of this type."""
        return f"http://127.0.0.1:{self._port}{BASES[client_type]}"

    def load(self, *scripts: Script) -> None:
        """Load scripts; one for the same model and `where` is replaced, what it was asked stays in the log."""
        for script in scripts:
            self._tell(Load(script))

    def extend(self, *turns: Turn, model: str = MODEL, where: str = "") -> None:
        """Add turns to a loaded script; the next request still has to go on with the last one."""
        self._tell(Extend(model, turns, where))

    def requests(self, model: str | None = None) -> list[Recorded]:
        """What arrived, in order, refused requests included: `body` is byte for byte what was sent."""
        return [request for request in self.report().requests if model in (None, request.model)]

    def bodies(self, model: str | None = None) -> list[dict[str, object]]:
        """The requests' bodies as values."""
        return [msgspec.json.decode(request.body, type=dict[str, object]) for request in self.requests(model)]

    def refusals(self, model: str | None = None) -> list[Refused]:
        """Every reason why a request was refused. Asking counts as having checked."""
        self._refusals_read = True
        return [refusal for refusal in self.report().refusals if model in (None, refusal.model)]

    def left(self, model: str = MODEL) -> int:
        """How many turns have not been played."""
        return self.report().left[model]

    def report(self) -> Report:
        """Everything that happened since the last reset."""
        return self._tell(ReportQuery())

    def release(self, gate: str = "gate", *, model: str = MODEL) -> None:
        """Open a gate, for the answer that waits there and for later ones."""
        self._tell(Release(model, gate))

    async def at_gate(self, gate: str = "gate", *, model: str = MODEL, seconds: float = 10) -> None:
        """Return when an answer waits at this gate: what stands before it in the script has been sent."""
        await self._wait(Wait(model, gate=gate, timeout_ms=int(seconds * 1000)))

    async def asked(self, times: int, *, model: str = MODEL, seconds: float = 10) -> Recorded:
        """Return the last of so many requests when it has arrived."""
        report = await self._wait(Wait(model, requests=times, timeout_ms=int(seconds * 1000)))
        return self._of(model, report.requests)[times - 1]

    async def finished(self, times: int, *, model: str = MODEL, seconds: float = 10) -> list[Recorded]:
        """Return the model's requests when so many answers are over, in whatever way."""
        report = await self._wait(Wait(model, finished=times, timeout_ms=int(seconds * 1000)))
        return self._of(model, report.requests)

    def reset(self) -> None:
        """Forget scripts, gates and log, and end every open answer."""
        self._tell(Reset())
        self._refusals_read = False

    def assert_checked(self) -> None:
        """Fail if requests were refused and nobody has asked for the refusals."""
        if not self._refusals_read:
            unread = [f"{refusal.code}: {refusal.message}" for refusal in self.report().refusals]
            assert not unread, f"the double refused requests: {unread}"

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    @staticmethod
    def _of(model: str, requests: Sequence[Recorded]) -> list[Recorded]:
        return [request for request in requests if request.model == model]

    async def _wait(self, wait: Wait) -> Report:
        report = await asyncio.to_thread(self._tell, wait)
        if not report.in_time:
            state = [(request.number, request.outcome) for request in self._of(wait.model, report.requests)]
            raise TimeoutError(f"{wait} did not come true; requests: {state}; waiting at: {report.waiting}")
        return report

    def _tell(self, command: Command) -> Report:
        with closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            connection.request("POST", "/control", msgspec.json.encode(command))
            response = connection.getresponse()
            body = response.read()
        if response.status != 200:
            raise ValueError(f"The double does not take this: {body.decode()}")
        return msgspec.json.decode(body, type=Report)
