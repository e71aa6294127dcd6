"""Landing: what the pipeline asks of the lake, and what the lake may answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from sluice.planning.batches import Batch
from sluice.planning.ranges import OffsetRange


class Undecodable(Exception):
    """A pass met an undecodable record and stopped; nothing was committed."""


@dataclass(frozen=True)
class Malformed:
    """What a pass over a batch found: all its records, the undecodable ones, samples of reasons."""

    records: int
    undecodable: int
    samples: tuple[str, ...] = ()


class Lake(Protocol):
    """How a batch gets from Kafka into the tables."""

    def prepare(self) -> None:
        """Create the data table unless it is there."""

    def land(self, batch: Batch, ranges: list[OffsetRange]) -> None:
        """Commit the batch if all of it is decodable. Raises Undecodable, nothing committed."""

    def quarantine(self, batch: Batch, ranges: list[OffsetRange]) -> Malformed:
        """Make the batch's undecodable records durable, in place of an earlier attempt's."""

    def land_decodable(self, batch: Batch, ranges: list[OffsetRange]) -> None:
        """Commit the batch's decodable records; the others must be in quarantine by now."""
