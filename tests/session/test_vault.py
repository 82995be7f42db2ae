"""The planted-secret scan: a secret of the vault, printed in many ways, is in no message, file or terminal."""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from penguin_harness import ConfigError, ToolContext, ToolFailed, create_agent
from penguin_harness.agent import Agent
from penguin_harness.llm.script import Script, call, say
from penguin_harness.omnimessage import OmniMessage, ToolCall, encode, is_recorded
from penguin_harness.state.paths import VAULT
from penguin_harness.state.vault import load_vault, save_vault
from tests.cli.paper import Live, Plain
from tests.support import outputs, watched

SECRET = 'pl4nted/S3cret+value with "quotes" & 0123456789'
MULTILINE = "first line of it: qWeRtYuIoP0123456789AsDfGh\nsecond line of it: zXcVbNm9876543210LkJhGf"
DIGEST = hashlib.sha256(SECRET.encode()).hexdigest()

PRINTING = [
    "env",
    "cat /proc/self/environ",
    "export -p; set | grep PLANTED",
    'echo "$PLANTED" >&2; set -x; : "$PLANTED"',
    'for part in 1 2 3; do printf %s "${PLANTED:0:20}"; sleep 0.05; echo "${PLANTED:20}"; done',
    'printf %s "$PLANTED" | base64; printf %s "xx$PLANTED" | base64 -w 12; printf "x%s" "$PLANTED" | base64 -w 0',
    "python3 -c 'import os, json; print(json.dumps(dict(os.environ))); print(repr(os.environ))'",
    "python3 -c 'import os, urllib.parse as u; v = os.environ[\"PLANTED\"]; print(u.quote(v), u.quote_plus(v))'",
    'python3 -c \'import os; print(os.environ["PLANTED"].encode().hex()); raise SystemExit(os.environ["PLANTED"])\'',
    'cat "$VAULT_FILE"; base64 "$VAULT_FILE"; od -An -v -tx1 -w1000 "$VAULT_FILE" | tr -d " "',
    'yes "$PLANTED" | head -c 300000',
    'printf %s "$PLANTED" > copy.txt; printf "token: %s\\n" "$PLANTED" > settings.yaml; cat copy.txt',
    'ls "/nowhere/$PLANTED"; "$PLANTED"; sh -c \'cd "$PLANTED"\'; cat < "$PLANTED"',
    'printf %s "$LINES_OF_IT" | tail -n 1; printf %s "$LINES_OF_IT" | head -n 1',
]


def pieces_of(secret: str) -> list[str]:
    """Parts of the secret in the forms that a reader could undo; each long enough to be no chance."""
    whole = [secret, json.dumps(secret)[1:-1], quote(secret), secret.encode().hex()]
    for before in range(3):
        encoded = base64.b64encode(b"x" * before + secret.encode()).decode()
        whole += [encoded[4:40], encoded[4:40].replace("+", "-").replace("/", "_")]
    return [form[start : start + 14] for form in whole for start in (0, len(form) // 2 - 7, len(form) - 14)]


PIECES = [piece for line in (SECRET, *MULTILINE.split(": ")[1:]) for piece in pieces_of(line.split("\n")[0])]


def found(text: str) -> list[str]:
    return [piece for piece in PIECES if piece in text]


async def planted(folder: Path) -> Agent:
    agent = await create_agent(root=folder / "root")
    path = agent.paths.state / VAULT
    save_vault(path, load_vault(path).with_secret("PLANTED", SECRET).with_secret("LINES_OF_IT", MULTILINE))
    return agent


async def fail(context: ToolContext, how: str) -> str:
    """Fail in some way, with a secret in it."""
    value = context.environment["PLANTED"]
    await context.write(f"at work with {value[:9]}")
    await context.write(value[9:])
    match how:
        case "exception":
            try:
                raise ValueError(value)
            except ValueError as error:
                raise RuntimeError(f"with {value!r}") from error
        case "failure":
            raise ToolFailed(f"no access with {value}")
        case _:
            return value


def script(vault: Path) -> Script:
    commands = [call("exec_command", command=command.replace("$VAULT_FILE", str(vault))) for command in PRINTING]
    own = [call("fail", how=how) for how in ("exception", "failure", "result")]
    files = [
        call("read_file", path="copy.txt"),
        call("read_file", path="settings.yaml"),
        call("read_file", path=str(vault)),
        call("edit_file", path="settings.yaml", old_text="token: ", new_text="key: "),
        call("write_file", path="settings.yaml", content="all new\n"),
    ]
    digest = call("exec_command", command='printf %s "$PLANTED" | sha256sum')
    return Script([commands, own, *([each] for each in files), [digest], [say("Done.")]])


def shown_in(messages: list[OmniMessage]) -> str:
    terminals = (Live(), Plain())
    for terminal in terminals:
        for message in messages:
            terminal.renderer.show(message)
    return "".join(terminal.out.getvalue() + terminal.seen for terminal in terminals)


def everything(_: ToolCall) -> None:
    """No rule forbids a call: here even the vault file is printed."""


async def test_b172_a_planted_secret_is_nowhere(tmp_path: Path) -> None:
    agent = await planted(tmp_path)
    vault = agent.paths.state / VAULT
    async with watched(tmp_path, script(vault), tools=[fail], policy=everything) as watcher:
        messages = await watcher.run()
        files = [path for path in (tmp_path / "root").rglob("*") if path.is_file() and path != vault]
        assert any("scratchpad" in str(path) for path in files), "some output was long enough for a file"
        assert any(path.suffix == ".jsonl" for path in files)
        for path in files:
            assert found(path.read_text(encoding="utf-8")) == [], path
    ran = outputs(messages)
    assert len(ran) == len(PRINTING) + 9
    assert DIGEST in str(ran["call_8_1"]), "commands do have the value"
    assert sum("[redacted]" in output for output, _ in ran.values()) == len(PRINTING) + 7
    for message in messages:
        assert found(encode(message).decode()) == []
    streamed = "".join(getattr(message.payload, "output", "") for message in messages if not is_recorded(message))
    assert found(streamed) == []
    assert found(shown_in(messages)) == []


async def test_the_prompt_has_the_names_and_not_the_values(tmp_path: Path) -> None:
    await planted(tmp_path)
    async with watched(tmp_path, Script([[say("Hello.")]])) as watcher:
        await watcher.run()
        prompt = watcher.session.meta.system_prompt
    assert "$PLANTED" in prompt
    assert "$LINES_OF_IT" in prompt
    assert found(prompt) == []


async def test_a_vault_that_others_can_read_opens_no_session(tmp_path: Path) -> None:
    agent = await planted(tmp_path)
    (agent.paths.state / VAULT).chmod(0o644)
    with pytest.raises(ConfigError, match="open to others") as caught:
        await agent.create_session(workspace=tmp_path, model=Script([]))
    assert found(str(caught.value)) == []


async def test_no_variable_of_the_vault_is_in_our_own_environment(tmp_path: Path) -> None:
    await planted(tmp_path)
    seen = call("exec_command", command="tr '\\0' '\\n' < /proc/$PPID/environ | grep -c PLANTED")
    async with watched(tmp_path, Script([[seen], [say("Done.")]])) as watcher:
        messages = await watcher.run()
    assert outputs(messages)["call_1_1"][0].splitlines()[0] == "0"
