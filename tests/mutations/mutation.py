"""A mutation: one piece of the product's sources, what it is replaced by, and who must notice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mutation:
    """A piece of a source, whose place is below `jobs/`, and what it is replaced by."""

    name: str
    file: str
    old: str
    new: str

    def of(self, jobs: Path) -> str:
        """The text of the source with the mutation."""
        text = (jobs / self.file).read_text(encoding="utf-8")
        assert text.count(self.old) == 1, f"{self.file}: {self.old!r} is not there once"
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class SeenByOracle(Mutation):
    """`scenario` shows the difference; of the invariants `broken` one at least must be red."""

    scenario: str
    broken: frozenset[int]

    @property
    def on_spark(self) -> bool:
        """Whether its scenario must land with Spark: the tests' own lake has nothing of it."""
        return self.file.startswith("sluice/lake/")


@dataclass(frozen=True)
class SeenByTest(Mutation):
    """`test` must fail: a node of pytest."""

    test: str
