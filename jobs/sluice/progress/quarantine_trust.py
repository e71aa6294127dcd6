"""The quarantine's trust: whether its table is the one that plans and receipts speak of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sluice.errors import TableRefused, as_lines
from sluice.moves import Advice, Move, advice
from sluice.offsets.batches import Batch
from sluice.offsets.quarantine_tickets import closing_number
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import LANES
from sluice.tables.ownership import OWNER, told_to_be
from sluice.tables.quarantine_table import QuarantineSnapshot

if TYPE_CHECKING:
    from sluice.progress.lane_state import LaneState


@dataclass(frozen=True)
class KnownQuarantine:
    """The quarantine table as the offsets table knows it.

    `table_ids` are those that the newest plans and receipts name; none before that was recorded.
    `closed` are the last batches that have a receipt, whose quarantine must be closed.
    """

    pipeline: str
    table_ids: tuple[str, ...]
    closed: tuple[Batch, ...]

    def require(self, found: QuarantineSnapshot) -> None:
        """Raises TableRefused, with the way back, unless the table found is this one."""
        lines = [advice(f"{found.uri}: ", each) for each in self.differences(found)]
        if lines:
            raise TableRefused(as_lines(lines))

    def differences(self, found: QuarantineSnapshot) -> Iterator[Advice]:
        """What contradicts the offsets table, each with the way back."""
        others = sorted({*self.table_ids} - {found.table_id, *found.replaced})
        if others and found.table_id is None:
            yield advice(
                f"expected Delta table {' or '.join(others)}, found no table: it was dropped."
                " Bring it back; or ",
                quarantine_way_back(self.pipeline),
            )
        elif others:
            yield advice(
                f"expected Delta table {' or '.join(others)}, found {found.table_id}: it was"
                " dropped, and another is in its place. Bring it back; or ",
                quarantine_way_back(self.pipeline),
                self._if_a_copy(found),
            )
        elif opened := self.opened(found):
            yield advice(
                f"expected the quarantine of {', '.join(map(str, opened))} to be closed, found it"
                " open: an older copy of the table was put back, or its recovery was stopped. Bring"
                " the newest back; or ",
                quarantine_way_back(self.pipeline),
            )

    def _if_a_copy(self, found: QuarantineSnapshot) -> str:
        if OWNER in found.settings.properties:
            return ""
        told = told_to_be(found.uri, self.pipeline)
        return f" If it is a copy of its rows, say so before, and they stay: {told}."

    def opened(self, found: QuarantineSnapshot) -> list[Batch]:
        """The batches that have a receipt, and whose quarantine is open all the same."""
        return [e for e in self.closed if found.number(e.sequence) < closing_number(e.number)]


def quarantine_way_back(pipeline: str) -> Advice:
    """What leads on from a quarantine table that is not as it was."""
    return advice(
        Move("quarantine recover", (pipeline,)),
        " reads again what Kafka still holds of its records, and tells the others as lost.",
    )


def known_quarantine(state: LaneState) -> KnownQuarantine:
    """What the newest plans and receipts say of the quarantine table."""
    newest = [each.batch for each in _newest_receipts(state)]
    named = (each.quarantine_table_id for each in (*state.history.batches, *newest))
    return KnownQuarantine(
        state.pipeline,
        tuple(sorted({each for each in named if each is not None})),
        tuple(each for each in newest if each.quarantine_table_id is not None),
    )


def _newest_receipts(state: LaneState) -> Iterator[Receipt]:
    """The newest receipt of each lane that counts, of whatever generation.

    What a reset has left out is read again: nothing is asked of its quarantine.
    """
    for lane in LANES:
        for generation in range(state.generation, 0, -1):
            sequence = replace(state.sequence, lane=lane, generation=generation)
            last = state.snapshot.settled(sequence)
            if last and generation < state.generation:
                last = min(last, state.resets.closed_at(sequence))
            if last:
                yield from state.snapshot.receipts_of(sequence, last, last)
                break
