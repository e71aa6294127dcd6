"""History: what the offsets table holds of a pipeline, as far as the next decision needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.errors import TableRefused
from sluice.planning.batches import Batch, BatchSequence, PlannedRange
from sluice.planning.ranges import TopicPartition


@dataclass(frozen=True)
class History:
    """The forward lane of the newest generation.

    `planned` and `settled` number the last batch that was planned and the last that has a receipt;
    0 where there is none. `batches` are the newest planned ones, in order, without holes, from the
    last that has a receipt on: the last committed one is always among them.
    """

    sequence: BatchSequence
    planned: int = 0
    settled: int = 0
    batches: tuple[Batch, ...] = ()

    def __post_init__(self) -> None:
        numbers = [batch.number for batch in self.batches]
        first = min(self.settled + 1, self.planned, *numbers)
        expected = list(range(first, self.planned + 1)) if self.planned else []
        if numbers != expected or self.settled > self.planned:
            raise TableRefused(
                f"offsets table: {self.sequence.app_id}: expected the plans of batches {expected}"
                f" (settled up to {self.settled}), found {numbers}."
                " Rows were removed: restore the offsets table."
            )

    @property
    def cursor(self) -> Mapping[TopicPartition, PlannedRange]:
        """The last planned range of every partition: its end is where the next batch starts."""
        return self.batches[-1].by_partition if self.batches else {}

    def batch(self, number: int) -> Batch:
        """A batch by its number. Raises KeyError when it is not among the newest."""
        for batch in self.batches:
            if batch.number == number:
                return batch
        raise KeyError(self.sequence.batch(number))

    def after(self, committed: int) -> tuple[Batch, ...]:
        """The planned batches above a number: those that nobody has committed yet."""
        return tuple(batch for batch in self.batches if batch.number > committed)

    def agree_with(self, committed: int, table: str) -> None:
        """Check the data table's last committed batch against the plans and receipts.

        Raises TableRefused when the table lost commits that have receipts, or has unplanned ones.
        """
        if self.settled <= committed <= self.planned:
            return
        found = self.sequence.batch(committed) if committed else "no batch"
        expected = f"between batch {self.settled} (last receipt) and {self.planned} (last plan)"
        raise TableRefused(
            f"{table}: {self.sequence.app_id}: expected a last committed batch {expected}, found"
            f" {found}. The table was dropped, cloned or replaced, or it is another pipeline's:"
            " bring the table back as it was, or choose a new `table` and `pipeline`."
        )
