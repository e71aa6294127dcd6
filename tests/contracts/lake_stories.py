"""Stories: what happens on a stage, so that two lakes can be compared by what they leave."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from deltalake import DeltaTable, write_deltalake
from sluice.offsets.quarantined import BatchOffsets
from sluice.offsets.ranges import OffsetRange, TopicPartition

from tests.contracts.stage import TOPIC_ID, Stage
from tests.worlds.records import end, numbered, produce, send, transactional

FORM = {
    "type": "json",
    "schema": "id BIGINT, n INT, fare DOUBLE, note STRING, ok BOOLEAN, at TIMESTAMP, day DATE,"
    " price DECIMAL(9,2), raw BINARY, small SMALLINT, tiny TINYINT, ratio FLOAT",
}
GOOD = [
    b'{"id": 1, "n": -2, "fare": 1.5, "note": "x", "ok": true, "at": "2024-01-02T03:04:05.123456Z",'
    b' "day": "2024-02-29", "price": 12.5, "raw": "AAE=", "small": 3, "tiny": 4, "ratio": 0.1}',
    b'{"id": 9223372036854775807, "note": "' + "é😀".encode() + b"l" * 40 + b'", "more": 1}',
    b'{"id": null, "note": {"a": [1.50, "b"]}, "fare": 0.1, "ok": false, "price": -3}',
    None,
]
BAD = [
    *(b"bad", b'{"id": 1.5}', b'{"n": 2147483648}', b"[1]", b'{"id": tru', b"\xff", b""),
    *(b'{"ok": 1}', b'{"at": "zz"}', b'{"fare": "3"}', b'{"fare": 1e400}', b'{"id":1} x'),
    *(b'\xef\xbb\xbf{"id":1}', b'{"price": 1.234}', b'{"note": "' + b"\\ud800" + b'"}'),
    b'{"id": "' + b"l" * 200 + b'"}',
]
Story = Callable[[Stage], None]
STORIES: dict[str, tuple[dict[str, Any], Story]] = {}


def story(**keys: Any) -> Callable[[Story], Story]:
    """Add what happens on a stage, with a pipeline of these keys, to those that are compared."""

    def add(found: Story) -> Story:
        STORIES[found.__name__] = keys, found
        return found

    return add


def fill(bootstrap: str, topic: str) -> None:
    """Ten plain records, four and the undecodable ones, and a transaction that was aborted."""
    produce(bootstrap, topic, numbered(10), headers=[("a", b"1"), ("b", None)])
    produce(bootstrap, topic, numbered(10), 1, key=None)
    produce(bootstrap, topic, GOOD, 2, timestamp=1_700_000_000_123)
    produce(bootstrap, topic, [*GOOD, *BAD, *GOOD], 3)
    aborted = transactional(bootstrap)
    send(aborted, topic, numbered(2), 0)
    end(bootstrap, topic, aborted, commit=False, partitions=4)
    produce(bootstrap, topic, numbered(3, 20), 0)


@story(format=FORM, comments={"id": "the id", "_offset": "where"})
def every_type(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 10), (2, 0, 4)))


@story()
def raw_bytes(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 10), (1, 0, 10), (3, 0, 24)))


@story()
def a_batch_that_lands_twice(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 10)))
    stage.land(stage.attempt(1, (0, 0, 10), attempt="second"))
    stage.land(stage.attempt(2, (0, 10, 16)))
    stage.land(stage.attempt(1, (1, 0, 10), attempt="third"))


@story()
def a_batch_without_rows(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 10, 13), (1, 0, 0)))


@story(format=FORM)
def undecodable_records(stage: Stage) -> None:
    attempt = stage.attempt(1, (3, 0, 24), (0, 0, 2))
    stage.land(attempt)
    stage.set_aside(attempt)
    again = stage.attempt(1, (3, 0, 24), (0, 0, 2), attempt="second", ticket=1)
    stage.set_aside(again)
    stage.land_decodable(again, undecodable=len(BAD))
    stage.set_aside(stage.attempt(2, (0, 2, 10)))


@story(format=FORM)
def tickets_that_others_have_used(stage: Stage) -> None:
    stage.set_aside(stage.attempt(1, (3, 0, 24), ticket=1))
    stage.set_aside(stage.attempt(1, (3, 0, 12), attempt="late", ticket=1))
    stage.set_aside(stage.attempt(1, (3, 0, 12), attempt="later"))
    stage.set_aside(stage.attempt(2, (0, 0, 2)))
    stage.set_aside(stage.attempt(1, (3, 0, 12), attempt="of a closed batch", ticket=2))


@story(only={"header": "a", "value": "1"})
def records_of_one_kind(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 16), (1, 0, 10), (2, 0, 4)))
    stage.land(stage.attempt(1, (0, 3, 14), (1, 0, 0), mode="replace", lane="backfill"))


@story()
def rows_that_are_replaced(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 10), (1, 0, 10)))
    stage.land(stage.attempt(2, (0, 10, 16)))
    stage.land(stage.attempt(1, (0, 3, 8), (1, 0, 10), mode="replace", lane="backfill"))


@story()
def rows_of_which_some_may_change(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 10), (1, 0, 10)))
    again = stage.attempt(1, (0, 2, 8), (1, 3, 9), mode="replace", lane="backfill")
    at = {number: TopicPartition(stage.topic, number) for number in (0, 1)}
    only = (OffsetRange(at[0], 2, 4), OffsetRange(at[0], 7, 8), OffsetRange(at[1], 3, 4))
    stage.land(replace(again, batch=replace(again.batch, only=only)))


@story(partition_by=["_topic", "_partition"])
def rows_that_are_replaced_in_partitions(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 10), (1, 0, 10)))
    stage.land(stage.attempt(1, (0, 3, 8), mode="replace", lane="backfill"))


@story()
def rows_where_the_log_has_markers(stage: Stage) -> None:
    attempt = stage.attempt(1, (0, 0, 10))
    stage.land(attempt)
    # Offsets 10 and 11 are an aborted transaction's, 12 is its marker.
    rows = DeltaTable(stage.trips.data).to_pyarrow_table().slice(0, 2)
    at = rows.schema.get_field_index("_offset")
    moved = rows.set_column(at, rows.schema.field(at), [[11, 12]])
    write_deltalake(stage.trips.data, moved, mode="append")
    stage.land(stage.attempt(1, (0, 5, 14), mode="replace", lane="backfill"))
    kept = [row["_offset"] for row in stage.trips.rows()]
    assert sorted(kept) == [*range(10), 13]


@story(format={"type": "json", "schema": "id BIGINT"})
def columns_comments_and_properties_that_come_later(stage: Stage) -> None:
    stage.land(stage.attempt(1, (0, 0, 10)))
    stage.trips.write_spec(
        format={"type": "json", "schema": "id BIGINT, n INT"},
        comments={"id": "the id", "n": "new"},
        properties={"delta.checkpointInterval": "20"},
    )
    with stage.lake() as lake:
        lake.align()
    stage.land(stage.attempt(2, (0, 13, 16)))
    stage.land(stage.attempt(1, (0, 0, 5), mode="replace", lane="backfill"))
    with stage.lake() as lake:
        lake.align()
        lake.align()


@story(format=FORM)
def upkeep(stage: Stage) -> None:
    attempt = stage.attempt(1, (3, 0, 24), (0, 0, 4))
    stage.set_aside(attempt)
    stage.land_decodable(attempt)
    stage.land(stage.attempt(2, (0, 4, 10)))
    place = OffsetRange(TopicPartition(stage.topic, 3), 0, 7)
    mine = BatchOffsets("forward-1-1", TOPIC_ID, place)
    with stage.upkeep() as upkeep:
        upkeep.remove_quarantined([mine])
        upkeep.remove_quarantined([mine])
        stage.said += [upkeep.compact(str(stage.trips.data)) for _ in range(2)]
        orphan = stage.trips.data / "part-orphan.parquet"
        orphan.write_bytes(b"of a write that was never committed")
        os.utime(orphan, (0, 0))
        upkeep.vacuum(str(stage.trips.data))
        files = list(stage.trips.data.glob("*.parquet"))
        stage.said += [orphan.exists(), len(files)]


@story()
def many_batches(stage: Stage) -> None:
    for number in range(1, 11):
        stage.land(stage.attempt(number, (1, number - 1, number)))
