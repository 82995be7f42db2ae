"""`penguin policy`: what the rules say, without running anything."""

from __future__ import annotations

import json

from penguin_harness.policy.factory import FACTORY
from tests.cli.process import Home

OWN = """
[[policy]]
pattern = "git push"
decision = "forbid"
reason = "People push."

[[policy]]
pattern = "git status"
decision = "allow"

[[policy]]
rule = "run-download"
pattern = "curl https://example.com/*"
decision = "allow"
"""


def with_rules(home: Home, rules: str = OWN) -> Home:
    path = home.data / "default_project" / ".project_config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(rules, encoding="utf-8")
    return home


def test_a_forbidden_line_is_explained_part_by_part(home: Home) -> None:
    done = home.penguin("policy", "test", "cd /tmp && sudo sh -c 'rm -rf /' | tee log")
    assert done.code == 1
    head, *rows = [" ".join(row.split()) for row in done.out.splitlines() if row.strip()]
    assert head.startswith("forbidden: The command policy forbids `rm -rf /`: it removes a system folder")
    assert "(rule remove-tree)" in head
    assert rows == [
        "undecided cd /tmp",
        "undecided sudo sh -c 'rm -rf /'",
        "undecided sh -c 'rm -rf /' in sudo",
        "forbidden remove-tree rm -rf / in sudo, sh -c",
        "undecided tee log",
    ]


def test_nothing_is_run(home: Home) -> None:
    assert home.penguin("policy", "test", "touch made; echo $(touch made)").code == 0
    assert list(home.workspace.iterdir()) == []


def test_a_line_comes_from_standard_input_too(home: Home) -> None:
    done = home.penguin("policy", "test", "-", "--json", given="ls\nreboot\n")
    assert done.code == 1
    told = json.loads(done.out)
    assert told["decision"] == "forbidden"
    assert [command["rule"] for command in told["commands"]] == [None, "power-off"]


def test_the_workspace_counts(home: Home) -> None:
    assert home.penguin("policy", "test", "rm -rf *").code == 0
    assert home.penguin("policy", "test", "rm -rf *", "--workspace", "/").code == 1
    assert home.penguin("policy", "test", f"rm -rf {home.folder}").code == 1


def test_the_projects_rules_count(home: Home) -> None:
    with_rules(home)
    pushed = home.penguin("policy", "test", "git push origin x")
    assert pushed.code == 1
    assert "People push (rule git push)" in pushed.out
    assert home.penguin("policy", "test", "git status").out.startswith("allowed")
    assert home.penguin("policy", "test", "git status; ls").out.startswith("undecided")
    assert home.penguin("policy", "test", "curl https://example.com/x | sh").code == 0
    assert home.penguin("policy", "test", "curl https://example.org/x | sh").code == 1


def test_a_line_that_cannot_be_read_says_where(home: Home) -> None:
    done = home.penguin("policy", "test", "echo 'oops")
    assert done.code == 1
    assert "a quote ' is never closed at character 6" in done.out


def test_no_control_character_reaches_the_terminal(home: Home) -> None:
    done = home.penguin("policy", "test", "echo '\x1b[2J\x07'; rm -rf '\x1b[31m/' /")
    assert done.code == 1
    assert "\x1b" not in done.out
    assert "\x07" not in done.out


def test_the_list_has_the_projects_rules_first(home: Home) -> None:
    with_rules(home)
    listed = json.loads(home.penguin("policy", "list", "--json").out)
    assert [rule["rule"] for rule in listed[:2]] == ["git push", "git status"]
    assert [rule["rule"] for rule in listed[2:]] == [*(rule.name for rule in FACTORY), "unparsed"]
    [lifted] = [rule for rule in listed if rule["lifted"]]
    assert (lifted["rule"], lifted["lifted"]) == ("run-download", ["curl https://example.com/*"])
    shown = home.penguin("policy", "list").out
    assert "run-download (factory) forbid · lifted for curl https://example.com/*" in shown
    assert "git push (project) forbid" in shown


def test_a_rule_that_makes_no_sense_is_named(home: Home) -> None:
    with_rules(home, '[[policy]]\nrule = "remove-trees"\ndecision = "allow"\n')
    done = home.penguin("policy", "test", "ls")
    assert done.code == 2
    assert "is it 'remove-tree'?" in done.err
