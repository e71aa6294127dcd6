"""A contender: what is timed, one turn after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from local.bench.world import World


@dataclass
class Contender(ABC):
    """It has a folder of its own in the world, which each turn but a warm one finds empty."""

    name: str
    world: World

    def prepare(self) -> None:
        """Make what must be there before the first turn; not measured."""
        return

    @abstractmethod
    def seconds(self) -> float:
        """One turn. Raises ClickException unless every record was landed once."""
