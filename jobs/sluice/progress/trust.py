"""Trust: whether the data table is the one that plans, receipts and resets speak of.

One value for every look: the table's Delta id, its version, the fences of closed generations, the
batches committed in each lane, and rows where none is known. Whoever reads a lane's state has it
checked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sluice.errors import TableRefused, as_lines
from sluice.moves import Advice, Part, advice
from sluice.offsets.batches import BatchSequence
from sluice.offsets.history import LaneHistory
from sluice.offsets.receipts import Receipt
from sluice.progress.ways_back import (
    PUT_BACK,
    by_recovery,
    by_reset_to_table,
    not_landed,
    other_table,
)
from sluice.tables.batch_commits import ANOTHER, OTHER_OFFSETS
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.fence import FENCE


@dataclass(frozen=True)
class LaneEnds:
    """What is known of a lane: its last receipt and its last plan, by number.

    `closed` is the last batch whose quarantine is closed, which follows its commit; of a lane that
    is closed whole, no batch's number. `newest` is that receipt, if there is one.
    """

    sequence: BatchSequence
    settled: int
    planned: int
    closed: int = 0
    newest: Receipt | None = None


@dataclass(frozen=True)
class KnownTable:
    """The data table as the offsets table knows it.

    `table_ids` are those that its rows name, `version` is the highest that a row names, else 0.
    `closed` are the sequences of earlier generations.
    """

    table_ids: tuple[str, ...]
    version: int
    lanes: tuple[LaneEnds, ...]
    closed: tuple[BatchSequence, ...]

    def require(self, found: DeltaSnapshot) -> None:
        """Raises TableRefused, with the way back, unless the table found is this one."""
        _refuse(found, self.differences(found))

    def require_known(self, found: DeltaSnapshot) -> None:
        """Raises TableRefused unless the table found has the known id, and no unknown batch."""
        _refuse(found, [*self._other_table(found), *self._unknown_batches(found)])

    def differences(self, found: DeltaSnapshot) -> Iterator[Advice]:
        """What contradicts the offsets table, each with the way back."""
        to_table = by_reset_to_table(self.lanes[0].sequence.pipeline)
        if other := list(self._other_table(found)):
            yield from other
            return
        if found.version is not None and found.version < self.version:
            yield advice(
                f"expected version {self.version} or later, found {found.version}: an older copy"
                f" was put back. {PUT_BACK}; or ",
                to_table,
                ".",
            )
        opened = [each for each in self.closed if found.committed(each) != FENCE]
        if opened:
            yield advice(
                f"expected the fences of {', '.join(map(str, opened))}, which resets have closed,"
                f" found none. {PUT_BACK}; or ",
                to_table,
                ", and closes them again.",
            )
        for lane in self.lanes:
            committed = found.committed(lane.sequence)
            if committed < lane.settled:
                yield advice(f"{_wanted(lane, committed)}. {PUT_BACK}; or ", to_table, ".")
            elif committed < lane.closed and lane.planned and found.version is not None:
                yield not_landed(lane.sequence, lane.closed)
            elif lane.newest:
                yield from _another_commit(lane, lane.newest, found, to_table)
        yield from self._unknown_batches(found)
        yield from self._unknown_rows(found)

    def _unknown_rows(self, found: DeltaSnapshot) -> Iterator[Advice]:
        """Rows in a table that no batch has landed in: no pipeline begins with it.

        A table is new if it has no rows and no transaction ids, whatever is remembered of it.
        """
        if self.table_ids or self.closed:
            return
        if any(found.committed(each.sequence) for each in self.lanes):
            yield from self._missing_batches(found)
        elif not found.is_empty:
            yield advice(
                "expected no rows, as no batch is known to have landed, found some: a copy of the"
                " table is in its place, and the offsets table is an older one, or lost. Bring both"
                " back as they were; or ",
                by_recovery(self.lanes[0].sequence.pipeline),
                ".",
            )

    def _missing_batches(self, found: DeltaSnapshot) -> Iterator[Advice]:
        """Batches that landed elsewhere, where others of their sequence landed here.

        Only before the first receipt: from then on every look knows the table by its Delta id.
        """
        if found.log.last_lost >= 0:
            return
        there = {each.name for each in found.log.logged_batches()}
        for lane in self.lanes:
            last = min(found.committed(lane.sequence), lane.planned)
            names = [lane.sequence.batch(number) for number in range(1, last + 1)]
            if missing := [name for name in names if name not in there]:
                yield advice(
                    f"expected the commits of batches 1 to {last} of {lane.sequence}, found none of"
                    f" {missing[0]}: another table was in its place when that landed. Bring it"
                    " back; or ",
                    by_recovery(lane.sequence.pipeline),
                    ", and what follows is read again.",
                )

    def _unknown_batches(self, found: DeltaSnapshot) -> Iterator[Advice]:
        for lane in self.lanes:
            committed = found.committed(lane.sequence)
            if committed > lane.planned:
                yield advice(
                    f"{_wanted(lane, committed)}: the offsets table is an older one, or lost. Bring"
                    " the newest back; or ",
                    by_recovery(lane.sequence.pipeline),
                    ".",
                )

    def _other_table(self, found: DeltaSnapshot) -> Iterator[Advice]:
        if {*self.table_ids} - {found.table_id}:
            pipeline = self.lanes[0].sequence.pipeline
            yield other_table(pipeline, " or ".join(self.table_ids), found)


def _another_commit(
    lane: LaneEnds, receipt: Receipt, found: DeltaSnapshot, to_table: Advice
) -> Iterator[Advice]:
    """A batch that landed while an older copy was being put back: the one before it is not there.

    Its transaction id hides that from then on; what shows it are the commits of those before. Or
    the receipts are of another copy, in which other batches have landed under the same names.
    """
    version, last = receipt.data_version, found.committed(lane.sequence)
    if receipt.batch.data_table_id not in (None, found.table_id) or last == FENCE:
        return
    instead = found.log.instead_of(receipt.batch, version)
    if instead == OTHER_OFFSETS:
        yield advice(
            f"expected {receipt.batch} of the offsets that its receipt names, found {instead}: the"
            " offsets table is another copy's. Bring this table's back; or ",
            by_recovery(lane.sequence.pipeline),
            ".",
        )
        return
    if instead:
        missing = f"{receipt.batch} in version {version}, as its receipt says"
    elif last > lane.settled + 1 and found.log.lacks(lane.sequence, last - 1, version):
        missing = f"{lane.sequence.batch(last - 1)} before {lane.sequence.batch(last)}"
    else:
        return
    yield advice(
        f"expected {missing}, found {ANOTHER}: an older copy was put back, and a batch landed in"
        f" it. {PUT_BACK}; or ",
        to_table,
        ".",
    )


def _refuse(found: DeltaSnapshot, findings: Iterable[Part]) -> None:
    lines = [advice(f"{found.uri}: ", each) for each in findings]
    if lines:
        raise TableRefused(as_lines(lines))


def _wanted(lane: LaneEnds, committed: int) -> str:
    name = lane.sequence.batch(committed) if committed else "no batch"
    return (
        f"{lane.sequence.app_id}: expected a last committed batch between {lane.settled} (last"
        f" receipt) and {lane.planned} (last plan), found"
        f" {'a fence' if committed == FENCE else name}"
    )


def known_table(
    lanes: Sequence[LaneEnds],
    history: LaneHistory,
    receipts: Sequence[Receipt],
    closed: Iterable[BatchSequence],
) -> KnownTable:
    """What the rows of a generation say."""
    opening = history.opening
    named = [opening.data_table_id] if opening else []
    named += [each.data_table_id for each in (*history.batches, *(e.batch for e in receipts))]
    ids = tuple(sorted({each for each in named if each is not None}))
    versions = [each.data_version for each in receipts]
    versions += [opening.data_version] if opening else []
    return KnownTable(ids, max(versions, default=0), tuple(lanes), tuple(closed))
