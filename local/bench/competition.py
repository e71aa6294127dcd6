"""A competition: who competes on which stage, and who is compared with whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from local.bench.contender import Contender
from local.bench.stage import Stage
from local.bench.turns import Comparison
from local.bench.world import World

OnStage = TypeVar("OnStage", bound=Stage)


@dataclass(frozen=True)
class Entry(Generic[OnStage]):
    """A contender in the list: what it runs, and whether a run that names none includes it."""

    what: str
    make: Callable[[str, World, OnStage], Contender]
    usual: bool = True


@dataclass(frozen=True)
class Competition(Generic[OnStage]):
    """The entries by name, and the numbers of records that they usually compete for."""

    module: str
    stage: type[OnStage]
    entries: Mapping[str, Entry[OnStage]]
    comparisons: Sequence[Comparison]
    sizes: Sequence[int]

    @property
    def usual(self) -> list[str]:
        """Who competes if nobody is named."""
        return [name for name, entry in self.entries.items() if entry.usual]

    def contenders(self, names: Sequence[str], world: World, stage: OnStage) -> list[Contender]:
        """The contenders of these names, in the order of the list."""
        return [
            entry.make(name, world, stage) for name, entry in self.entries.items() if name in names
        ]
