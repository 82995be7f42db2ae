"""The project's configuration: which models there are, which is the default, and their keys.

default = { provider = "deepseek", model_id = "deepseek-chat" }

[[models]]
provider = "deepseek"
model_id = "deepseek-chat"
context_window = 128000        # optional, as is everything below
base_url = "https://…"
client_type = "openai_chat"    # or openai_responses, anthropic, gemini
output_limit = 8192            # tokens of one answer
vision = false                 # takes no images
strict_roles = true            # user and assistant must take turns, as some chat templates want it
api_key = "…"                  # else the provider's environment variable

[[policy]]                     # the command policy's own rules, the first that fits decides
pattern = "git push"           # one plain command; its flags count in any order, * stands for any part of a word
decision = "forbid"            # or "allow": nobody is asked about a line of which every part is allowed
reason = "People push."        # what the model is told

[[policy]]
rule = "run-download"          # takes a rule of the factory out of force, for the pattern if there is one
decision = "allow"
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from penguin_harness.errors import ConfigError

_WRITTEN = ("default", "models")


class Model(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One configured model; provider and model_id together are its identity."""

    provider: str
    model_id: str
    base_url: str | None = None
    client_type: str | None = None
    context_window: int | None = None
    api_key: str | None = None
    output_limit: int | None = None
    vision: bool | None = None
    strict_roles: bool | None = None

    @property
    def name(self) -> str:
        """For people: never parsed again."""
        return f"{self.provider} / {self.model_id}"


class Default(Struct, frozen=True, forbid_unknown_fields=True):
    """The model of a session that names none."""

    provider: str
    model_id: str


class PolicyEntry(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the project says about commands of one kind, or about a rule of the factory."""

    decision: Literal["forbid", "allow"]
    pattern: str | None = None
    rule: str | None = None
    reason: str = ""


class ProjectConfig(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the file says."""

    default: Default | None = None
    models: tuple[Model, ...] = ()
    policy: tuple[PolicyEntry, ...] = ()

    def find(self, provider: str, model_id: str) -> Model | None:
        """The configured model with that identity."""
        return next((m for m in self.models if (m.provider, m.model_id) == (provider, model_id)), None)

    def default_model(self) -> Model | None:
        """The default, when there is one."""
        if self.default is None:
            return None
        default = self.default
        return self.find(default.provider, default.model_id) or Model(default.provider, default.model_id)

    def add(self, model: Model) -> ProjectConfig:
        """With the model in place of one of the same identity; the first one becomes the default."""
        others = tuple(m for m in self.models if (m.provider, m.model_id) != (model.provider, model.model_id))
        default = self.default or Default(model.provider, model.model_id)
        return msgspec.structs.replace(self, default=default, models=(*others, model))

    def remove(self, provider: str, model_id: str) -> ProjectConfig:
        """Without the model; it is no longer the default either."""
        gone = (provider, model_id)
        default = self.default
        if default is not None and (default.provider, default.model_id) == gone:
            default = None
        models = tuple(m for m in self.models if (m.provider, m.model_id) != gone)
        return msgspec.structs.replace(self, default=default, models=models)


def load_config(path: Path) -> ProjectConfig:
    """Read the file; an absent one is empty. Raises ConfigError that names the place of a fault."""
    try:
        text = path.read_text(encoding="utf-8")
        import tomllib  # only who has a file pays for it

        return msgspec.convert(tomllib.loads(text), ProjectConfig)
    except FileNotFoundError:
        return ProjectConfig()
    except (OSError, ValueError, msgspec.ValidationError) as error:  # ValueError: broken UTF-8 or TOML
        raise ConfigError(f"cannot read {path}: {error}; mend it, or remove it and use `penguin model add`") from None


def save_config(path: Path, config: ProjectConfig) -> None:
    """Write the file, readable by its owner only, in one step: a reader sees the old one or the new one.

    Comments outside the written tables stay, and so does the command policy, which only people write.
    """
    import tomlkit  # only who writes pays for it

    document: Any = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    written: dict[str, Any] = msgspec.to_builtins(config)
    for table in _WRITTEN:
        if table in written:
            document[table] = written[table]
        else:
            document.pop(table, None)
    temporary = path.with_name(f"{path.name}.{os.urandom(4).hex()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as out:
            out.write(tomlkit.dumps(document))
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise ConfigError(f"cannot write {path}: {error.strerror or error}") from None
