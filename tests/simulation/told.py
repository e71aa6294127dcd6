"""What the tables say: rows and quarantine, cursors, and what is told of offsets without a row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.simulation.books import Key
from tests.simulation.delta_tables import FENCE, Row, Table
from tests.simulation.rows import key_of
from tests.simulation.world import World


@dataclass(frozen=True)
class Tables:
    """The three tables at one moment."""

    data: Table
    quarantine: Table
    offsets: Table


def read_tables(world: World) -> Tables:
    """The tables as they are now."""
    read, at = world.reader.read, world.table
    return Tables(read(at("trips")), read(at("trips__quarantine")), read(at("trips__offsets")))


@dataclass(frozen=True)
class Told:
    """What the offsets table says of offsets without a row."""

    losses: Mapping[tuple[str, int], list[tuple[int, int, str]]]
    # With the generation that begins behind it.
    passed: Mapping[tuple[str, int], list[tuple[int, int, int]]]
    read: Mapping[tuple[str, int], list[tuple[int, int, int]]]

    @classmethod
    def of(cls, tables: Tables) -> Told:
        """From the rows of the offsets table."""
        losses: dict[tuple[str, int], list[tuple[int, int, str]]] = defaultdict(list)
        passed: dict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
        read: dict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
        topics = _topics(tables)
        for row in tables.offsets.rows:
            place = row["topic_id"], row["partition"]
            if row["event"] == "loss":
                losses[place].append((row["start_offset"], row["end_offset"], row["reason"] or ""))
            elif row["event"] == "reset_done" and row["cursor_after"] is not None:
                # A partition that was not read yet has no cursor before; or it is another topic's.
                begin = 0 if _is_of_another(row, topics) else row["cursor_before"] or 0
                passed[place].append((begin, row["cursor_after"], row["generation"]))
            elif row["event"] == "committed":
                read[place].append((row["start_offset"], row["end_offset"], row["generation"]))
        return cls(losses, passed, read)

    def covers(self, key: Key) -> bool:
        """Whether it is told as lost, or was passed over by a reset and not read since."""
        place = key.topic_id, key.partition
        if any(start <= key.offset < end for start, end, _ in self.losses.get(place, ())):
            return True
        passed, read = (
            max((g for s, e, g in each.get(place, ()) if s <= key.offset < e), default=0)
            for each in (self.passed, self.read)
        )
        return read < passed

    def booked(self) -> Iterator[tuple[Key, str]]:
        """Each offset that is told as lost, and why."""
        for (topic_id, partition), found in self.losses.items():
            for start, end, reason in found:
                for offset in range(start, end):
                    yield Key(topic_id, partition, offset), reason


def _topics(tables: Tables) -> dict[tuple[str, int], dict[str, int]]:
    """The topic ids of each partition by name, with the generation that first tells of each."""
    found: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    for row in tables.offsets.rows:
        first = found[row["topic"], row["partition"]]
        first[row["topic_id"]] = min(first.get(row["topic_id"], FENCE), row["generation"])
    return found


def _is_of_another(reset: Row, topics: dict[tuple[str, int], dict[str, int]]) -> bool:
    """Whether a reset goes on with another topic of the name: the cursor before was not in it."""
    first = topics[reset["topic"], reset["partition"]]
    mine = first[reset["topic_id"]]
    return mine == reset["generation"] and min(first.values()) < mine


def cursors(tables: Tables) -> dict[tuple[str, int], int]:
    """The end of each partition's newest committed forward range, by topic id."""
    found: dict[tuple[str, int], tuple[int, int, int]] = {}
    for row in tables.offsets.rows:
        if row["event"] == "committed" and row["lane"] == "forward":
            at = (row["generation"], row["batch_id"], row["end_offset"])
            place = row["topic_id"], row["partition"]
            found[place] = max(found.get(place, at), at)
    return {place: end for place, (_, _, end) in found.items()}


def opened_at(tables: Tables) -> dict[tuple[str, int], int]:
    """Where the newest reset has put the cursor of each partition, by topic id."""
    return {
        (row["topic_id"], row["partition"]): row["cursor_after"]
        for row in sorted(tables.offsets.rows, key=lambda each: each["generation"])
        if row["event"] == "reset_done" and row["cursor_after"] is not None
    }


def planned_ends(tables: Tables) -> dict[tuple[str, int], int]:
    """How far each partition was ever planned, or has rows, by topic id."""
    found: dict[tuple[str, int], int] = {}
    for key in stored(tables):
        found[key[:2]] = max(found.get(key[:2], 0), key.offset + 1)
    for row in tables.offsets.rows:
        if row["event"] == "planned":
            place = row["topic_id"], row["partition"]
            found[place] = max(found.get(place, 0), row["end_offset"])
    return found


def waiting(tables: Tables) -> set[Key]:
    """The places that a backfill has planned to read again, and whose batch has not landed."""
    landed = tables.data.transactions
    return {
        Key(row["topic_id"], row["partition"], offset)
        for row in tables.offsets.rows
        if row["event"] == "planned"
        and row["lane"] == "backfill"
        and row["batch_id"] > landed.get(f"sluice:trips:backfill:{row['generation']}", 0)
        for offset in range(row["start_offset"], row["end_offset"])
    }


def beginnings(tables: Tables) -> dict[tuple[str, int], int]:
    """Where each partition was first read, by topic id: what was before is nobody's promise."""
    found: dict[tuple[str, int], int] = {}
    for row in tables.offsets.rows:
        if row["event"] == "planned":
            place = row["topic_id"], row["partition"]
            found[place] = min(found.get(place, row["start_offset"]), row["start_offset"])
    return found


def reading_goes_on(tables: Tables, key: Key) -> int:
    """The offset from which the newest generation reads a record's partition."""
    newest, end = 1, 0
    for row in tables.offsets.rows:
        if row["lane"] != "forward" or (row["topic_id"], row["partition"]) != key[:2]:
            continue
        ends = {"reset_done": "cursor_after", "committed": "end_offset"}
        found = row[ends[row["event"]]] if row["event"] in ends else None
        if found is not None and (row["generation"], found) > (newest, end):
            # A reset's cursor is below all that its generation commits.
            newest, end = row["generation"], found
    return end


def stored(tables: Tables) -> set[Key]:
    """The places that have a row, or a quarantined record of a committed batch."""
    return {key_of(row) for row in tables.data.rows} | committed_aside(tables)


def committed_aside(tables: Tables) -> set[Key]:
    """The places of quarantined records whose batch is committed."""
    closed = _closed_at(tables)
    found = set()
    for row in tables.quarantine.rows:
        lane, generation, number = row["_batch"].split("-")
        app = f"sluice:trips:{lane}:{generation}"
        last = tables.data.transactions.get(app, 0)
        if last == FENCE:
            last = closed.get((lane, int(generation)), FENCE)
        if int(number) <= last:
            found.add(key_of(row))
    return found


def _closed_at(tables: Tables) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    # A later reset may have found other batches behind an earlier one.
    for row in sorted(tables.offsets.rows, key=lambda each: each["recorded_at"]):
        if row["event"] == "reset_done" and row["closed_at"] is not None:
            found[row["lane"], row["generation"] - 1] = row["closed_at"]
    return found
