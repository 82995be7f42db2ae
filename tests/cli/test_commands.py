"""The commands that need no model: lists, Traces, models, the protocol, the demo."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from penguin_harness import __version__
from penguin_harness.omnimessage import json_schema
from penguin_harness.omnimessage.check import check
from penguin_harness.state.config import load_config
from penguin_harness.trace import read_lines
from tests.cli.process import PENGUIN, Home

ROOT = Path(__file__).parents[2]
SESSION = "session-2026-12-01-09-00-00-0a1b2c3d"
KEY = "sk-very-secret-0123456789"
META = (
    f'{{"type":"session_meta","timestamp":"2026-12-01T09:00:00.000Z","payload":{{"session_id":"{SESSION}",'
    '"provider":"p","model_id":"m","model_context_window":1000,"system_prompt":"","agent_state":"/a","workspace":"/w"}}'
)


def asked(text: str, time: str = "09:00:00.001") -> str:
    """A line of the person's; the text as JSON has it."""
    payload = f'{{"type":"text","role":"user","text":"{text}"}}'
    return f'{{"type":"model_msg","timestamp":"2026-12-01T{time}Z","payload":{payload}}}'


def written(home: Home, *lines: str, session: str = SESSION, number: int = 1) -> Path:
    path = home.data / f"default_project/agents/default_agent/traces/2026-12-01/{session}_{number:03d}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_version_and_help(home: Home) -> None:
    assert home.penguin("--version").out == f"{__version__}\n"
    shown = home.penguin("--help").out
    assert all(name in shown for name in ("run", "chat", "demo", "ls", "trace", "model", "schema"))


def test_the_heavy_parts_are_imported_only_where_they_are_needed(home: Home) -> None:
    code = "import sys; from penguin_harness.cli.app import main; main(sys.argv[1:]); print(*sys.modules)"
    for arguments in (["--version"], ["run", "--help"], ["ls"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], env=home.environment(), capture_output=True, text=True, check=True
        )
        loaded = done.stdout.split()
        assert not {"prompt_toolkit", "aiohttp", "tomlkit", "pygments"} & set(loaded)


def test_the_schema_and_the_reference(home: Home) -> None:
    assert json.loads(home.penguin("schema").out) == json_schema()
    assert "### `tool_call`" in home.penguin("schema", "--markdown").out


def test_sessions_are_listed_damaged_ones_too(home: Home) -> None:
    assert "No sessions yet" in home.penguin("ls").out
    written(home, META, asked("mend the \\ud83d boat"))
    written(home, "garbage", session="session-2026-12-01-10-00-00-00000000")
    done = home.penguin("ls")
    rows = done.out.splitlines()[1:]
    assert "damaged" in rows[0]
    assert SESSION in rows[1]
    assert "p / m" in rows[1]
    assert "mend the � boat" in rows[1]
    listed = json.loads(home.penguin("ls", "--json").out)
    assert [session["session_id"] for session in listed][1] == SESSION
    assert "session_meta" in listed[0]["damaged"]
    assert len(json.loads(home.penguin("ls", "--json", "--limit", "1").out)) == 1


@pytest.mark.parametrize("arguments", [["ls"], ["trace", "show", "0a1b2c3d"], ["schema"], ["demo", "--fast"]])
def test_a_reader_who_leaves_is_no_error(arguments: list[str], home: Home) -> None:
    written(home, META, *[asked("x" * 1000)] * 200)
    command = " ".join(f"'{part}'" for part in (*PENGUIN, *arguments))
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -0; echo ${{PIPESTATUS[0]}}"],
        env=home.environment(),
        cwd=home.workspace,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.strip() in {"0", "141"}


def test_a_full_disk_is_told(home: Home) -> None:
    command = " ".join(f"'{part}'" for part in (*PENGUIN, "schema"))
    done = subprocess.run(
        ["bash", "-c", f"{command} > /dev/full"],
        env=home.environment(),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr == "penguin: No space left on device\n"


def test_a_trace_with_a_lone_surrogate_is_shown_listed_and_checked(home: Home) -> None:
    """B168."""
    path = written(home, META, asked("before \\udcb2 after"))
    for shown in (home.penguin("trace", "show", "0a1b"), home.penguin("trace", "show", str(path))):
        assert shown.code == 0
        assert "› before � after" in shown.out
    assert "before � after" in home.penguin("trace", "show", "0a1b", "--json").out
    assert "\\udcb2" in home.penguin("trace", "show", "0a1b", "--raw").out
    assert "before � after" in home.penguin("ls").out
    assert home.penguin("trace", "check", str(path)).code == 1


def test_lines_that_cannot_be_read_are_named_and_passed_over(home: Home) -> None:
    written(home, META, "{torn", asked("still here"))
    done = home.penguin("trace", "show", "0a1b")
    assert done.code == 0
    assert "› still here" in done.out
    assert "_001.jsonl:2:" in done.err


def test_a_check_names_the_line_and_the_rule(home: Home) -> None:
    path = written(home, META, asked("hi"), asked("earlier", "08:00:00.000"))
    done = home.penguin("trace", "check", str(path))
    assert done.code == 1
    assert done.out.splitlines()[0].startswith(f"{path}:3: 1.4 ")
    assert done.out.splitlines()[-1] == "1 file: 1 violation"
    report = json.loads(home.penguin("trace", "check", str(path), "--json").out)
    assert not report["ok"]
    assert (report["violations"][0]["line"], report["violations"][0]["rule"]) == (3, "1.4")


def test_a_folder_and_standard_input_are_checked(home: Home) -> None:
    path = written(home, META, asked("hi"))
    assert home.penguin("trace", "check", str(home.data)).out.endswith("1 file: conforms\n")
    assert home.penguin("trace", "check", "-", given=path.read_bytes()).code == 0
    assert home.penguin("trace", "check", "-", given=b"{}\n{}\n").out.startswith("-:1: 1.1 ")
    assert home.penguin("trace", "check", "--lenient", str(path)).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trace", "show", "nothing"], "no session matches"),
        (["trace", "show", "/nowhere.jsonl"], "/nowhere.jsonl"),
        (["trace", "show", "."], "."),
        (["trace", "check", "/nowhere.jsonl"], "/nowhere.jsonl"),
        (["trace", "check", "."], "no *.jsonl file"),
        (["trace", "check"], "nothing to check"),
        (["model", "add", "nobody", "x"], "unknown provider"),
        (["model", "add", "custom", "x"], "base URL"),
        (["model", "add", "openai", "x", "--client-type", "carrier-pigeon"], "carrier-pigeon"),
        (["model", "add", "openai", "x", "--api-key-stdin"], "no key on standard input"),
        (["model", "remove", "openai", "x"], "not configured"),
        (["model", "default", "nobody", "x"], "unknown provider"),
        (["model", "test"], "no model is named"),
        (["demo", "--workspace", "/nowhere"], "/nowhere"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
)
def test_what_is_wrong_is_one_line_and_exit_code_2(arguments: list[str], said: str, home: Home) -> None:
    done = home.penguin(*arguments)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_models_are_added_listed_and_removed_and_keys_never_shown(home: Home) -> None:
    added = home.penguin("model", "add", "openai", "gpt-5", "--api-key-stdin", given=f"{KEY}\n")
    assert (added.code, added.err) == (0, "")
    home.penguin("model", "add", "deepseek", "deepseek-chat", "--default")
    listed = home.penguin("model", "list", env={"DEEPSEEK_API_KEY": KEY})
    as_json = home.penguin("model", "list", "--json", env={"DEEPSEEK_API_KEY": KEY})
    assert "$DEEPSEEK_API_KEY" in listed.out
    assert "*  deepseek" in listed.out
    assert [model["key"] for model in json.loads(as_json.out)] == ["stored", "$DEEPSEEK_API_KEY"]
    assert KEY not in added.out + listed.out + as_json.out
    file = home.data / "default_project/.project_config.toml"
    assert file.stat().st_mode & 0o777 == 0o600
    changed = home.penguin("model", "add", "openai", "gpt-5", "--context-window", "9000")
    assert changed.code == 0
    kept = load_config(file).find("openai", "gpt-5")
    assert kept is not None
    assert (kept.api_key, kept.context_window) == (KEY, 9000)
    home.penguin("model", "default", "openai", "gpt-5")
    assert home.penguin("model", "remove", "openai", "gpt-5").code == 0
    assert KEY not in file.read_text()


def test_a_key_is_asked_for_without_showing_it(home: Home) -> None:
    with home.on_terminal("model", "add", "openai", "gpt-5") as terminal:
        terminal.expect("API key for openai (empty: $OPENAI_API_KEY): ")
        terminal.send(f"{KEY}\r")
        terminal.expect("key: stored")
        assert terminal.ended() == 0
        assert KEY not in terminal.text


def test_the_demo_runs_in_an_empty_home(home: Home) -> None:
    done = home.penguin("demo", "--fast")
    assert (done.code, done.err) == (0, "")
    assert "✗ exec_command  python3 penguins.py 4  exit code 1" in done.out
    assert "(o_     (o_     (o_     (o_" in done.out
    assert "Ran 2 tests" in done.out
    assert str(home.traces[0]) in done.out
    assert "messages, all as the protocol wants them" in done.out
    assert check(read_lines(home.traces[0]), "trace", finished=True).ok
    fragment = home.traces[0].stem.removesuffix("_001")[-8:]
    assert f"penguin trace show {fragment}" in done.out
    assert "Ran 2 tests" in home.penguin("trace", "show", fragment).out


def test_the_demo_takes_a_folder(home: Home) -> None:
    assert home.penguin("demo", "--fast", "--workspace", str(home.workspace)).code == 0
    assert (home.workspace / "penguins.py").is_file()


def test_the_demo_can_be_recorded_anew(tmp_path: Path) -> None:
    target = tmp_path / "demo.jsonl"
    subprocess.run([sys.executable, str(ROOT / "scripts" / "record_demo.py"), str(target)], check=True, timeout=60)
    packaged = ROOT / "src/penguin_harness/cli/demo.jsonl"
    for path in (target, packaged):
        assert check(read_lines(path), "trace", finished=True).ok
    assert len(list(read_lines(target))) == len(list(read_lines(packaged)))


def test_what_is_known_of_a_model_stays_when_it_is_added_again(home: Home) -> None:
    home.penguin("model", "add", "custom", "m", "--base-url", "http://127.0.0.1:1/v1", "--client-type", "anthropic")
    config = home.data / "default_project" / ".project_config.toml"
    config.write_text(config.read_text() + "vision = false\noutput_limit = 999\n")
    home.penguin("model", "add", "custom", "m", "--context-window", "5000")
    written = config.read_text()
    for line in ("vision = false", "output_limit = 999", 'client_type = "anthropic"', "context_window = 5000"):
        assert line in written
