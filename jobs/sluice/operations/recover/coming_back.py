"""What may come back: rows that others deleted, and that are read again where a recovery goes on.

If a copy of the rows has replaced the table, the log that showed deletions is gone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sluice.moves import YOUR_WORDS, Move
from sluice.offsets.quantities import format_count
from sluice.offsets.range_columns import LAST_OFFSET
from sluice.offsets.ranges import OffsetRange
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Reset
from sluice.operations.recover.opening import Opening
from sluice.progress.deletions import erased_among
from sluice.progress.erased import RangeToReread, require_consent


def coming_back(opening: Opening, reset: Reset) -> Iterator[str]:
    """What would come back, or may, as the reset opens a generation; one line for each."""
    again = [
        RangeToReread(
            OffsetRange(each.partition, each.after.offsets.start, LAST_OFFSET), each.after.topic_id
        )
        for each in reset.cursor
    ]
    yield from erased_among(opening.found.state, again).lines
    for each in _without_rows(opening, reset):
        rows = format_count(each.records, "row")
        yield (
            f"{each.batch}: its receipt counts {rows} in another table, this one has none: it may"
            " be an older copy, or others have deleted them"
        )
    if opening.uncertain:
        for moved in reset.cursor:
            log = opening.kafka.logs.get(moved.partition)
            start = moved.after.offsets.start
            if log is not None and start < log.last_stable_offset:
                yield (
                    f"{moved.partition} from {start} on: behind the last row, if any, nothing"
                    " tells how far it was read; others may have deleted rows there"
                )


def _without_rows(opening: Opening, reset: Reset) -> Iterator[Receipt]:
    """The receipts of another table's batches that the new generation would read again."""
    state = opening.found.state
    starts = {(each.partition, each.after.topic_id): each.after.offsets for each in reset.cursor}
    for sequence, last in opening.found.ends.items():
        if sequence.lane == "backfill":
            continue
        settled = state.snapshot.settled(sequence)
        for each in state.snapshot.receipts_of(sequence, last + 1, settled):
            again = [
                line
                for line in each.counted
                if (at := starts.get((line.planned.offsets.partition, line.planned.topic_id)))
                and at.start < line.planned.offsets.end
            ]
            elsewhere = each.batch.data_table_id != state.data.table_id
            if elsewhere and any(line.records for line in again):
                yield each


def require_may_come_back(pipeline: str, lines: Sequence[str], bring_back: bool) -> None:
    """Raises RowsErased, unless what is deleted may come back."""
    otherwise = (
        "offsets that are not to be read again are passed over by a reset behind it, before the"
        " next run."
    )
    allowed = Move(
        "recover", (pipeline, "--bring-back-erased", "--execute", "--reason", YOUR_WORDS)
    )
    require_consent(pipeline, lines, bring_back, allowed, otherwise)
