"""Trust: whether the data table is the one that plans, receipts and resets speak of.

One value for every look: the table's Delta id, its version, the fences of closed generations, and
the batches committed in each lane. Whoever reads a lane's state has it checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sluice.errors import TableRefused, as_lines
from sluice.offsets.batches import BatchSequence
from sluice.offsets.history import LaneHistory
from sluice.offsets.receipts import Receipt
from sluice.tables.delta_log import DeltaSnapshot
from sluice.tables.fence import FENCE

_PUT_BACK = "Bring the table back as it was"
_TO_TABLE = "`sluice reset {pipeline} --to-table` goes on from the rows that are there"
_RECOVER = "`sluice recover {pipeline}` builds the offsets table anew from the table that is there"


@dataclass(frozen=True)
class LaneEnds:
    """What the offsets table knows of a lane: its last receipt and its last plan, by number."""

    sequence: BatchSequence
    settled: int
    planned: int


@dataclass(frozen=True)
class KnownTable:
    """The data table as the offsets table knows it.

    `table_id` is None while no row names one; `version` is the highest that a row names, else 0.
    `closed` are the sequences of earlier generations.
    """

    table_id: str | None
    version: int
    lanes: tuple[LaneEnds, ...]
    closed: tuple[BatchSequence, ...]

    def require(self, found: DeltaSnapshot) -> None:
        """Raises TableRefused, with the way back, unless the table found is this one."""
        findings = list(self._differences(found))
        if findings:
            raise TableRefused(as_lines(f"{found.uri}: {each}" for each in findings))

    def _differences(self, found: DeltaSnapshot) -> Iterator[str]:
        pipeline = self.lanes[0].sequence.pipeline
        to_table, recover = _TO_TABLE.format(pipeline=pipeline), _RECOVER.format(pipeline=pipeline)
        if self.table_id is not None and found.table_id != self.table_id:
            yield other_table(pipeline, self.table_id, found)
            return
        if found.version is not None and found.version < self.version:
            yield (
                f"expected version {self.version} or later, found {found.version}: an older copy"
                f" was put back. {_PUT_BACK}; or {to_table}."
            )
        opened = [each for each in self.closed if found.committed(each) != FENCE]
        if opened:
            yield (
                f"expected the fences of {', '.join(map(str, opened))}, which resets have closed,"
                f" found none. {_PUT_BACK}; or {to_table}, and closes them again."
            )
        for lane in self.lanes:
            yield from _contradictions(lane, found.committed(lane.sequence), to_table, recover)


def other_table(pipeline: str, expected: str | None, found: DeltaSnapshot) -> str:
    """What to say about another table in the place of the expected one, or none."""
    return (
        f"expected Delta table {expected}, found {found.table_id or 'no table'}: it was dropped, or"
        f" another is in its place. {_PUT_BACK}, or check the mount of the warehouse; or"
        f" {_RECOVER.format(pipeline=pipeline)}."
    )


def _contradictions(lane: LaneEnds, committed: int, to_table: str, recover: str) -> Iterator[str]:
    if lane.settled <= committed <= lane.planned:
        return
    name = lane.sequence.batch(committed) if committed else "no batch"
    wanted = (
        f"{lane.sequence.app_id}: expected a last committed batch between {lane.settled} (last"
        f" receipt) and {lane.planned} (last plan), found {name}"
    )
    if committed < lane.settled:
        yield f"{wanted}. {_PUT_BACK}; or {to_table}."
    else:
        yield f"{wanted}: the offsets table is an older one. Bring that one back; or {recover}."


def known_table(
    lanes: Sequence[LaneEnds],
    history: LaneHistory,
    receipts: Sequence[Receipt],
    closed: Iterable[BatchSequence],
) -> KnownTable:
    """What the rows of a generation say. Raises TableRefused where they name several tables."""
    opening = history.opening
    named = [opening.data_table_id] if opening else []
    named += [each.data_table_id for each in (*history.batches, *(e.batch for e in receipts))]
    ids = sorted({each for each in named if each is not None})
    if len(ids) > 1:
        raise TableRefused(
            f"offsets table: {lanes[0].sequence}: expected plans and receipts of one data table,"
            f" found several: {', '.join(ids)}. Bring the right one back: `sluice history"
            f" {lanes[0].sequence.pipeline}` lists them."
        )
    versions = [each.data_version for each in receipts]
    versions += [opening.data_version] if opening else []
    return KnownTable(next(iter(ids), None), max(versions, default=0), tuple(lanes), tuple(closed))
