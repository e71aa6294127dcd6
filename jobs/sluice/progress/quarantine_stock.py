"""The stock of a quarantine: the records that wait there to be replayed or dropped, by reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sluice.errors import SluiceError
from sluice.offsets.error_groups import ErrorGroup, group_errors
from sluice.offsets.quantities import format_count
from sluice.offsets.quarantined import QuarantinedRecord, RecordState
from sluice.progress.lane_state import LaneState
from sluice.progress.quarantined_records import read_quarantined
from sluice.progress.resources import PipelineResources
from sluice.progress.unaltered import check_quarantine

_NAMED = 5


@dataclass(frozen=True)
class WaitingReason:
    """One reason, how many records wait for it, since when, and the latest of them."""

    text: str
    records: int
    since: datetime
    sample: QuarantinedRecord

    def __str__(self) -> str:
        return f"{self.text} ({self.records:,})"

    @classmethod
    def of(cls, group: ErrorGroup) -> WaitingReason:
        """The reason of a group of rows."""
        return cls(group.text, len(group.rows), group.first_seen, group.sample)


@dataclass(frozen=True)
class QuarantineStock:
    """The reasons, the most frequent first; none where no record waits."""

    reasons: tuple[WaitingReason, ...] = ()

    @property
    def records(self) -> int:
        """How many records wait."""
        return sum(each.records for each in self.reasons)

    @property
    def since(self) -> datetime | None:
        """When the first of them was quarantined; None where none waits."""
        return min((each.since for each in self.reasons), default=None)

    def __str__(self) -> str:
        shown = "; ".join(map(str, self.reasons[:_NAMED]))
        more = len(self.reasons) - _NAMED
        rest = f"; and {format_count(more, 'more reason')}" if more > 0 else ""
        return f"{format_count(self.records, 'record')}: {shown}{rest}"


EMPTY = QuarantineStock()


def read_stock(resources: PipelineResources, lane: LaneState) -> QuarantineStock:
    """What waits; an empty table is not read."""
    if lane.quarantine.is_empty:
        return EMPTY
    live = read_quarantined(resources, lane).of(RecordState.LIVE)
    return QuarantineStock(tuple(map(WaitingReason.of, group_errors(live))))


def unless_altered(
    stock: QuarantineStock | None, lane: LaneState, refusal: SluiceError | str | None
) -> QuarantineStock | None:
    """The stock; None where others have altered the table, which refuses the next run: rows that
    they took would still wait.
    """
    if refusal:
        try:
            check_quarantine(lane)
        except SluiceError:
            return None
    return stock


class KnownStocks:
    """The stocks of several pipelines, each read again only where a table of it has changed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, QuarantineStock]] = {}

    def read(self, resources: PipelineResources, lane: LaneState) -> QuarantineStock | None:
        """What waits; None where the table cannot be read."""
        offsets = lane.snapshot.table
        tables = [(each.table_id, each.version) for each in (lane.data, lane.quarantine)]
        now = (*tables, lane.snapshot.table_id, offsets and offsets.version())
        at, known = self._known.get(lane.pipeline, (None, EMPTY))
        if at != now:
            try:
                known = read_stock(resources, lane)
            except SluiceError:
                return None
            self._known[lane.pipeline] = now, known
        return known
