"""How the ranges lie beside each other: invariants 3 (tiled) and 6 (monotone)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.oracle.batches import Batch, LaneHistory
from tests.oracle.coverage import Coverage
from tests.oracle.evidence import Evidence
from tests.oracle.offsets_rows import OffsetsRow
from tests.oracle.violation import Violation

Cursors = dict[tuple[str, int], tuple[str, int]]


def planned_once(evidence: Evidence) -> Iterator[Violation]:
    """Numbers without holes, one row per batch and partition, ranges that Kafka has ended."""
    history = evidence.history
    for (lane, generation), top in history.tops.items():
        batches = history.lane(lane, generation)
        numbers = [batch.number for batch in batches]
        wanted = list(range(1, max([top, *numbers]) + 1))
        if numbers != wanted:
            missing = sorted(set(wanted) ^ set(numbers))
            yield Violation(
                3, f"{lane}-{generation}", "plans numbered from 1 without holes", f"not {missing}"
            )
        yield from _compared_and_set(evidence, lane, generation, max(numbers, default=0))
        for batch in batches:
            yield from _well_formed(evidence, batch)


def _compared_and_set(
    evidence: Evidence, lane: str, generation: int, last: int
) -> Iterator[Violation]:
    app = evidence.history.app(lane, generation)
    found = evidence.offsets.transactions.get(app, 0)
    if found < last:
        yield Violation(3, f"offsets table, txn {app}", f"at least {last}", str(found))


def _well_formed(evidence: Evidence, batch: Batch) -> Iterator[Violation]:
    for place, count in Counter(row.place for row in batch.plan).items():
        if count > 1:
            where = f"{batch.label} {evidence.coordinates.topics[place[0]]}[{place[1]}]"
            yield Violation(3, where, "planned once", f"{count} plans")
    for row in batch.plan:
        truth = evidence.truth.partitions.get(row.place)
        known = row.last_stable_offset, truth.end if truth else None
        ends = [end for end in known if end is not None]
        if not 0 <= row.start_offset <= row.end_offset:
            yield Violation(3, str(row), "start <= end", "no offset range")
        if row.end_offset > min([row.end_offset, *ends]):
            yield Violation(3, str(row), f"an end at or below the LSO {min(ends)}", "one beyond")
        if (row.format_version, row.batch) != (2, batch.label):
            found = f"version {row.format_version}, batch {row.batch}"
            yield Violation(3, str(row), f"format version 2, batch {batch.label}", found)


def tiled(evidence: Evidence) -> Iterator[Violation]:
    """Forward ranges touch, from the first plan to the last, but for recorded resets and losses."""
    history = evidence.history
    losses = Coverage()
    for row in history.losses:
        losses.add(row.place, row.start_offset, row.end_offset)
    for generation in history.generations:
        cursors = _reset_cursors(history, generation)
        top = history.tops["forward", generation]
        dead = generation != history.newest_generation
        batches = history.lane("forward", generation)
        for batch in (b for b in batches if b.number <= top or not dead):
            fresh = generation == 1 and batch.number == 1
            yield from _partitions_kept(evidence, batch, cursors)
            for row in batch.plan:
                yield from _touches(row, cursors, losses, fresh)
                cursors[row.topic, row.partition] = (row.topic_id, row.end_offset)
    yield from _backfill_below(history)


def _reset_cursors(history: LaneHistory, generation: int) -> Cursors:
    rows = [row for row in history.decisive_resets(generation) if row.lane == "forward"]
    return {(r.topic, r.partition): (r.topic_id, r.cursor_after or 0) for r in rows}


def _partitions_kept(evidence: Evidence, batch: Batch, cursors: Cursors) -> Iterator[Violation]:
    """A plan lists every partition that an earlier one listed and Kafka still has."""
    listed = {(row.topic, row.partition) for row in batch.plan}
    present = {(p.topic, p.partition) for p in evidence.truth.partitions.values()}
    for topic, partition in sorted((set(cursors) & present) - listed):
        where = f"{batch.label} {topic}[{partition}]"
        yield Violation(3, where, "every partition in every plan", "not listed")


def _touches(
    row: OffsetsRow, cursors: Cursors, losses: Coverage, fresh: bool
) -> Iterator[Violation]:
    before: tuple[str, int | None] = cursors.get((row.topic, row.partition), (row.topic_id, None))
    topic_id, cursor = before
    if topic_id != row.topic_id and row.topic_id in _ids_read(cursors, row.topic):
        # The topic is known by its other partitions: to it this one is new.
        cursor = None
    if cursor is None and (fresh or row.start_offset == row.log_start_offset):
        return
    if cursor is None:
        yield Violation(3, str(row), f"a new partition from {row.log_start_offset}", "a later one")
    elif topic_id != row.topic_id:
        yield from _recreated(row, topic_id, cursor, losses)
    elif row.start_offset > cursor and not losses.covers(row.place, cursor, row.start_offset):
        yield Violation(3, str(row), f"a start at the cursor {cursor}", "a hole before it")
    elif row.start_offset < cursor:
        yield Violation(3, str(row), f"a start at the cursor {cursor}", "an overlap")
        yield Violation(6, str(row), "a cursor that moves back by a reset only", "none recorded")


def _ids_read(cursors: Cursors, topic: str) -> set[str]:
    return {topic_id for (name, _), (topic_id, _) in cursors.items() if name == topic}


def _recreated(
    row: OffsetsRow, topic_id: str, cursor: int, losses: Coverage
) -> Iterator[Violation]:
    """A topic made anew starts at its beginning; what was lost with the old one, nobody knows."""
    reset = row.batch_id == 1 and row.start_offset == cursor
    if row.start_offset != row.log_start_offset and not reset:
        yield Violation(3, str(row), f"the new topic from {row.log_start_offset}", "a later start")
    told = {row.place, (topic_id, row.partition)} & losses.places
    if not reset and not told:
        found = f"topic id {topic_id} before, {row.topic_id} now"
        yield Violation(9, str(row), "a loss row for the re-created topic", found)


def _backfill_below(history: LaneHistory) -> Iterator[Violation]:
    """A backfill never reads beyond what some forward cursor has reached."""
    reach: dict[tuple[str, int], int] = {}
    for row in history.rows:
        if row.lane == "forward":
            ends = [row.end_offset, row.cursor_after, row.cursor_before, reach.get(row.place)]
            reach[row.place] = max(end for end in ends if end is not None)
    for batch in (b for b in history.planned.values() if b.lane == "backfill"):
        for row in batch.plan:
            if row.end_offset > max(row.start_offset, reach.get(row.place, 0)):
                yield Violation(3, str(row), f"an end below {reach.get(row.place, 0)}", "beyond")


def fenced(evidence: Evidence) -> Iterator[Violation]:
    """A generation with a successor was closed, exactly and for good, by a recorded reset."""
    history = evidence.history
    for (lane, generation), closing in history.closings.items():
        where = f"{lane}-{generation}"
        followers = [b for b in history.planned.values() if b.generation > generation]
        if closing.fenced and closing.closed_at is None:
            yield Violation(6, where, "a reset row with closed_at for the fence", "none")
        used = lane == "forward" or history.lane(lane, generation)
        if followers and used and not closing.fenced:
            yield Violation(6, where, "a fence before plans of the next", "none")
        if closing.fenced and closing.closed_at is not None and not evidence.restored:
            last = max((b.number for b in _landed(history, lane, generation)), default=0)
            if closing.closed_at != last:
                yield Violation(6, where, f"closed_at {last}", str(closing.closed_at))


def _landed(history: LaneHistory, lane: str, generation: int) -> list[Batch]:
    return [batch for batch in history.lane(lane, generation) if batch.label in history.landed]


def monotone(evidence: Evidence) -> Iterator[Violation]:
    """No txn of the pipeline ever falls, and every reset tells the cursor that it moved."""
    ours = f"sluice:{evidence.history.pipeline}:"
    for log in (evidence.data, evidence.offsets):
        reached = dict(log.base_transactions)
        for version in log.versions:
            for app, number in version.transactions.items():
                if app.startswith(ours) and number < reached.get(app, 0):
                    where = f"{log.root.name} version {version.number}, txn {app}"
                    yield Violation(6, where, f"at least {reached[app]}", str(number))
                reached[app] = number
    if not evidence.restored:
        yield from _told_cursors(evidence.history)


def _told_cursors(history: LaneHistory) -> Iterator[Violation]:
    for generation in history.generations:
        top = history.tops["forward", generation]
        last = [b for b in history.lane("forward", generation) if b.number == top]
        cursors = {row.place: row.end_offset for batch in last for row in batch.plan}
        for row in history.decisive_resets(generation + 1):
            cursor = cursors.get(row.place, row.cursor_before)
            if row.lane == "forward" and row.cursor_before != cursor:
                yield Violation(6, str(row), f"cursor_before {cursor}", str(row.cursor_before))
