"""An Avro schema as types. Pure.

Named types are in a table, by their full names; wherever one is used stands a `Ref`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MISSING: Any = object()
"""The default of a field that has none."""


@dataclass(frozen=True)
class Logical:
    """What a type stands for; precision and scale are a decimal's."""

    name: str
    precision: int = 0
    scale: int = 0

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})" if self.precision else self.name


@dataclass(frozen=True)
class Scalar:
    """A primitive type."""

    name: str
    logical: Logical | None = None

    def __str__(self) -> str:
        return self.name if self.logical is None else f"{self.name} ({self.logical})"


@dataclass(frozen=True)
class Ref:
    """A named type, by its full name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class ArrayOf:
    """An array."""

    items: Node

    def __str__(self) -> str:
        return f"array of {self.items}"


@dataclass(frozen=True)
class MapOf:
    """A map from text."""

    values: Node

    def __str__(self) -> str:
        return f"map of {self.values}"


@dataclass(frozen=True)
class Union:
    """One of several types."""

    members: tuple[Node, ...]

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self.members))}]"


Node = Scalar | Ref | ArrayOf | MapOf | Union


@dataclass(frozen=True)
class Fixed:
    """So many bytes."""

    name: str
    aliases: tuple[str, ...]
    size: int
    logical: Logical | None = None


@dataclass(frozen=True)
class Enum:
    """One of some symbols; `default` stands for those that a reader does not know."""

    name: str
    aliases: tuple[str, ...]
    symbols: tuple[str, ...]
    default: str | None = None


@dataclass(frozen=True)
class Member:
    """A record's field."""

    name: str
    type: Node
    aliases: tuple[str, ...] = ()
    default: Any = MISSING


@dataclass(frozen=True)
class RecordType:
    """A record."""

    name: str
    aliases: tuple[str, ...]
    fields: tuple[Member, ...]
    logical: Logical | None = None


Named = Fixed | Enum | RecordType


@dataclass(frozen=True)
class AvroSchema:
    """A schema: its outermost type, and the named types that it uses."""

    root: Node
    names: Mapping[str, Named] = field(default_factory=dict)

    def named(self, node: Node) -> Node | Named:
        """The type itself, where the node only names it."""
        return self.names[node.name] if isinstance(node, Ref) else node


def most_digits(size: int) -> int:
    """The digits of which every number fits so many bytes."""
    return len(str(2 ** (8 * size - 1))) - 1 if size else 0
