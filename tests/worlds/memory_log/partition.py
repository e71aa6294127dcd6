"""A partition's log: batches, transactions and bounds, as its leader has them. Frozen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from operator import attrgetter
from types import MappingProxyType
from typing import NamedTuple, Self

from tests.worlds.memory_log.batch import Batch, Record

_NEXT_OFFSET = attrgetter("next_offset")


class Ended(NamedTuple):
    """A transaction's part in a partition, from its first offset to its marker."""

    producer_id: int
    first_offset: int
    marker: int
    committed: bool


@dataclass(frozen=True)
class Partition:
    """`end` is the high watermark; `open` the first offset of each transaction that is open."""

    batches: tuple[Batch, ...] = ()
    log_start: int = 0
    end: int = 0
    leader_epoch: int = 0
    open: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    ended: tuple[Ended, ...] = ()

    # Bounds and contents

    @property
    def last_stable_offset(self) -> int:
        """Where a read_committed reader must stop.

        Kafka cuts an open transaction at the log start to whole batches: it may lie below then.
        """
        first = min(self.open.values(), default=self.end)
        if first >= self.log_start:
            return first
        held = next(self.from_offset(self.log_start, self.end), None)
        return held.base_offset if held else self.log_start

    def from_offset(self, start: int, end: int) -> Iterator[Batch]:
        """The batches from the one that holds an offset, or the next one, up to another."""
        at = bisect_right(self.batches, start, key=_NEXT_OFFSET)
        return takewhile(lambda each: each.base_offset < end, islice(self.batches, at, None))

    def aborted(self, start: int, end: int) -> list[Ended]:
        """The aborted transactions that overlap `[start, end)`."""
        return [
            each
            for each in self.ended
            if not each.committed and each.first_offset < end and each.marker >= start
        ]

    def is_aborted(self, batch: Batch) -> bool:
        """Whether its records belong to an aborted transaction."""
        return batch.is_transactional and any(
            each.producer_id == batch.producer_id
            for each in self.aborted(batch.base_offset, batch.next_offset)
        )

    def committed(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, Record]]:
        """The offsets and records that a read_committed reader sees in `[start, end)`."""
        upto = self.last_stable_offset if end is None else min(end, self.last_stable_offset)
        for batch in self.from_offset(max(start, self.log_start), upto):
            if not batch.is_control and not self.is_aborted(batch):
                held = batch.from_offset(max(start, self.log_start))
                yield from (each for each in held if each[0] < upto)

    def markers(self) -> list[int]:
        """The offsets of the transactions' markers that are still there."""
        held = (each for each in self.batches if each.is_control)
        return [each.base_offset for each in held if each.base_offset >= self.log_start]

    def aborted_offsets(self) -> list[int]:
        """The offsets of aborted records that are still there."""
        held = (each for each in self.batches if not each.is_control and self.is_aborted(each))
        return [offset for each in held for offset, _ in each.from_offset(self.log_start)]

    # What becomes of it

    def with_records(self, records: tuple[Record, ...], producer_id: int, written: int) -> Self:
        """With one more batch at the end."""
        numbered = tuple(enumerate(records, self.end))
        batch = self._batch(len(records), producer_id, numbered, written)
        opened = self.open
        if batch.is_transactional and producer_id not in opened:
            opened = MappingProxyType({**opened, producer_id: self.end})
        return replace(self, batches=(*self.batches, batch), end=batch.next_offset, open=opened)

    def with_marker(self, producer_id: int, written: int, *, commits: bool) -> Self:
        """With the marker that ends a transaction which is open here."""
        held = ((self.end, Record(None, None, written)),)
        batch = replace(self._batch(1, producer_id, held, written), commits=commits)
        others = {each: at for each, at in self.open.items() if each != producer_id}
        return replace(
            self,
            batches=(*self.batches, batch),
            end=batch.next_offset,
            open=MappingProxyType(others),
            ended=(*self.ended, Ended(producer_id, self.open[producer_id], self.end, commits)),
        )

    def starting_at(self, before: int) -> Self:
        """With the log start moved on, as by kafka-delete-records: never back, never past the end.

        The batch that holds the new start stays whole.
        """
        start = min(max(self.log_start, before), self.end)
        kept = tuple(each for each in self.batches if each.next_offset > start)
        ended = tuple(each for each in self.ended if each.marker >= start)
        return replace(self, batches=kept, log_start=start, ended=ended)

    def without(self, start: int, end: int) -> Self:
        """As if a disk had lost the batches that lie whole in `[start, end)`."""
        kept = tuple(
            each for each in self.batches if each.base_offset < start or each.next_offset > end
        )
        return replace(self, batches=kept)

    def truncated(self, to: int) -> Self:
        """As a leader has it that never got the rest: ends where a batch of the old log began.

        Transactions that ended in the rest are open again.
        """
        lacking = min((e.base_offset for e in self.batches if e.next_offset > to), default=to)
        end = min(max(lacking, self.log_start), self.end)
        lost = [each for each in self.ended if each.marker >= end]
        # Of a producer's transactions that end in the rest, the first one began before it.
        first = {each.producer_id: each.first_offset for each in reversed(lost)}
        opened = {**self.open, **first}
        return replace(
            self,
            batches=tuple(each for each in self.batches if each.next_offset <= end),
            end=end,
            open=MappingProxyType({each: at for each, at in opened.items() if at < end}),
            ended=tuple(each for each in self.ended if each.marker < end),
            leader_epoch=self.leader_epoch + 1,
        )

    def elected(self) -> Self:
        """Under another leader, which has it all."""
        return replace(self, leader_epoch=self.leader_epoch + 1)

    def _batch(
        self, count: int, producer_id: int, records: tuple[tuple[int, Record], ...], written: int
    ) -> Batch:
        return Batch(self.end, self.end + count, self.leader_epoch, producer_id, records, written)
