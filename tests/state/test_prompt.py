"""The assembled prompt: a function of the files, whole, and nothing in it left to fill in."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.state.memory import memory_folder
from penguin_harness.state.prompt import assemble_prompt


class Setting:
    """An agent's state and a workspace, on disk."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "agent_state"
        self.workspace = folder / "work"
        self.state.mkdir()
        self.workspace.mkdir()

    def write(self, name: str, text: str) -> None:
        path = self.state / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def template(self, *lines: str) -> None:
        self.write("system_config.yaml", "\n".join(["system_prompt: |", *(f"  {line}" for line in lines)]))

    def prompt(self, *variables: str) -> str:
        return assemble_prompt(agent_state=self.state, workspace=self.workspace, variables=variables)


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def fill(setting: Setting) -> None:
    setting.write("AGENTS.md", "Speak like a penguin. {{skills}} $HOME {nothing}")
    for name in ("b", "a", "c"):
        setting.write(f"skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: Does {name}.\n---\n")
    (setting.workspace / "AGENTS.md").write_text("Use tabs.", encoding="utf-8")
    memory = memory_folder(setting.state, setting.workspace)
    memory.mkdir(parents=True)
    (memory / "MEMORY.md").write_text("- the tests need a display", encoding="utf-8")


def test_the_prompt_holds_everything_once(setting: Setting) -> None:
    fill(setting)
    prompt = setting.prompt("TOKEN", "DB_URL")
    for part in (
        f"Workspace: {setting.workspace}",
        "Speak like a penguin. {{skills}} $HOME {nothing}",
        "- a: Does a. (",
        "Use tabs.",
        "- the tests need a display",
        "$DB_URL, $TOKEN",
    ):
        assert prompt.count(part) == 1, part
    assert "\n\n\n" not in prompt


def test_b182_the_same_files_give_the_same_bytes(setting: Setting) -> None:
    fill(setting)
    first = setting.prompt("B", "A")
    for file in [*setting.state.rglob("*"), *setting.workspace.rglob("*")]:
        os.utime(file, (0, 0))
    assert setting.prompt("A", "B") == first


def test_an_empty_state_leaves_no_empty_sections(setting: Setting) -> None:
    prompt = setting.prompt()
    assert "\n\n\n" not in prompt
    for heading in ("# Skills", "# Credentials", "# Instructions"):
        assert heading not in prompt


def test_a_template_says_what_is_in_the_prompt(setting: Setting) -> None:
    fill(setting)
    setting.template("In {{ workspace }}: {{workspace}}.", "", "{{variables}}", "", "{{agent_instructions}}", "", "End")
    prompt = setting.prompt()
    assert prompt.startswith(f"In {setting.workspace}: {setting.workspace}.\n\n# Instructions of this agent\n\n")
    assert prompt.endswith("{nothing}\n\nEnd")
    assert "Does a." not in prompt


def test_what_a_template_does_not_name_is_not_read(setting: Setting) -> None:
    setting.write("skills", "a file where a folder belongs")
    with pytest.raises(ConfigError, match=r"cannot read the skills in .*: Not a directory"):
        setting.prompt()
    setting.template("Hello. {} {{ not a name }} {single}")
    assert setting.prompt() == "Hello. {} {{ not a name }} {single}"


def test_an_unknown_placeholder_is_told(setting: Setting) -> None:
    setting.template("{{skils}}")
    with pytest.raises(
        ConfigError, match=r"system_config\.yaml: .* placeholder \{\{skils\}\}; did you mean 'skills'\?"
    ):
        setting.prompt()
    setting.template("{{date}}")
    with pytest.raises(ConfigError, match=r"\{\{date\}\}; there are workspace, agent_instructions, "):
        setting.prompt()


def test_b166_lone_surrogates_never_enter_the_prompt(setting: Setting) -> None:
    """And B167: escaped halves that belong together become one character."""
    setting.write("system_config.yaml", 'system_prompt: "a\\ud83d b \\ud83c\\udf78 {{agent_instructions}}"')
    (setting.state / "AGENTS.md").write_bytes(b"cut \xf0\x9f\x8d here \xed\xa0\xbd")
    prompt = setting.prompt()
    assert prompt.startswith("a\ufffd b 🍸 ")
    assert "cut \ufffd here \ufffd" in prompt
    prompt.encode()


def test_b166_a_folder_whose_name_is_no_unicode(setting: Setting) -> None:
    setting.workspace = setting.workspace / os.fsdecode(b"caf\xe9")
    setting.workspace.mkdir()
    setting.prompt().encode()
    assert "work/caf\ufffd" in setting.prompt()


def test_b169_files_are_utf8_whatever_the_locale_says(setting: Setting) -> None:
    setting.write("AGENTS.md", "Sprich über Pinguine 🐧")
    setting.write("skills/bar/SKILL.md", "---\ndescription: Gießt 🍸\n---\n")
    setting.write("system_config.yaml", "system_prompt: |\n  Ü {{agent_instructions}} {{skills}}")
    code = (
        "import sys; from pathlib import Path; from penguin_harness.state.prompt import assemble_prompt;"
        "print(ascii(assemble_prompt(agent_state=Path(sys.argv[1]), workspace=Path(sys.argv[2]))))"
    )
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(
        [sys.executable, "-c", code, setting.state, setting.workspace],
        env=plain, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    for part in ("\\xdc ", "\\xfcber Pinguine \\U0001f427", "- bar: Gie\\xdft \\U0001f378 ("):
        assert part in done.stdout


def test_yaml_is_loaded_only_where_a_file_needs_it(setting: Setting) -> None:
    code = (
        "import sys; from pathlib import Path; import penguin_harness.agent;"
        "from penguin_harness.state.prompt import assemble_prompt;"
        "assemble_prompt(agent_state=Path(sys.argv[1]), workspace=Path(sys.argv[1]));"
        "print([name for name in sys.modules if name.startswith('ruamel')])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, setting.state],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("[]", "")
