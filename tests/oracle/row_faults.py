"""Faults in stored rows: missing, repeated, altered or made up (invariants 1, 2, 5, 7)."""

from __future__ import annotations

from datetime import timedelta

from tests.oracle.fault import SECOND, batches, fault, record
from tests.oracle.world import Step, World


@fault(1)
def row_dropped(world: World) -> None:
    del world.of("data")[1].rows[3]


@fault(1)
def quarantined_row_missing(world: World) -> None:
    del world.of("quarantine")[0].rows[0]


@fault(1)
def started_too_late(world: World) -> None:
    batches(world, {0: (2, 13), 1: (0, 4)}, SECOND)


@fault(2)
def row_twice_in_its_file(world: World) -> None:
    world.of("data")[0].rows.append(dict(world.of("data")[0].rows[0]))


@fault(2)
def file_doubled(world: World) -> None:
    world.steps.append(Step("data", list(world.of("data")[0].rows)))


@fault(2)
def quarantined_record_stored_as_well(world: World) -> None:
    row = dict(record(world, 0, 6), _offset=5, id=None, name=None)
    world.of("data")[0].rows.append(row)


@fault(5)
def values_swapped_between_two_rows(world: World) -> None:
    one, other = record(world, 0, 1), record(world, 0, 2)
    one["id"], other["id"] = other["id"], one["id"]


@fault(5)
def key_altered(world: World) -> None:
    record(world, 1, 2)["_key"] = b"K2"


@fault(5)
def null_key_became_empty(world: World) -> None:
    record(world, 1, 3)["_key"] = b""


@fault(5)
def header_lost(world: World) -> None:
    row = record(world, 0, 2)
    row["_headers"] = row["_headers"][:1]


@fault(5)
def header_value_altered(world: World) -> None:
    record(world, 0, 2)["_headers"] = [{"key": "h", "value": b"2"}, {"key": "h", "value": b""}]


@fault(5)
def no_headers_became_an_empty_list(world: World) -> None:
    record(world, 0, 1)["_headers"] = []


@fault(5)
def timestamp_shifted(world: World) -> None:
    record(world, 0, 7)["_timestamp"] += timedelta(milliseconds=1)


@fault(5)
def tombstone_not_marked(world: World) -> None:
    record(world, 0, 4)["_tombstone"] = False


@fault(5)
def topic_misnamed(world: World) -> None:
    record(world, 0, 6)["_topic"] = "another"


@fault(5)
def field_nulled_in_silence(world: World) -> None:
    record(world, 0, 6)["name"] = None


@fault(5)
def decodable_record_in_quarantine(world: World) -> None:
    row = record(world, 0, 6)
    world.of("data")[0].rows.remove(row)
    value = b'{"id": 6, "name": "n6"}'
    extra = {"value": value, "error": "?", "quarantined_at": row["_timestamp"]}
    world.of("quarantine")[0].rows.append({**row, **extra})


@fault(5)
def raw_value_altered_in_quarantine(world: World) -> None:
    world.of("quarantine")[0].rows[0]["value"] = b"{not jsoN"


@fault(7)
def aborted_record_present(world: World) -> None:
    world.of("data")[0].rows.append(dict(record(world, 0, 9), _offset=11))


@fault(7)
def record_made_up(world: World) -> None:
    world.of("data")[0].rows.append(dict(record(world, 0, 9), _offset=10))
