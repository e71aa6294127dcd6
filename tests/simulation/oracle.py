"""The oracle: what must be true of the tables. It shares no code with the product."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any

from tests.simulation.books import Content, Key, Shown
from tests.simulation.delta_tables import Row
from tests.simulation.rows import is_like, key_of
from tests.simulation.told import Tables, Told, beginnings, committed_aside, cursors, waiting
from tests.simulation.world import World

_DECIDED = ("skipped by ", "dropped from quarantine by ")
_NOT_COPIED = "not in the copy of the table that a recovery went on with"


@dataclass(frozen=True)
class Finding:
    """Something that must not be: `kind` is the same for the same hole. `key`: where, if known."""

    kind: str
    text: str
    key: Key | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


def twice(tables: Tables) -> Iterator[Finding]:
    """A record is stored once."""
    counted = Counter(key_of(row) for row in tables.data.rows)
    for key, rows in counted.items():
        if rows > 1:
            yield Finding("twice", f"{named(key)} has {rows} rows", key)


def strangers(world: World, tables: Tables) -> Iterator[Finding]:
    """Each row is a record's that Kafka has shown, or what people made of it."""
    for row in tables.data.rows:
        key = key_of(row)
        if (
            key in world.updated
            or key in world.let_go
            or any(_is_like(world, row, each) for each in world.books.ever.get(key, ()))
        ):
            continue
        kind = "never shown" if key not in world.books.ever else "another content"
        yield Finding(f"phantom, {kind}", f"{named(key)} of {row['_batch']}", key)


def closed_aside(before: Tables, after: Tables) -> Iterator[Finding]:
    """Once a reset is done, no attempt of what it has closed adds to the quarantine."""
    closed = {
        (row["lane"], row["generation"] - 1)
        for row in before.offsets.rows
        if row["event"] == "reset_done"
    }
    known = {(row["_batch"], row["quarantined_at"]) for row in before.quarantine.rows}
    same = before.quarantine.table_id == after.quarantine.table_id
    for row in after.quarantine.rows if same else ():
        lane, generation, _ = row["_batch"].split("-")
        late = (row["_batch"], row["quarantined_at"]) not in known
        if late and (lane, int(generation)) in closed:
            text = f"{named(key_of(row))} of {row['_batch']}"
            yield Finding("quarantined by a closed generation", text, key_of(row))


def vouched_for(world: World, tables: Tables) -> Iterator[Finding]:
    """As `strangers`, but for batches without a receipt, of topics that are gone.

    They were read by name, so they may hold records of a new topic, until somebody has decided.
    """
    named = {row["batch"] for row in tables.offsets.rows if row["event"] == "committed"}
    there = {topic_id for topic_id, _ in world.books.now}
    waiting = {
        key_of(row)
        for row in tables.data.rows
        if row["_batch"] not in named and row["_topic_id"] not in there
    }
    yield from (each for each in strangers(world, tables) if each.key not in waiting)


def exact(world: World, tables: Tables, caught_up: bool = False) -> list[Finding]:
    """What a green run has to mean: the tables hold what Kafka shows, once, unless it was told.

    Below the cursors; up to the LSO, where it has `caught_up`. What is quarantined and waits for a
    backfill to be read again, `status` tells.
    """
    return [*_against_kafka(world, tables, caught_up), *_erased(world, tables)]


def _against_kafka(world: World, tables: Tables, caught_up: bool) -> Iterator[Finding]:
    ends = cursors(tables)
    data = {key_of(row): row for row in tables.data.rows}
    aside = committed_aside(tables)
    told, again = Told.of(tables), waiting(tables)
    for shown in world.books.now.values():
        if shown.topic not in world.keys["topics"]:
            continue
        end = ends.get(_place(shown), 0)
        for offset, record in shown.records.items():
            if offset >= end and not caught_up:
                continue
            key = Key(shown.topic_id, shown.partition, offset)
            if key not in again or key in data:
                yield from _of_record(world, key, record, data.get(key), key in aside, told)
        held = (key for key in data if (key.topic_id, key.partition) == _place(shown))
        # Behind a transaction that hangs nothing is read yet.
        stable = shown.log.last_stable_offset
        for key in held:
            if key.offset in shown.without_record and key.offset < stable:
                text = f"{named(key)}: Kafka has none there"
                yield Finding("phantom, no record there", text, key)


def _of_record(
    world: World, key: Key, record: Content, row: Row | None, aside: bool, told: Told
) -> Iterator[Finding]:
    if key in world.erased or key in world.let_go:
        return
    if row is None:
        if not aside and not told.covers(key) and key not in world.vanished:
            yield Finding("missing", f"{named(key)}: {record.value!r}", key)
        return
    expected = world.updated.get(key)
    if expected is not None:
        if row["_key"] is not None:
            yield Finding("an update is undone", f"{named(key)} of {row['_batch']}", key)
    elif not _is_like(world, row, record):
        yield Finding("wrong value", f"{named(key)} of {row['_batch']}: expected {record}", key)


def _is_like(world: World, row: Row, record: Content) -> bool:
    """Whether a row is this record's, of the topic that has its id."""
    named = world.books.names.get(row["_topic_id"]) == row["_topic"]
    return named and is_like(row, record, dropped=world.has_been_loose)


def _erased(world: World, tables: Tables) -> Iterator[Finding]:
    for row in tables.data.rows:
        if key_of(row) in world.erased:
            yield Finding("an erased row is back", named(key_of(row)), key_of(row))


def lost(world: World, tables: Tables) -> Iterator[Finding]:
    """What Kafka holds was not booked as lost by a policy; what it has lost unread was told."""
    told = Told.of(tables)
    data = {key_of(row) for row in tables.data.rows}
    aside, again = committed_aside(tables), waiting(tables)
    cursor, began = cursors(tables), beginnings(tables)
    for key, reason in told.booked():
        if key in world.erased | world.let_go:
            continue
        if key in world.rotted and reason.startswith(_NOT_COPIED):
            continue  # The copy was made from a table that had lost it.
        unread = world.books.content(key) is not None and key not in data and key not in aside
        if unread and not reason.startswith(_DECIDED) and not world.has_accepted(key):
            yield Finding("lost, though Kafka holds it", f"{named(key)}: {reason}", key)
    for key, why in world.books.gone.items():
        if why not in ("retention", "segment") or key in data or key in aside or key in again:
            continue
        place = key.topic_id, key.partition
        end = cursor.get(place, 0) if key.offset >= began.get(place, 0) else 0
        excused = told.covers(key) or key in world.erased | world.let_go | world.vanished
        if key.offset < end and not excused:
            yield Finding("lost in silence", f"{named(key)}, by {why}", key)


def _place(shown: Shown) -> tuple[str, int]:
    return shown.topic_id, shown.partition


def named(key: Key) -> str:
    """A place, for people."""
    return f"{key.topic_id[:6]}[{key.partition}]@{key.offset}"


def complete(world: World, tables: Tables) -> Iterator[Finding]:
    """What Kafka showed before the moment that a forward batch names is not behind that batch.

    Of the newest one that says a moment; a topic that its spec left out is not meant.
    """
    named_moments = [
        (row["generation"], row["batch_id"], row)
        for row in tables.offsets.rows
        if row["event"] == "planned" and row["lane"] == "forward" and row["complete_until"]
    ]
    newest = max((each[:2] for each in named_moments), default=None)
    rows = [row for *number, row in named_moments if tuple(number) == newest]
    read = {
        topic for row in rows if row["spec"] for topic in json.loads(row["spec"])["spec"]["topics"]
    }
    for row in rows:
        shown = world.books.now.get((row["topic_id"], row["partition"]))
        if shown is None or shown.topic not in read:
            continue
        for key in shown.places():
            behind = key.offset >= row["end_offset"]
            if behind and world.books.since[key] < row["complete_until"]:
                moment = row["complete_until"].isoformat()
                text = f"{named(key)} is behind {row['batch']}, complete until {moment}"
                yield Finding("complete too early", text, key)
                break


def present(world: World, tables: Tables, moment: datetime) -> Iterator[Finding]:
    """What Kafka showed before the moment until which the product calls the table complete is
    there, or it is told why not.
    """
    data = {key_of(row): row for row in tables.data.rows}
    aside, told, again = committed_aside(tables), Told.of(tables), waiting(tables)
    for shown in world.books.now.values():
        if shown.topic not in world.keys["topics"]:
            continue
        for key in shown.places():
            if world.books.since[key] < moment and key not in data and key not in again:
                record = shown.records[key.offset]
                for each in _of_record(world, key, record, None, key in aside, told):
                    text = f"{each.text}, complete until {moment.isoformat()}"
                    yield Finding("complete, and missing", text, key)


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
    planned: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for row in tables.offsets.rows:
        if row["event"] == "planned":
            planned[row["batch"]].add((row["topic_id"], row["partition"]))
    settled = {batch for batch, _, _ in seen}
    for batch in settled & planned.keys():
        lacking = {each for each in planned[batch] if (batch, *each) not in seen}
        if lacking:
            yield Finding("a receipt that lacks a partition", f"{batch}: {sorted(lacking)}")


def tiled(tables: Tables) -> Iterator[Finding]:
    """In a generation each batch begins where the one before it ended, or what is between is told.

    Where the tables were never rolled back.
    """
    told = Told.of(tables)
    lanes: dict[tuple[int, str, int], list[tuple[int, int, int]]] = defaultdict(list)
    for row in tables.offsets.rows:
        if row["event"] == "committed" and row["lane"] == "forward":
            place = row["generation"], row["topic_id"], row["partition"]
            lanes[place].append((row["batch_id"], row["start_offset"], row["end_offset"]))
    for (generation, topic_id, partition), batches in lanes.items():
        for (_, _, end), (number, start, _) in pairwise(sorted(batches)):
            between = range(min(start, end), max(start, end))
            untold = [e for e in between if not told.covers(Key(topic_id, partition, e))]
            if start < end or untold:
                text = (
                    f"forward-{generation}-{number}: {topic_id[:6]}[{partition}] [{end}, {start})"
                )
                yield Finding("batches that do not tile", text)
