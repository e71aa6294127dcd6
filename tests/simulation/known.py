"""What is known: holes that are not mended yet, each with how its findings look."""

from __future__ import annotations

from dataclasses import dataclass

from tests.simulation.history import History
from tests.simulation.oracle import Finding


@dataclass(frozen=True)
class Hole:
    """A hole by its name: the kinds of its findings, and what must have been done in a history."""

    name: str
    kinds: tuple[str, ...]
    needs: tuple[frozenset[str], ...]


# None is open. Who lists one again keeps its history, whose `known` is its name.
HOLES: tuple[Hole, ...] = ()


def known_as(history: History, finding: Finding) -> str:
    """The name of the hole that a history has fallen into; empty for a new one."""
    for hole in HOLES:
        if finding.kind.startswith(hole.kinds) and any(e <= history.names for e in hole.needs):
            return hole.name
    return ""
