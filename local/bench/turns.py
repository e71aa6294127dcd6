"""The turns: what each contender took in each, their medians, and the ratios of pairs."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Each = TypeVar("Each")


def in_order(contenders: Sequence[Each], turn: int) -> list[Each]:
    """Who runs after whom: every second turn goes backwards, so that no place is an advantage."""
    return list(contenders) if turn % 2 == 0 else list(contenders)[::-1]


@dataclass(frozen=True)
class Comparison:
    """A contender beside another, and for some numbers of records the most that it may be."""

    ours: str
    theirs: str
    at_most: Mapping[int, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.ours} / {self.theirs}"


@dataclass
class Turns:
    """Seconds by contender: an entry for each turn."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def add(self, contender: str, seconds: float) -> None:
        """Note a turn of a contender."""
        self.seconds.setdefault(contender, []).append(seconds)

    def median(self, contender: str) -> float:
        """The median of its turns."""
        return statistics.median(self.seconds[contender])

    def ratios(self, compared: Comparison) -> list[float]:
        """Pair by pair: both sides of a ratio ran in the same turn."""
        ours, theirs = (self.seconds.get(each, []) for each in (compared.ours, compared.theirs))
        return [one / other for one, other in zip(ours, theirs, strict=False)]


@dataclass(frozen=True)
class Size:
    """The turns with one number of records."""

    records: int
    bytes_each: int
    partitions: int
    turns: Turns = field(default_factory=Turns)

    def take(
        self,
        contenders: Mapping[str, Callable[[], float]],
        rounds: int,
        say: Callable[[str], None],
        warming: int = 0,
    ) -> Iterator[None]:
        """Let the contenders take turns; yields after each round but the first `warming` ones."""
        for turn in range(warming + rounds):
            for name in in_order([*contenders], turn):
                seconds = contenders[name]()
                say(f"round {turn + 1 - warming} of {rounds}: {name} {seconds:.2f} s")
                if turn >= warming:
                    self.turns.add(name, seconds)
            if turn >= warming:
                yield
