"""Undone: the offsets of batches that a RESTORE removed, and that nothing else records. Pure.

From the cursor on they are read again. Below it, offsets that Kafka no longer holds are lost, and
those that it holds were passed over: without this, both would be silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.losses import Loss
from sluice.offsets.notation import parse_batch
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.ranges import OffsetRange, without
from sluice.offsets.resets import Reset
from sluice.operations.recover.found_history import FoundHistory
from sluice.operations.recover.holes import Hole, skipped_before
from sluice.tables.batch_commits import LoggedBatch


def undone_and_not_read_again(
    found: FoundHistory,
    kafka: KafkaState,
    opening: Reset,
    told: Iterable[Hole],
    decided: tuple[str, str],
) -> Iterator[Hole]:
    """The offsets below the cursor of undone batches that the offsets table does not know, except
    those that are recorded already.

    They are recorded in the generation that opens: no earlier one counts them.
    """
    state = found.state
    standing = state.data.log.batches_in_effect()
    covered = [each for logged in standing for each in logged.ranges]
    covered += [(each.loss.offsets, each.loss.topic_id) for each in told]
    opened = replace(state.sequence, lane="forward", generation=opening.generation)
    for logged in state.data.log.logged_batches():
        if logged in standing or _is_planned(found, logged):
            continue
        for offsets, topic_id in logged.ranges:
            whole = _up_to_the_next(offsets, topic_id, standing)
            whole = _above_unknown(found, whole, topic_id)
            for cause, part in _causes(whole, topic_id, kafka, opening, decided):
                for left in without([part], [at for at, of in covered if of == topic_id]):
                    covered.append((left, topic_id))
                    yield Hole(opened, kafka.cluster_id, Loss(left, topic_id, cause))


def _up_to_the_next(
    offsets: OffsetRange, topic_id: str, standing: Sequence[LoggedBatch]
) -> OffsetRange:
    """The range, with what no batch has read behind it."""
    starts = [
        other.start
        for logged in standing
        for other, of in logged.ranges
        if (other.partition, of) == (offsets.partition, topic_id) and other.start >= offsets.end
    ]
    return replace(offsets, end=min(starts, default=offsets.end))


def _above_unknown(found: FoundHistory, offsets: OffsetRange, topic_id: str) -> OffsetRange:
    """What of the range is above all rows, where log cleanup has removed commits.

    Below, a batch that nothing shows any more may have read it.
    """
    if found.state.data.log.last_lost < 0:
        return offsets
    place = offsets.partition.of(topic_id)
    aside = found.state.quarantine.ends_in(OffsetScope.whole([place])).get(place, 0)
    end = max(aside, found.rows.ends.get((offsets.partition, topic_id), 0))
    return replace(offsets, start=min(max(offsets.start, end), offsets.end))


def _causes(
    offsets: OffsetRange,
    topic_id: str,
    kafka: KafkaState,
    opening: Reset,
    decided: tuple[str, str],
) -> Iterator[tuple[LossCause, OffsetRange]]:
    """What of the range is below the cursor, by what became of it."""
    log, begins = kafka.logs.get(offsets.partition), opening.by_partition.get(offsets.partition)
    if log is None or log.topic_id != topic_id:
        yield LossCause(LossKind.GONE, *decided), offsets
        return
    held = log.log_start_offset
    # A partition without a cursor begins at the log start.
    here = begins is not None and begins.topic_id == topic_id
    end = begins.offsets.start if begins is not None and here else held
    gone = offsets.first(max(0, min(held, end) - offsets.start))
    yield LossCause(LossKind.DELETED, *decided), gone
    passed_over = offsets.after(gone).first(max(0, end - gone.end))
    yield skipped_before(*decided), passed_over


def _is_planned(found: FoundHistory, logged: LoggedBatch) -> bool:
    sequence, number = parse_batch(found.state.pipeline, logged.name)
    return number <= found.state.snapshot.planned(sequence)
