"""The actions by name, each with how often it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.simulation.history import Draws
from tests.simulation.world import World

Act = Callable[[World, Draws], None]
_T = TypeVar("_T")


@dataclass(frozen=True)
class Action:
    """One thing that may happen; where it cannot, nothing does.

    A `fault` takes something away that Kafka, the tables or the reader had: few come at once.
    """

    name: str
    weight: int
    act: Act
    fault: bool = False


ACTIONS: dict[str, Action] = {}


def action(weight: int = 10, *, fault: bool = False) -> Callable[[Act], Act]:
    """Register a function under its name, with spaces."""

    def register(act: Act) -> Act:
        name = act.__name__.replace("_", " ")
        ACTIONS[name] = Action(name, weight, act, fault)
        return act

    return register


def pick(found: Sequence[_T], draw: int) -> _T:
    """One of them."""
    return found[draw % len(found)]
