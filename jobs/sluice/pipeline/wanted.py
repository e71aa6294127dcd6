"""What an operator wants read again: a time window, offset ranges, or whole batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from sluice.broker.kafka_state import KafkaState
from sluice.errors import SettingsError
from sluice.pipeline.committed import losses_that_count
from sluice.pipeline.parts import Parts
from sluice.pipeline.quarantined import read_quarantined
from sluice.planning.aside import Choice, State
from sluice.planning.backfills import Wanted
from sluice.planning.batches import parse_batch
from sluice.planning.ranges import OffsetRange, TopicPartition, merged, parse_range, without
from sluice.planning.skips import recorded_skips
from sluice.planning.written import parse_moment

# Reading as many records again costs less than one more batch.
_NEAR = 100_000
_SKIPPED = "somebody has decided to skip it; `--range` reads it"

Asked = Callable[[Parts, KafkaState], list[Wanted]]
"""Answers with the wanted offsets, as Kafka is now. Raises SettingsError."""


def asked(
    start: str | None = None,
    end: str | None = None,
    ranges: Sequence[str] = (),
    batches: Sequence[str] = (),
) -> Asked:
    """What is asked for in one of three ways, as people write it. Raises SettingsError."""
    ways = [bool(start or end), bool(ranges), bool(batches)]
    if sum(ways) != 1 or bool(start) != bool(end):
        given = {"from": start, "to": end, "ranges": ranges, "batches": batches}
        found = ", ".join(name for name, value in given.items() if value) or "none of them"
        raise SettingsError(
            "expected one of: a time window (from and to), offset ranges, or batches;"
            f" found {found}"
        )
    if start and end:
        try:
            return window(parse_moment(start), parse_moment(end))
        except ValueError as problem:
            raise SettingsError(f"time window: {problem}") from None
    return explicit(ranges) if ranges else whole_batches(batches)


def window(start: datetime, end: datetime) -> Asked:
    """The records from the first one at or after `start` to the first one at or after `end`.

    So neighbouring windows touch, also where timestamps are out of order. Without what somebody
    has decided to skip. Raises SettingsError unless the window has a length.
    """
    if not start < end:
        raise SettingsError(f"time window: expected a start before the end, found {start}, {end}")

    def ask(parts: Parts, state: KafkaState) -> list[Wanted]:
        partitions = sorted(state.logs)
        first = parts.kafka.offsets_for_time(partitions, start)
        behind = parts.kafka.offsets_for_time(partitions, end)
        wanted = [
            Wanted(_bounded(each, first[each], behind[each], state), state.logs[each].topic_id)
            for each in partitions
        ]
        return _without_skips(parts, wanted)

    return ask


def _without_skips(parts: Parts, wanted: Iterable[Wanted]) -> list[Wanted]:
    """What is wanted, around the offsets that somebody has decided to skip; these are named."""
    snapshot, history, _ = parts.progress(parts.offsets.snapshot)
    losses = losses_that_count(parts, snapshot, history.sequence.generation)
    skips = recorded_skips(losses)
    found: list[Wanted] = []
    for each in wanted:
        holes = [skip.offsets for skip in skips if skip.topic_id == each.topic_id]
        rest = without([each.offsets], holes)
        found += [replace(each, offsets=offsets) for offsets in rest]
        taken = without([each.offsets], rest)
        found += [replace(each, offsets=offsets, but=_SKIPPED) for offsets in taken]
    return found


def _bounded(
    partition: TopicPartition, first: int | None, behind: int | None, state: KafkaState
) -> OffsetRange:
    """From bound to bound; None is a moment after the last record.

    Where the log starts inside the window, or after it, the window's first records may be gone:
    then everything below the log start is wanted, so that it is said what cannot be had.
    """
    log = state.logs[partition]
    end = log.end_offset if behind is None else behind
    start = end if first is None else first
    return OffsetRange(partition, 0 if start == log.log_start_offset else start, end)


def explicit(ranges: Iterable[str]) -> Asked:
    """Offset ranges as they are written: `flights[0] [5, 8)`. Raises SettingsError."""
    try:
        wanted = [Wanted(parse_range(each)) for each in ranges]
    except ValueError as problem:
        raise SettingsError(f"offset range: {problem}") from None

    def ask(parts: Parts, state: KafkaState) -> list[Wanted]:
        asked = {each.offsets.partition for each in wanted}
        unknown = ", ".join(map(str, sorted(asked - state.logs.keys())))
        if unknown:
            raise SettingsError(
                f"offset range: expected partitions of {parts.spec.pipeline}'s topics, found"
                f" {unknown}. `sluice status {parts.spec.pipeline}` lists them."
            )
        return wanted

    return ask


def whole_batches(names: Iterable[str]) -> Asked:
    """What committed batches have read, by their names: `forward-1-42`. Raises SettingsError."""

    def ask(parts: Parts, state: KafkaState) -> list[Wanted]:
        return [each for name in names for each in _ranges_of(parts, name)]

    return ask


def quarantined(choice: Choice) -> Asked:
    """Records that are in quarantine, with what lies between those that are near each other.

    A record may be chosen that Kafka no longer holds: it stays in quarantine. What somebody has
    skipped is not among them.
    """

    def ask(parts: Parts, state: KafkaState) -> list[Wanted]:
        found: dict[str, list[OffsetRange]] = {}
        for row in read_quarantined(parts).of(State.LIVE):
            if row in choice:
                alone = OffsetRange(row.partition, row.offset, row.offset + 1)
                found.setdefault(row.topic_id, []).append(alone)
        wanted = [
            Wanted(each, topic_id)
            for topic_id, offsets in sorted(found.items())
            for each in merged(offsets, _NEAR)
        ]
        return _without_skips(parts, wanted)

    return ask


def _ranges_of(parts: Parts, name: str) -> Iterator[Wanted]:
    try:
        sequence, number = parse_batch(parts.spec.pipeline, name)
    except ValueError as problem:
        raise SettingsError(f"batch: {problem}") from None
    batches = parts.offsets.snapshot().batches(sequence, number, last=number)
    if not batches or number > parts.committed(sequence):
        raise SettingsError(
            f"batch: expected a committed batch of {parts.spec.pipeline}, found {name!r}."
            f" `sluice history {parts.spec.pipeline}` lists the newest."
        )
    for planned in batches[0].ranges:
        if planned.offsets.span:
            yield Wanted(planned.offsets, planned.topic_id)
