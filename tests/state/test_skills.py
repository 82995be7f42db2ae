"""Skills: what the prompt says of them, and what is said of faulty ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.state.skills import LONGEST_SECTION, find_skills, read_skill, skills_section


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    return path


def test_the_front_matter_is_in_the_prompt_and_the_body_is_not(tmp_path: Path) -> None:
    path = put(
        tmp_path, "pdf", "---\nname: pdf\ndescription: >\n  Fill forms,\n  merge files.\nlicense: MIT\n---\nBody\n"
    )
    section = skills_section(tmp_path)
    assert f"- pdf: Fill forms, merge files. ({path})" in section
    assert "Body" not in section
    assert read_skill(tmp_path, "pdf").endswith("---\nBody\n")


def test_they_stand_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b", "C", "a", ".git"):
        put(tmp_path, name, f"---\ndescription: {name}\n---\n")
    (tmp_path / "empty").mkdir()
    (tmp_path / "README.md").write_text("no skill", encoding="utf-8")
    assert [skill.name for skill in find_skills(tmp_path)] == ["C", "a", "b"]
    assert find_skills(tmp_path / "none") == []
    assert skills_section(tmp_path / "none") == ""


def test_a_skill_may_be_a_link_to_one_that_is_shared(tmp_path: Path) -> None:
    put(tmp_path / "shared", "pdf", "---\ndescription: Shared.\n---\n")
    (tmp_path / "skills").mkdir()
    (tmp_path / "skills" / "pdf").symlink_to(tmp_path / "shared" / "pdf")
    assert [skill.description for skill in find_skills(tmp_path / "skills")] == ["Shared."]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "has no front matter: it must begin with a line ---"),
        ("# Title\n", "has no front matter"),
        ("---\ndescription: x\n", "has no front matter"),
        ("---\nname: x\n---\n", "missing required field `description`"),
        ("---\ndescription: ''\n---\n", "SKILL.md, line 2: description: "),
        ("---\ndescription: ' \u200b'\n---\n", "its description is empty"),
        ("---\nname: x\ndescription: Use when: always\n---\n", "SKILL.md, line 3: this is no YAML: mapping values"),
        ("---\ndescription: [a]\n---\n", "description: expected `str`, got `array`"),
        ("---\nwords\n---\n", "expected `object`, got `str`"),
        ("---\n---\n", "missing required field `description`"),
        ("---\ndescription: \x00\n---\n", "it is no text in UTF-8"),
    ],
)
def test_a_faulty_skill_is_named_with_its_fault(tmp_path: Path, text: str, told: str) -> None:
    path = put(tmp_path, "bad", text)
    put(tmp_path, "good", "---\ndescription: Works.\n---\n")
    bad, good = find_skills(tmp_path)
    assert bad.fault is not None
    assert told in bad.fault
    assert good.fault is None
    assert f"- bad: [{bad.fault}] ({path})" in skills_section(tmp_path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "SKILL.md")
    [skill] = find_skills(tmp_path)
    assert skill.fault is not None
    assert "it is a folder, pipe or device" in skill.fault


def test_windows_line_ends_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    put(tmp_path, "pdf", "\ufeff---\r\nname: pdf\r\ndescription: Fills.\r\n---\r\nBody\r\n")
    assert [skill.description for skill in find_skills(tmp_path)] == ["Fills."]


def test_b167_escaped_halves_in_a_description_are_joined(tmp_path: Path) -> None:
    put(tmp_path, "bar", '---\ndescription: "\\ud83c\\udf78 and \\ud83c"\n---\n')
    assert [skill.description for skill in find_skills(tmp_path)] == ["🍸 and \ufffd"]


def test_b166_a_folder_whose_name_is_no_unicode_is_listed(tmp_path: Path) -> None:
    put(tmp_path, os.fsdecode(b"caf\xe9"), "---\ndescription: Brews.\n---\nBody")
    [skill] = find_skills(tmp_path)
    assert skill.name == "caf\ufffd"
    assert read_skill(tmp_path, skill.name).endswith("Body")


def test_very_many_are_counted_instead_of_listed(tmp_path: Path) -> None:
    for number in range(40):
        put(tmp_path, f"s{number:02}", f"---\ndescription: {'x' * 3_000}\n---\n")
    section = skills_section(tmp_path)
    listed = section.count("\n- s")
    assert 0 < listed < 40
    assert section.endswith(f"\n- and {40 - listed} more in {tmp_path}")
    assert len(section) < LONGEST_SECTION + 1_000


@pytest.mark.parametrize("name", ["../secret", "/etc", ".", "", "a/b", "pdx"])
def test_b174_a_name_is_one_of_the_list_and_never_a_path(tmp_path: Path, name: str) -> None:
    put(tmp_path / "skills", "pdf", "---\ndescription: x\n---\n")
    put(tmp_path, "secret", "hunter2")
    with pytest.raises(ConfigError, match="there is no skill"):
        read_skill(tmp_path / "skills", name)
