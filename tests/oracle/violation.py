"""A violation: one invariant, where it broke, what was expected and what was found."""

from __future__ import annotations

from dataclasses import dataclass

NAMES = {
    1: "Complete",
    2: "Unique",
    3: "Tiled",
    4: "Atomic",
    5: "Equal",
    6: "Monotone",
    7: "No phantom",
    8: "Accounted",
    9: "Loud",
    10: "Live",
}


class Unjudgeable(Exception):
    """The oracle cannot read what it should judge. Not a verdict: unknown is not wrong."""


@dataclass(frozen=True)
class Violation:
    invariant: int
    where: str
    expected: str
    found: str

    def __str__(self) -> str:
        name = NAMES[self.invariant]
        return (
            f"{self.invariant} {name}: {self.where}: expected {self.expected}, found {self.found}"
        )
