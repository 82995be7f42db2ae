"""What a person may edit on disk: configuration, folders, instructions."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from penguin_harness.errors import ConfigError
from penguin_harness.models import choose_model, open_model, secret_values
from penguin_harness.state.config import Default, Model, ProjectConfig, load_config, save_config
from penguin_harness.state.paths import agent_paths, data_root
from penguin_harness.state.prompt import assemble_prompt

CHAT = Model("deepseek", "deepseek-chat", api_key="sk-secret-1")
LOCAL = Model("custom", "m", base_url="http://127.0.0.1:1/v1", context_window=8192)


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "project" / ".project_config.toml"
    assert load_config(path) == ProjectConfig()
    config = ProjectConfig().add(CHAT).add(LOCAL)
    save_config(path, config)
    assert load_config(path) == config
    assert config.default == Default("deepseek", "deepseek-chat")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_comments_outside_the_tables_stay(tmp_path: Path) -> None:
    path = tmp_path / ".project_config.toml"
    path.write_text("# mine\n", encoding="utf-8")
    save_config(path, ProjectConfig().add(LOCAL))
    save_config(path, ProjectConfig())
    assert path.read_text(encoding="utf-8").strip() == "# mine"


def test_a_model_is_replaced_and_removed_by_its_whole_name() -> None:
    config = ProjectConfig().add(CHAT).add(LOCAL).add(Model("custom", "m", context_window=1))
    assert [model.context_window for model in config.models] == [None, 1]
    assert config.remove("deepseek", "deepseek-chat").default is None
    assert config.remove("custom", "m").default == config.default
    assert config.find("custom", "deepseek-chat") is None


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """B119: many writers at once never leave half a file."""
    path = tmp_path / ".project_config.toml"
    configs = [ProjectConfig().add(Model("custom", f"m{n}", base_url="http://x/" + "y" * 1000)) for n in range(8)]
    save_config(path, configs[0])

    def write_and_read(config: ProjectConfig) -> ProjectConfig:
        save_config(path, config)
        return load_config(path)

    with ThreadPoolExecutor(8) as pool:
        assert all(found in configs for found in pool.map(write_and_read, configs * 8))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("models = 3", r"\$\.models"),
        ("[[models]]\nprovider = 'x'", "model_id"),
        ("[[models]]\nprovider = 'x'\nmodel_id = 'y'\nbase_ulr = 'z'", "base_ulr"),
        ("not toml", "cannot read"),
        ("modles = []", "modles"),
    ],
)
def test_a_fault_in_the_file_is_named_with_its_place(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / ".project_config.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigError, match=told) as raised:
        load_config(path)
    assert str(path) in str(raised.value)


def test_the_data_root_is_named_or_in_the_home() -> None:
    assert data_root({"PENGUIN_HOME": "/data"}) == Path("/data")
    assert data_root({}) == Path.home() / ".penguin" / "data"


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "x" * 65, "a\0b"])
def test_a_name_never_becomes_another_path(name: str) -> None:
    """B174."""
    with pytest.raises(ConfigError, match="is not a name for an agent"):
        agent_paths(name)
    with pytest.raises(ConfigError, match="is not a name for a project"):
        agent_paths(project=name)


def test_the_prompt_holds_the_agents_instructions_and_nothing_to_substitute(tmp_path: Path) -> None:
    plain = assemble_prompt(agent_state=tmp_path, workspace=Path("/w"))
    assert "Workspace: /w" in plain
    assert "$" not in plain
    (tmp_path / "AGENTS.md").write_text("Speak like a penguin. It costs $5.", encoding="utf-8")
    assert "\n\nSpeak like a penguin. It costs $5.\n\n" in assemble_prompt(agent_state=tmp_path, workspace=Path("/w"))
    (tmp_path / "AGENTS.md").unlink()
    (tmp_path / "AGENTS.md").mkdir()
    with pytest.raises(ConfigError, match=r"cannot read .*AGENTS\.md"):
        assemble_prompt(agent_state=tmp_path, workspace=Path("/w"))


def test_a_model_is_named_by_both_halves_or_by_the_default() -> None:
    config = ProjectConfig().add(CHAT)
    assert choose_model(config) == CHAT
    assert choose_model(config, provider="custom", model_id="m").model_id == "m"
    elsewhere = choose_model(config, base_url="http://other/v1")
    assert elsewhere.base_url == "http://other/v1"
    assert elsewhere.api_key is None, "a stored key goes only where it was stored for"
    assert choose_model(config, base_url="http://other/v1", api_key="given").api_key == "given"
    with pytest.raises(ConfigError, match=r"no model is named and the project has no default.*penguin model add"):
        choose_model(ProjectConfig())
    with pytest.raises(ConfigError, match="only provider 'x' is given"):
        choose_model(config, provider="x")
    with pytest.raises(ConfigError, match="only model_id 'y' is given"):
        choose_model(config, model_id="y")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (Model("nobody", "m"), "nobody"),
        (Model("custom", "m"), "base_url|base URL|base-url"),
        (Model("custom", "m", base_url="not a url"), "not a url"),
        (Model("openai", "m", client_type="telepathy", api_key="k" * 10), "telepathy"),
    ],
)
def test_a_model_that_cannot_be_reached_says_why_and_the_way_out(model: Model, told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        open_model(model)


def test_a_missing_key_names_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        open_model(Model("openai", "gpt-x"))


def test_every_key_that_is_known_is_a_secret() -> None:
    config = ProjectConfig().add(CHAT)
    found = secret_values(config, "sk-given", {"OPENAI_API_KEY": "sk-exported", "PATH": os.defpath})
    assert found == {"sk-secret-1", "sk-given", "sk-exported"}
