"""A YAML document as a typed value."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec

from penguin_harness.errors import ConfigError
from penguin_harness.state.yaml_fault import fault_words, problem_words

T = TypeVar("T")
_UNFIT = (ValueError, LookupError, AttributeError, TypeError)
"""What the parser lets through when a value does not fit its tag, as in `!!int x`."""


def read_yaml(text: str, kind: type[T], *, source: str, above: int = 0) -> T:
    """The document as a value of that type; a key with nothing behind it counts as left out.

    `source` names the text in an error, and `above` is the number of lines before it in its file.
    Raises ConfigError, which repeats no value of the document: it may be a credential.
    """
    from ruamel.yaml import YAML  # only who has such a file pays for it
    from ruamel.yaml.error import YAMLError

    parser: Any = YAML(typ="safe", pure=True)
    parser.composer.warn_double_anchors = False  # it is allowed
    root: Any = None
    try:
        root = parser.compose(text)
        value: Any = parser.constructor.construct_document(root) if root is not None else {}
        return msgspec.convert(_without_blanks(value), kind)
    except YAMLError as error:
        raise ConfigError(f"{source}{problem_words(error, above)}") from None
    except msgspec.ValidationError as error:
        raise ConfigError(f"{source}{fault_words(str(error), kind, root, above)}") from None
    except (RecursionError, *_UNFIT):
        raise ConfigError(f"{source}: this is no YAML that can be read") from None


def _without_blanks(value: Any) -> Any:
    """A mapping without the keys that have nothing behind them, as where all of a section is commented out."""
    if not isinstance(value, dict):
        return value
    return {key: each for key, each in cast("dict[Any, Any]", value).items() if each is not None}
