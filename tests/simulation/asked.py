"""What a command was asked for, and whether it did that: no less, and nothing beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from tests.simulation.books import Content, Key, Shown
from tests.simulation.commands import Command
from tests.simulation.delta_tables import Row
from tests.simulation.oracle import Finding, named
from tests.simulation.rows import key_of
from tests.simulation.told import (
    Tables,
    Told,
    committed_aside,
    cursors,
    reading_goes_on,
    stored,
    waiting,
)
from tests.simulation.world import World

Asked = Callable[[Shown, int, Content], bool]
"""Whether the record at an offset is to be read again."""

# They choose where to, beyond what is unread as well.
_ANYWHERE = ("--to-latest", "--to-offsets", "--to-datetime", "--to-group")


def asked_again(world: World, command: Command, before: Tables) -> Asked:
    """Which records a backfill, a reprocess or a replay is asked for.

    The time of a record whose row has vanished, or was dropped, is not known to a window; nor of
    one that was skipped.
    """
    options = command.options()
    if command.name == "backfill":
        start, end = (_milliseconds(options[each][0]) for each in ("--from", "--to"))
        booked = Told.of(before).booked()
        without_row = {key for key, why in booked if why.startswith(("dropped", "skipped"))}
        timeless = world.vanished | (without_row - stored(before))
        return lambda shown, offset, record: (
            start <= record.timestamp < end
            and Key(shown.topic_id, shown.partition, offset) not in timeless
        )
    if command.name == "reprocess":
        among = options["--range"]
        return lambda shown, offset, _: is_in(among, shown.topic, shown.partition, offset)
    told = Told.of(before)
    waiting = {
        each
        for each in committed_aside(before) - {key_of(row) for row in before.data.rows}
        if not told.covers(each)
    }
    return lambda shown, offset, _: Key(shown.topic_id, shown.partition, offset) in waiting


def narrower(
    world: World, before: Tables, after: Tables, asked: Asked, left_out: list[Any]
) -> Iterator[Finding]:
    """Every record that is asked for is planned to be read again, or is named as left out.

    Planned by this command, or by another one whose batch has not landed yet.
    """
    again = waiting(replace(after, data=before.data))
    ends = cursors(before)
    for shown in world.books.now.values():
        place = shown.topic_id, shown.partition
        cursor = ends.get(place, 0) if shown.topic in world.keys["topics"] else 0
        # The command may have finished a reset that was interrupted.
        cursor = min(cursor, reading_goes_on(after, Key(*place, 0)))
        for offset, record in shown.records.items():
            if offset >= cursor or not asked(shown, offset, record):
                continue
            if Key(*place, offset) in world.erased | world.let_go:
                # Without its row a late record's time is not known to a window (docs/design.md).
                continue
            covered = Key(*place, offset) in again
            told = any(
                (each.partition.topic, each.partition.partition) == (shown.topic, shown.partition)
                and each.start <= offset < each.end
                for each in left_out
            )
            if not covered and not told:
                key = Key(*place, offset)
                yield Finding("a window is narrower than asked", named(key), key)


def passed_over(world: World, before: Tables, after: Tables, command: Command) -> Iterator[Finding]:
    """A reset passes over what its target lies behind, is stored, or was passed over before.

    And what was stored, until others erased it; or what batches that count again had quarantined:
    where it is gone, the next run stops for it.
    """
    options = command.options()
    if any(each in options for each in _ANYWHERE):
        return
    skipped = {_position(each) for each in options.get("--skip", [])}
    kept, told = stored(after) | world.erased, Told.of(before)
    known = {_move(row) for row in before.offsets.rows if row["event"] == "reset_done"}
    for row in _new_rows(before, after, "reset_done"):
        # One of before may be written once more, as fewer of its batches count now.
        if row["cursor_after"] is None or _move(row) in known:
            continue
        place = row["topic_id"], row["partition"]
        shown = world.books.now.get(place)
        if shown is None:
            continue
        for offset in shown.records:
            if not (row["cursor_before"] or 0) <= offset < row["cursor_after"]:
                continue
            key = Key(*place, offset)
            asked = (shown.topic, shown.partition, offset) in skipped
            if "--to-table" in options and _had_aside(after, key):
                continue
            if not asked and key not in kept and not told.covers(key):
                yield Finding("a reset passed over more than asked", named(key), key)


def _had_aside(tables: Tables, key: Key) -> bool:
    """Whether a batch that read it counts quarantined records in its partition."""
    return any(
        row["event"] == "committed"
        and row["quarantined"]
        and (row["topic_id"], row["partition"]) == key[:2]
        and row["start_offset"] <= key.offset < row["end_offset"]
        for row in tables.offsets.rows
    )


def dropped(before: Tables, after: Tables) -> Iterator[Finding]:
    """A drop gives up what is in quarantine, and nothing else. It may write a receipt first."""
    aside = committed_aside(before)
    given_up = (each for each in _new_rows(before, after, "loss") if _is_dropped(each))
    for row in given_up:
        for offset in range(row["start_offset"], row["end_offset"]):
            key = Key(row["topic_id"], row["partition"], offset)
            if key not in aside:
                yield Finding("a drop gave up more than asked", named(key), key)


def _is_dropped(loss: Row) -> bool:
    return bool(loss["reason"].startswith("dropped from quarantine by "))


def _new_rows(before: Tables, after: Tables, event: str) -> list[Row]:
    """The rows of an event that the offsets table had not."""
    old = [row for row in before.offsets.rows if row["event"] == event]
    return [row for row in after.offsets.rows if row["event"] == event and row not in old]


def _move(row: Row) -> tuple[Any, ...]:
    names = "generation", "topic_id", "partition", "cursor_before", "cursor_after", "reason"
    return tuple(row[each] for each in names)


def _milliseconds(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp() * 1000)


def is_in(ranges: Iterable[str], topic: str, partition: int, offset: int) -> bool:
    """Whether an offset is among ranges, as the command line has them."""
    return any(
        (name, number) == (topic, partition) and first <= offset < behind
        for name, number, first, behind in map(_range, ranges)
    )


def _range(text: str) -> tuple[str, int, int, int]:
    """`t[0] [3, 5)`"""
    place, _, bounds = text.partition(" ")
    topic, _, number = place.rstrip("]").partition("[")
    first, behind = bounds.strip("[)").split(",")
    return topic, int(number), int(first), int(behind)


def _position(text: str) -> tuple[str, int, int]:
    """`t[0]@3`"""
    place, _, offset = text.partition("@")
    topic, _, number = place.rstrip("]").partition("[")
    return topic, int(number), int(offset)
