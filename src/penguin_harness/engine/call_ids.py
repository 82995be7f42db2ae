"""Tool call ids: unique within a Trace file, whatever the provider sends."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

from penguin_harness.omnimessage import clean

_SUFFIX = re.compile(r"#\d+$")


class CallIds:
    """Assigns ids for one stream; `used` are those of the file so far."""

    def __init__(self, used: AbstractSet[str]) -> None:
        self._used = used
        self._assigned: set[str] = set()

    def assign(self, provider_id: str | None) -> str:
        """The id inside the session: the provider's own, with `#n` behind it where it would not be unique."""
        base = clean(provider_id or "").strip()
        assigned = self._suffixed(base) if base else self._generated()
        self._assigned.add(assigned)
        return assigned

    def _is_free(self, candidate: str) -> bool:
        return candidate not in self._used and candidate not in self._assigned

    def _suffixed(self, base: str) -> str:
        number = 2
        candidate = f"{base}#1" if _SUFFIX.search(base) else base
        while not self._is_free(candidate):
            candidate = f"{base}#{number}"
            number += 1
        return candidate

    def _generated(self) -> str:
        number = len(self._used) + len(self._assigned) + 1
        while not self._is_free(f"call_{number}"):
            number += 1
        return f"call_{number}"
