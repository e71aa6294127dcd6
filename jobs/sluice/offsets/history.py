"""History: the part of a pipeline's offsets table that the next decision needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from sluice.offsets.batches import Batch, BatchSequence, PlannedRange
from sluice.offsets.damage import rows_removed
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.resets import Reset


@dataclass(frozen=True)
class LaneHistory:
    """One lane of a generation.

    `planned` and `settled` number the last planned batch and the last batch with a receipt; 0 where
    there is none. `batches` are the newest planned ones, in order and without holes, starting with
    the last one that has a receipt: the last committed batch is always among them. `opening` is the
    reset that opened the generation, None for the first.
    """

    sequence: BatchSequence
    planned: int = 0
    settled: int = 0
    batches: tuple[Batch, ...] = ()
    opening: Reset | None = None

    def __bool__(self) -> bool:
        """Whether there is a cursor: a pipeline without one resolves its `start`."""
        return bool(self.planned or self.opening)

    def __post_init__(self) -> None:
        numbers = [batch.number for batch in self.batches]
        first = min(self.settled + 1, self.planned, *numbers)
        expected = list(range(first, self.planned + 1)) if self.planned else []
        if numbers != expected or self.settled > self.planned:
            raise rows_removed(
                self.sequence.pipeline,
                f"{self.sequence.app_id}: expected the plans of batches {expected} (settled up to"
                f" {self.settled}), found {numbers}",
            )

    @property
    def cursor(self) -> Mapping[TopicPartition, PlannedRange]:
        """The last planned range of every partition; the next batch starts at its end."""
        if self.batches:
            return self.batches[-1].by_partition
        return self.opening.by_partition if self.opening else {}

    @property
    def complete_until(self) -> datetime | None:
        """Until when the table is complete once all that is planned is committed."""
        return self.batches[-1].complete_until if self.batches else None

    def without_moment(self) -> LaneHistory:
        """The same, with nothing known of until when the table is complete."""
        batches = (replace(each, complete_until=None) for each in self.batches)
        return replace(self, batches=tuple(batches))

    @property
    def cluster_id(self) -> str:
        """The cluster that the cursor belongs to. Raises IndexError where there is no cursor."""
        if self.opening and not self.batches:
            return self.opening.cluster_id
        return self.batches[-1].cluster_id

    def cursor_at(self, committed: int) -> Mapping[TopicPartition, PlannedRange]:
        """Where each partition's next batch starts, given the last committed batch."""
        if committed:
            return self.batch(committed).by_partition
        return self.opening.by_partition if self.opening else {}

    def batch(self, number: int) -> Batch:
        """A batch by its number. Raises KeyError when it is not among the newest."""
        for batch in self.batches:
            if batch.number == number:
                return batch
        raise KeyError(self.sequence.batch(number))

    def after(self, committed: int) -> tuple[Batch, ...]:
        """The planned batches above a committed number: those not committed yet."""
        return tuple(batch for batch in self.batches if batch.number > committed)
