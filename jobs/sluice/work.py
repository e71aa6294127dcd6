"""Work: which batches a run is about. A reference, small enough for XCom; never offsets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.planning.batches import BatchSequence


@dataclass(frozen=True)
class Work:
    """Some batches of one sequence, by number; falsy when there is nothing to do."""

    sequence: BatchSequence
    batches: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.batches)

    def __str__(self) -> str:
        if not self.batches:
            return "nothing"
        names = [self.sequence.batch(number) for number in self.batches]
        return names[0] if len(names) == 1 else f"{names[0]} … {names[-1]} ({len(names)} batches)"

    @property
    def pipeline(self) -> str:
        """The pipeline's name."""
        return self.sequence.pipeline

    def as_dict(self) -> dict[str, Any]:
        """The reference as JSON-able values."""
        return {
            "pipeline": self.sequence.pipeline,
            "lane": self.sequence.lane,
            "generation": self.sequence.generation,
            "batches": list(self.batches),
        }

    @classmethod
    def from_dict(cls, reference: Mapping[str, Any]) -> Work:
        """Read a reference back. Raises KeyError or ValueError when it is none."""
        lane = reference["lane"]
        if lane not in ("forward", "backfill"):
            raise ValueError(f"lane: expected forward or backfill, found {lane!r}")
        try:
            sequence = BatchSequence(str(reference["pipeline"]), lane, int(reference["generation"]))
            return cls(sequence, tuple(int(number) for number in reference["batches"]))
        except TypeError as problem:
            raise ValueError(f"{dict(reference)} is not a reference: {problem}") from None
