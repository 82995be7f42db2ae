"""`penguin agent` and `penguin skills`: agents on disk, from the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from penguin_harness.state.paths import AgentPaths, agent_paths
from tests.cli.process import Home


def made(home: Home, name: str = "rev") -> AgentPaths:
    done = home.penguin("agent", "new", name, "--description", "Reviews 🐧 changes")
    assert (done.code, done.err) == (0, "")
    return agent_paths(name, root=home.data)


def put_skill(paths: AgentPaths, name: str, text: str) -> None:
    (paths.skills / name).mkdir(parents=True)
    (paths.skills / name / "SKILL.md").write_text(text, encoding="utf-8")


def test_an_agent_is_made_listed_and_shown(home: Home) -> None:
    assert "default_agent" in home.penguin("agent", "list").out
    paths = made(home)
    put_skill(paths, "pdf", "---\ndescription: Fills forms.\n---\nBody\n")
    paths.system_config.write_text(
        "description: Reviews 🐧 changes\nmcp_servers: [{name: issues}]\nlimits: {timeout: 5}\n"
        "tools: {off: [exec_command, edit_file]}\n",
        encoding="utf-8",
    )
    rows = home.penguin("agent", "list").out.splitlines()
    assert [row.split()[0] for row in rows] == ["agent", "default_agent", "rev"]
    assert rows[2].split() == ["rev", "1", "1", "Reviews", "🐧", "changes"]
    shown = home.penguin("agent", "show", "rev")
    assert shown.code == 0
    for part in ("Reviews 🐧 changes", str(paths.state), "timeout 5", "off exec_command edit_file", "issues", "pdf"):
        assert part in shown.out
    told = json.loads(home.penguin("agent", "show", "rev", "--json").out)
    assert told["settings"] == {"limits": {"timeout": 5}, "tools": {"off": ["exec_command", "edit_file"]}}
    assert told["skills"] == ["pdf"]
    assert json.loads(home.penguin("agent", "list", "--json").out)[1] == told


def test_an_agent_is_made_once_and_named_plainly(home: Home) -> None:
    made(home)
    again = home.penguin("agent", "new", "rev")
    assert again.code == 2
    assert "the agent 'rev' is there already" in again.err
    for name in ("../x", "a b", ".x"):
        refused = home.penguin("agent", "new", name)
        assert refused.code == 2
        assert "is not a name for an agent" in refused.err
    assert sorted(entry.name for entry in (home.data / "default_project" / "agents").iterdir()) == ["rev"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("agent", "show", "rew"),
        ("agent", "edit", "rew"),
        ("agent", "snapshot", "--agent", "rew"),
        ("agent", "restore", "x", "--agent", "rew"),
        ("agent", "snapshots", "--agent", "rew"),
        ("skills", "list", "--agent", "rew"),
        ("skills", "show", "pdf", "--agent", "rew"),
    ],
)
def test_an_unknown_agent_is_told_with_what_it_may_have_meant(home: Home, arguments: tuple[str, ...]) -> None:
    made(home)
    done = home.penguin(*arguments)
    assert done.code == 2
    assert "there is no agent 'rew', `penguin agent new` makes one; did you mean 'rev'?" in done.err
    assert done.out == ""


def test_the_prompt_is_shown_as_a_session_here_would_get_it(home: Home) -> None:
    (home.workspace / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
    state = agent_paths(root=home.data).state
    state.mkdir(parents=True)
    (state / ".vault.toml").write_text('TOKEN = "hunter2-hunter2"\n', encoding="utf-8")
    (state / ".vault.toml").chmod(0o600)
    shown = home.penguin("agent", "show", "--prompt")
    assert shown.code == 0
    assert f"Workspace: {home.workspace}" in shown.out
    assert "Use tabs." in shown.out
    assert "$TOKEN" in shown.out
    assert "TOKEN" in home.penguin("agent", "show").out
    assert "hunter2" not in shown.out + home.penguin("agent", "show", "--json").out
    (state / ".vault.toml").chmod(0o644)
    assert "fault" in home.penguin("agent", "show").out


def test_a_fault_is_shown_and_is_the_exit_code(home: Home) -> None:
    paths = made(home)
    put_skill(paths, "pdf", "---\ndescription: Use when: always\n---\n")
    paths.system_config.write_text("tols: {}\n", encoding="utf-8")
    shown = home.penguin("agent", "show", "rev")
    assert shown.code == 1
    assert "line 1: unknown key 'tols'; did you mean 'tools'?" in shown.out
    assert "the skill pdf: SKILL.md, line 2: this is no YAML" in shown.out
    assert "unknown key 'tols'" in home.penguin("agent", "list").out
    refused = home.penguin("agent", "show", "rev", "--prompt")
    assert refused.code == 2
    assert "unknown key 'tols'" in refused.err


def editor(home: Home, content: str, code: int = 0) -> dict[str, str]:
    """An editor that writes what it is told, and then ends."""
    script = home.folder / "my editor"
    script.write_text(f"#!/bin/sh\nprintf '{content}' > \"$1\"\nexit {code}\n", encoding="utf-8")
    script.chmod(0o755)
    return {"EDITOR": f"'{script}'"}


def test_edit_opens_the_editor_and_checks_what_it_wrote(home: Home) -> None:
    paths = made(home)
    with home.on_terminal("agent", "edit", "rev", env=editor(home, "description: changed")) as terminal:
        assert terminal.ended() == 0
    assert paths.system_config.read_text(encoding="utf-8") == "description: changed"
    with home.on_terminal("agent", "edit", "rev", env=editor(home, "descripton: x")) as terminal:
        terminal.expect("did you mean 'description'?")
        terminal.expect("penguin agent edit rev")
        assert terminal.ended() == 1
    with home.on_terminal("agent", "edit", "--instructions", env=editor(home, "Be brief.")) as terminal:
        assert terminal.ended() == 0
    instructions = agent_paths(root=home.data).state / "AGENTS.md"
    assert instructions.read_text(encoding="utf-8") == "Be brief."


def test_edit_says_what_is_missing(home: Home) -> None:
    made(home)
    without_terminal = home.penguin("agent", "edit", "rev")
    assert without_terminal.code == 2
    assert "edit needs a terminal; the file is " in without_terminal.err
    with home.on_terminal("agent", "edit", "rev", env={"EDITOR": "no-such-editor"}) as terminal:
        terminal.expect("there is no editor 'no-such-editor': set $EDITOR")
        assert terminal.ended() == 2
    with home.on_terminal("agent", "edit", "rev", env={"EDITOR": "'open"}) as terminal:
        terminal.expect("No closing quotation")
        assert terminal.ended() == 2
    with home.on_terminal("agent", "edit", "rev", env=editor(home, "description: half", 7)) as terminal:
        terminal.expect("ended with exit code 7")
        assert terminal.ended() == 1


def test_a_state_is_kept_listed_and_put_back(home: Home) -> None:
    paths = made(home)
    assert "No snapshots yet" in home.penguin("agent", "snapshots", "--agent", "rev").out
    assert home.penguin("agent", "snapshot", "good", "--agent", "rev").code == 0
    assert home.penguin("agent", "snapshot", "--agent", "rev").code == 0
    paths.system_config.unlink()
    done = home.penguin("agent", "restore", "good", "--agent", "rev")
    assert done.code == 0
    assert "what was there is kept as replaced-" in done.out
    assert "Reviews 🐧 changes" in paths.system_config.read_text(encoding="utf-8")
    kept = json.loads(home.penguin("agent", "snapshots", "--agent", "rev", "--json").out)
    assert [Path(each["path"]).exists() for each in kept] == [True] * 3
    rows = home.penguin("agent", "snapshots", "--agent", "rev").out.splitlines()
    assert len(rows) == 4
    assert rows[1].startswith("replaced-")
    unknown = home.penguin("agent", "restore", "goood", "--agent", "rev")
    assert unknown.code == 2
    assert "did you mean 'good'?" in unknown.err
    assert home.penguin("agent", "restore", "../good", "--agent", "rev").code == 2


def test_skills_are_listed_and_shown(home: Home) -> None:
    assert "No skills yet" in home.penguin("skills", "list").out
    paths = made(home)
    put_skill(paths, "pdf", "---\ndescription: Fills \x1b[31mforms.\n---\nBody\n".replace("\x1b", "\\x1b"))
    put_skill(paths, "odd", "no front matter \u202e\x1b]0;title\x07")
    done = home.penguin("skills", "list", "--agent", "rev")
    assert done.code == 1
    assert "SKILL.md has no front matter" in done.out
    assert "Fills" in done.out
    listed = json.loads(home.penguin("skills", "list", "--agent", "rev", "--json").out)
    assert [skill["name"] for skill in listed] == ["odd", "pdf"]
    assert home.penguin("skills", "show", "pdf", "--agent", "rev").out.endswith("---\nBody\n")
    missing = home.penguin("skills", "show", "pfd", "--agent", "rev")
    assert (missing.code, "did you mean 'pdf'?" in missing.err) == (2, True)
    with home.on_terminal("skills", "show", "odd", "--agent", "rev") as terminal:
        terminal.expect("no front matter")
        assert terminal.ended() == 0
        assert b"\x1b]0;" not in terminal.raw


def test_b166_names_that_are_no_unicode_are_listed(home: Home) -> None:
    paths = made(home)
    put_skill(paths, os.fsdecode(b"caf\xe9"), "---\ndescription: Brews.\n---\n")
    assert "caf\ufffd" in home.penguin("skills", "list", "--agent", "rev").out
    [skill] = json.loads(home.penguin("skills", "list", "--agent", "rev", "--json").out)
    assert skill["name"] == "caf\ufffd"
    assert "- caf\ufffd: Brews." in home.penguin("agent", "show", "rev", "--prompt").out
    assert home.penguin("agent", "snapshot", "one", "--agent", "rev").code == 0
    assert home.penguin("agent", "restore", "one", "--agent", "rev").code == 0
    assert (paths.skills / os.fsdecode(b"caf\xe9") / "SKILL.md").exists()
