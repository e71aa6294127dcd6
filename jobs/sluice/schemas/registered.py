"""Registered schemas: a schema as a registry has it, with the texts that it refers to."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from sluice.columns.declared import Place

Kind = Literal["AVRO", "JSON", "PROTOBUF"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_OF_REGISTRY = re.compile(r"[0-9]+|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Reference:
    """A text that a schema uses, by the name that it is used by."""

    name: str
    text: str


@dataclass(frozen=True)
class RegisteredSchema:
    """A schema of a registry; `key` is its number in decimal digits, or its GUID.

    A schema of a file has the file's name as its key; its references are further files.

    `references` come in the order in which they can be read: in Avro and Protobuf, each only uses
    those before it. `kept` are the fields that had their columns before this schema was the reader,
    and keep them beside new ones whose names differ only in case.
    """

    key: str
    kind: Kind
    text: str
    references: tuple[Reference, ...] = ()
    kept: tuple[Place, ...] = field(default=(), compare=False)

    @property
    def age(self) -> tuple[int, str]:
        """Sorts numbers as a registry gives them, one after another."""
        return len(self.key), self.key

    @property
    def is_of_file(self) -> bool:
        """Whether a file has it, and not a registry."""
        return _OF_REGISTRY.fullmatch(self.key) is None

    @property
    def digest(self) -> str:
        """Tells its texts from any others, in whichever order files were named."""
        if not self.references:
            return _digest(self.text)
        further = sorted([each.name, each.text] for each in self.references)
        return _digest(json.dumps([self.text, further]))

    @property
    def texts(self) -> Mapping[str | None, str]:
        """All texts by the names of the references; that of the schema itself has no name."""
        return {None: self.text, **{each.name: each.text for each in self.references}}

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "key": self.key,
            "kind": self.kind,
            "text": self.text,
            "references": [{"name": each.name, "text": each.text} for each in self.references],
        }

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> RegisteredSchema:
        """What `as_dict` made. Raises ValueError for anything else."""
        try:
            made = cls(
                found["key"],
                found["kind"],
                found["text"],
                tuple(Reference(each["name"], each["text"]) for each in found["references"]),
            )
        except (KeyError, TypeError) as problem:
            raise ValueError(f"not a registered schema: {problem}") from problem
        texts = [made.key, made.text, *(text for r in made.references for text in (r.name, r.text))]
        if made.kind not in KINDS or not all(isinstance(each, str) for each in texts):
            raise ValueError("not a registered schema: a key has a value of another type")
        return made


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
