"""Resets: what closed a generation of both lanes, and where the next one starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.errors import TableRefused
from sluice.planning.batches import BatchSequence, Lane, PlannedRange
from sluice.planning.ranges import TopicPartition

LANES: tuple[Lane, Lane] = ("forward", "backfill")


@dataclass(frozen=True)
class MovedCursor:
    """One partition: the cursor before, and after as the empty range `[after, after)`."""

    after: PlannedRange
    before: int | None

    @property
    def partition(self) -> TopicPartition:
        """Whose cursor it is."""
        return self.after.offsets.partition


@dataclass(frozen=True)
class Reset:
    """Closes a generation and opens the next one, which is `generation`.

    `closed_at` numbers the last batch of each lane that counts; `data_version` is the version of
    the data table that this was decided on.
    """

    pipeline: str
    generation: int
    closed_at: Mapping[Lane, int]
    cursor: tuple[MovedCursor, ...]
    cluster_id: str
    data_version: int
    reason: str
    done: bool = False

    @property
    def closes(self) -> tuple[BatchSequence, ...]:
        """The sequences that end with it."""
        return tuple(BatchSequence(self.pipeline, lane, self.generation - 1) for lane in LANES)

    @property
    def by_partition(self) -> Mapping[TopicPartition, PlannedRange]:
        """Where the generation starts, by partition."""
        return {each.partition: each.after for each in self.cursor}


@dataclass(frozen=True)
class Resets:
    """Every reset of a pipeline that was recorded: by the generation that it opens, from 2 on.

    Of several intentions for a generation it is the one that was done, else the latest.
    """

    by_generation: Mapping[int, Reset]

    @property
    def newest(self) -> Reset | None:
        """The latest one."""
        return self.by_generation[max(self.by_generation)] if self.by_generation else None

    def closed_at(self, sequence: BatchSequence) -> int:
        """The last batch of a closed sequence that counts.

        Raises TableRefused when no reset says so.
        """
        closing = self.by_generation.get(sequence.generation + 1)
        if closing is None:
            raise TableRefused(
                f"offsets table: {sequence.app_id} is closed in the data table; expected the reset"
                " that closed it, found none. Rows were removed: restore the offsets table."
            )
        return closing.closed_at[sequence.lane]

    def reached(self, generation: int) -> Mapping[tuple[str, TopicPartition], int]:
        """Up to where each partition of each topic id was committed before a generation."""
        highest: dict[tuple[str, TopicPartition], int] = {}
        for number, reset in self.by_generation.items():
            for each in reset.cursor if number <= generation else ():
                place = (each.after.topic_id, each.partition)
                highest[place] = max(highest.get(place, 0), each.before or 0)
        return highest
