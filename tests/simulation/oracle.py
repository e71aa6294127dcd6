"""The oracle: what must be true of the tables. It shares no code with the product."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.simulation.books import Content, Key, Shown
from tests.simulation.delta_tables import Row
from tests.simulation.rows import is_like, key_of
from tests.simulation.told import Tables, Told, beginnings, committed_aside, cursors
from tests.simulation.world import World

_DECIDED = ("skipped by ", "dropped from quarantine by ")


@dataclass(frozen=True)
class Finding:
    """Something that must not be: `kind` is the same for the same hole."""

    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def twice(tables: Tables) -> Iterator[Finding]:
    """A record is stored once."""
    counted = Counter(key_of(row) for row in tables.data.rows)
    for key, rows in counted.items():
        if rows > 1:
            yield Finding("twice", f"{_named(key)} has {rows} rows")


def strangers(world: World, tables: Tables) -> Iterator[Finding]:
    """Each row is a record's that Kafka has shown, or what people made of it."""
    for row in tables.data.rows:
        key = key_of(row)
        if (
            key in world.updated
            or key in world.let_go
            or any(is_like(row, each, dropped=True) for each in world.books.ever.get(key, ()))
        ):
            continue
        kind = "never shown" if key not in world.books.ever else "another content"
        yield Finding(f"phantom, {kind}", f"{_named(key)} of {row['_batch']}")


def exact(world: World, tables: Tables, caught_up: bool = False) -> list[Finding]:
    """What a green run has to mean: the tables hold what Kafka shows, once, unless it was told.

    Below the cursors; up to the LSO, where it has `caught_up`.
    """
    return [*_against_kafka(world, tables, caught_up), *_erased(world, tables)]


def _against_kafka(world: World, tables: Tables, caught_up: bool) -> Iterator[Finding]:
    ends = cursors(tables)
    data = {key_of(row): row for row in tables.data.rows}
    aside = committed_aside(tables)
    told = Told.of(tables)
    for shown in world.books.now.values():
        if shown.topic not in world.keys["topics"]:
            continue
        end = ends.get(_place(shown), 0)
        for offset, record in shown.records.items():
            if offset >= end and not caught_up:
                continue
            key = Key(shown.topic_id, shown.partition, offset)
            yield from _of_record(world, key, record, data.get(key), key in aside, told)
        held = (key for key in data if (key.topic_id, key.partition) == _place(shown))
        for key in held:
            if key.offset in shown.without_record:
                yield Finding("phantom, no record there", f"{_named(key)}: Kafka has none there")


def _of_record(
    world: World, key: Key, record: Content, row: Row | None, aside: bool, told: Told
) -> Iterator[Finding]:
    if key in world.erased or key in world.let_go:
        return
    if row is None:
        if not aside and not told.covers(key) and key not in world.vanished:
            yield Finding("missing", f"{_named(key)}: {record.value!r}")
        return
    expected = world.updated.get(key)
    if expected is not None:
        if row["_key"] is not None:
            yield Finding("an update is undone", f"{_named(key)} of {row['_batch']}")
    elif not is_like(row, record, dropped=True):
        yield Finding("wrong value", f"{_named(key)} of {row['_batch']}: expected {record}")


def _erased(world: World, tables: Tables) -> Iterator[Finding]:
    for row in tables.data.rows:
        if key_of(row) in world.erased:
            yield Finding("an erased row is back", _named(key_of(row)))


def lost(world: World, tables: Tables) -> Iterator[Finding]:
    """What Kafka holds was not booked as lost by a policy; what it has lost unread was told."""
    told = Told.of(tables)
    data = {key_of(row) for row in tables.data.rows}
    aside = committed_aside(tables)
    cursor, began = cursors(tables), beginnings(tables)
    for key, reason in told.booked():
        unread = world.books.content(key) is not None and key not in data and key not in aside
        if unread and not reason.startswith(_DECIDED) and not world.has_accepted(key):
            yield Finding("lost, though Kafka holds it", f"{_named(key)}: {reason}")
    for key, why in world.books.gone.items():
        if why not in ("retention", "segment") or key in data or key in aside:
            continue
        place = key.topic_id, key.partition
        end = cursor.get(place, 0) if key.offset >= began.get(place, 0) else 0
        excused = told.covers(key) or world.rolled_back or key in world.erased | world.vanished
        if key.offset < end and not excused:
            yield Finding("lost in silence", f"{_named(key)}, by {why}")


def _place(shown: Shown) -> tuple[str, int]:
    return shown.topic_id, shown.partition


def _named(key: Key) -> str:
    return f"{key.topic_id[:6]}[{key.partition}]@{key.offset}"


def receipts(tables: Tables) -> Iterator[Finding]:
    """Receipts add up, and each batch has one for each partition."""
    seen: Counter[tuple[Any, ...]] = Counter()
    for row in tables.offsets.rows:
        if row["event"] != "committed":
            continue
        name = row["batch"], row["topic_id"], row["partition"]
        seen[name] += 1
        span = row["end_offset"] - row["start_offset"]
        if row["records"] + row["quarantined"] + row["gaps"] != span:
            yield Finding("a receipt that does not add up", str(name))
        parts = sum(row[f"gap_{kind}"] for kind in ("control", "aborted", "compacted", "lost"))
        if parts != row["gaps"]:
            yield Finding("a receipt's gaps do not add up", str(name))
    for name, count in seen.items():
        if count > 1:
            yield Finding("two receipts", f"{name}: {count}")


def window(
    world: World, before: Tables, after: Tables, start: int, end: int, left_out: list[Any]
) -> Iterator[Finding]:
    """A backfill of `[start, end)`, in milliseconds, reads every record of that time again."""
    seen = {_range(row) for row in before.offsets.rows if row["event"] == "planned"}
    reread = [
        _range(row)
        for row in after.offsets.rows
        if row["event"] == "planned" and row["lane"] == "backfill" and _range(row) not in seen
    ]
    named = [(each.partition, each.start, each.end) for each in left_out]
    ends = cursors(before)
    for shown in world.books.now.values():
        cursor = ends.get(_place(shown), 0) if shown.topic in world.keys["topics"] else 0
        for offset, record in shown.records.items():
            if not (start <= record.timestamp < end and offset < cursor):
                continue
            key = Key(shown.topic_id, shown.partition, offset)
            covered = any(
                (topic_id, partition) == key[:2] and first <= offset < behind
                for topic_id, partition, first, behind, _ in reread
            )
            told = any(
                (at.topic, at.partition) == (shown.topic, shown.partition) and s <= offset < e
                for at, s, e in named
            )
            if not covered and not told:
                yield Finding("a window is narrower than asked", _named(key))


def _range(row: Row) -> tuple[str, int, int, int, str]:
    place = row["topic_id"], row["partition"]
    return (*place, row["start_offset"], row["end_offset"], row["batch"])
