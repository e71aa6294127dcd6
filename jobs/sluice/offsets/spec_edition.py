"""Spec editions: the keys of a spec that decided a batch's rows, in its plan and receipt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_DIGITS = 12
# The keys that say which topics are read.
_TOPICS = ("topics", "topic_pattern", "except_topics")
# No spec nests as deeply; what does could be read here, and fail where more calls are open.
_DEEPEST = 50


@dataclass(frozen=True)
class SpecEdition:
    """The keys of a spec that decide which rows a batch has, as canonical JSON text.

    Two editions with one digest read every record alike.
    """

    text: str

    @classmethod
    def of(cls, keys: Mapping[str, Any]) -> SpecEdition:
        """The edition with these keys, given as JSON values."""
        return cls(json.dumps(keys, sort_keys=True, separators=(",", ":"), ensure_ascii=False))

    @classmethod
    def read(cls, stored: object) -> SpecEdition | None:
        """Read back what `as_dict` wrote, also as text; None where it is something else."""
        try:
            found = json.loads(stored) if isinstance(stored, str) else stored
            keys = found.get("spec") if isinstance(found, dict) else None
            if not isinstance(keys, dict) or not _is_shallow(keys, _DEEPEST):
                return None
            # Others may have written text that is not JSON, or not Unicode.
            json.dumps(keys, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        return cls.of(keys)

    @property
    def digest(self) -> str:
        """A short name of what it says."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:_DIGITS]

    @property
    def keys(self) -> Mapping[str, Any]:
        """The keys, as JSON values."""
        found: dict[str, Any] = json.loads(self.text)
        return found

    def differing(self, other: SpecEdition) -> list[str]:
        """The keys that have another value in another edition, as `derived.day`."""
        ours, theirs = _flat(self.keys), _flat(other.keys)
        return sorted(key for key in {*ours, *theirs} if ours.get(key) != theirs.get(key))

    def reads_no_other_topics(self, than: SpecEdition | None) -> bool:
        """Whether each topic that it names is named by an earlier one; by a pattern: the same."""
        if than is None:
            return False
        ours, theirs = ({key: each.keys.get(key) for key in _TOPICS} for each in (self, than))
        if ours["topics"] and theirs["topics"]:
            return set(ours["topics"]) <= set(theirs["topics"])
        return ours == theirs

    def as_dict(self) -> dict[str, Any]:
        """Digest and keys, as JSON values."""
        return {"digest": self.digest, "spec": self.keys}

    def __str__(self) -> str:
        return json.dumps(self.as_dict(), separators=(",", ":"), ensure_ascii=False)


def _is_shallow(value: object, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return True
    parts = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_shallow(each, levels - 1) for each in parts)


def _flat(keys: Mapping[str, Any]) -> dict[str, Any]:
    """The keys, and in place of one that has keys itself those, behind its name."""
    found: dict[str, Any] = {}
    for name, value in keys.items():
        inner = value if isinstance(value, dict) else {}
        found |= {f"{name}.{each}": part for each, part in inner.items()} or {name: value}
    return found
