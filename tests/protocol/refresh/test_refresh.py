"""Refreshing on Spark: the state is the newest row of each key, whatever the log went through."""

from __future__ import annotations

from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.errors import StateStopped
from sluice.operations.backfill.selection import whole_batches

from tests.worlds.keyed import SCHEMA, keyed, put, state_rows, state_sql
from tests.worlds.pipelines import Installed, Pipelines, Topic

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    return keyed(topic, pipeline)


def refreshed(trips: Installed) -> list[Any]:
    found = trips.open().refresh()
    trips.judge_state()
    return found


def test_the_newest_row_of_each_key_is_there_and_deleted_keys_stay(trips: Installed) -> None:
    put(trips, 1, {"v": "a"})
    put(trips, 1, {"v": "b"})
    put(trips, 2, {"v": "c"}, partition=1)
    trips.run()
    refreshed(trips)
    assert state_rows(trips) == {1: ("b", False), 2: ("c", False)}
    put(trips, 1, None)
    put(trips, 3, {"v": "d"})
    trips.run()
    (followed,) = refreshed(trips)
    assert (followed.counts.inserted, followed.counts.deleted) == (1, 1)
    assert state_rows(trips) == {1: (None, True), 2: ("c", False), 3: ("d", False)}
    assert refreshed(trips) == []


def test_others_delete_update_and_restore_rows_of_the_log(trips: Installed) -> None:
    for value in ("a", "b"):
        put(trips, 1, {"v": value})
        put(trips, 2, {"v": value}, partition=1)
        trips.run()
    refreshed(trips)
    before = trips.version()
    state_sql(trips, "DELETE FROM {log} WHERE v = 'b' AND _key_id = 1")
    (followed,) = refreshed(trips)
    assert (followed.span.kind, followed.counts.updated) == ("rewritten", 1)
    state_sql(trips, "UPDATE {log} SET v = 'z' WHERE _key_id = 2")
    refreshed(trips)
    assert state_rows(trips) == {1: ("a", False), 2: ("z", False)}
    state_sql(trips, "DELETE FROM {log} WHERE _key_id = 1")
    (followed,) = refreshed(trips)
    assert followed.counts.deleted == 1
    assert state_rows(trips) == {2: ("z", False)}
    state_sql(trips, f"RESTORE {{log}} TO VERSION AS OF {before}")
    refreshed(trips)
    assert state_rows(trips) == {1: ("b", False), 2: ("b", False)}


def test_a_range_that_is_read_again_gives_the_same_state(trips: Installed) -> None:
    for value in ("a", "b", "c"):
        put(trips, 1, {"v": value})
        put(trips, 2, {"v": value}, partition=1)
    trips.run()
    refreshed(trips)
    planned = trips.open().backfill(whole_batches(["forward-1-1"]), "test", "pytest")
    trips.ingest(planned.work)
    trips.settle()
    refreshed(trips)


def test_a_compaction_moves_the_state_without_spark(trips: Installed) -> None:
    for value in ("a", "b"):
        put(trips, 1, {"v": value})
        trips.run()
    refreshed(trips)
    state_sql(trips, "OPTIMIZE {log}")
    (followed,) = refreshed(trips)
    assert followed.span.kind == "nothing"
    put(trips, 1, {"v": "c"})
    trips.run()
    state_sql(trips, "OPTIMIZE {log}")
    refreshed(trips)
    assert state_rows(trips) == {1: ("c", False)}


def test_late_events_go_by_the_declared_order(trips: Installed) -> None:
    trips.write_spec(state={"key": ["_key_id"], "order_by": ["seq"], "deleted_when": "v = 'gone'"})
    put(trips, 1, {"v": "a", "seq": 5})
    put(trips, 1, {"v": "b", "seq": 3}, partition=1)
    trips.run()
    deletes = lambda row: row["v"] == "gone"  # noqa: E731
    trips.open().refresh()
    trips.judge_state(deletes=deletes)
    put(trips, 1, {"v": "c", "seq": 4})
    put(trips, 2, {"v": "gone", "seq": 1})
    trips.run()
    (followed,) = trips.open().refresh()
    trips.judge_state(deletes=deletes)
    assert (followed.counts.stale, followed.counts.deleted) == (1, 1)


def test_a_key_in_two_partitions_stops_the_state_and_not_the_log(trips: Installed) -> None:
    put(trips, 1, {"v": "a"})
    trips.run()
    refreshed(trips)
    put(trips, 1, {"v": "b"}, partition=1)
    trips.run()
    with pytest.raises(StateStopped, match=r"\[0\]@0 .* and .*\[1\]@0 "):
        trips.open().refresh()
    trips.judge()


def test_a_row_without_a_key_stops_the_state_unless_it_may_be_ignored(trips: Installed) -> None:
    trips.write_spec(state={"key": ["id"]})
    put(trips, 1, {"v": "a"})
    put(trips, 1, None)
    trips.run()
    with pytest.raises(StateStopped, match=r"found null in 1 rows, such as .*\[0\]@1"):
        trips.open().refresh()
    trips.write_spec(state={"key": ["id"], "unkeyed": "ignore"})
    (followed,) = refreshed(trips)
    assert followed.counts.unkeyed == 1


def test_a_placeholder_keeps_the_next_older_value(trips: Installed) -> None:
    trips.write_spec(
        state={"key": ["_key_id"], "order_by": ["seq"], "unavailable": "__unavailable"}
    )
    put(trips, 1, {"v": "a", "seq": 1})
    put(trips, 1, {"v": "__unavailable", "seq": 2})
    trips.run()
    refreshed(trips)
    put(trips, 1, {"v": "__unavailable", "seq": 9})
    put(trips, 2, {"v": "__unavailable", "seq": 9})
    trips.run()
    refreshed(trips)
    assert state_rows(trips) == {1: ("a", False), 2: (None, False)}
    put(trips, 1, {"v": "late", "seq": 5})
    trips.run()
    refreshed(trips)
    assert state_rows(trips)[1] == ("late", False)


def test_columns_that_the_log_gets_are_in_the_state(trips: Installed) -> None:
    trips.write_spec(evolution="add_columns")
    put(trips, 1, {"v": "a"})
    trips.run()
    refreshed(trips)
    state_sql(trips, "ALTER TABLE {log} ADD COLUMNS (noted STRING)")
    refreshed(trips)
    trips.write_spec(format={"type": "json", "schema": f"{SCHEMA}, w BIGINT"})
    put(trips, 1, {"v": "b", "w": 7})
    trips.run()
    refreshed(trips)


def test_types_that_are_widened_in_the_log_are_widened_in_the_state(trips: Installed) -> None:
    schema = "id BIGINT, v STRING, seq {}"
    trips.write_spec(evolution="widen", format={"type": "json", "schema": schema.format("INT")})
    put(trips, 1, {"v": "a", "seq": 1})
    trips.run()
    refreshed(trips)
    trips.write_spec(format={"type": "json", "schema": schema.format("BIGINT")})
    put(trips, 1, {"v": "b", "seq": 2**40})
    trips.run()
    refreshed(trips)


def test_rows_that_were_marked_in_a_file_that_is_gone_are_computed_whole(trips: Installed) -> None:
    """VACUUM takes the deletion vector that a span begins with, and leaves the file it marked."""
    for key, value in ((1, "a"), (2, "b"), (3, "c"), (4, "d")):
        put(trips, key, {"v": value})
    trips.run()
    state_sql(trips, "ALTER TABLE {log} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    state_sql(trips, "DELETE FROM {log} WHERE v = 'a'")
    trips.open().refresh()
    (vector,) = trips.data.glob("**/deletion_vector_*.bin")
    state_sql(trips, "DELETE FROM {log} WHERE v = 'b'")
    state_sql(trips, "DELETE FROM {log} WHERE v = 'c'")
    vector.unlink()
    (followed,) = trips.open().refresh()
    assert followed.span.kind == "everything"
    assert state_rows(trips) == {4: ("d", False)}


def test_a_column_in_the_place_of_one_of_its_name_is_read_anew(trips: Installed) -> None:
    """Column mapping lets others drop a column, and add one of its name and type, in no time."""
    put(trips, 1, {"v": "a", "seq": 1})
    put(trips, 2, {"v": "b", "seq": 2})
    trips.run()
    refreshed(trips)
    state_sql(trips, "ALTER TABLE {log} SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    (followed,) = trips.open().refresh()
    assert followed.span.kind == "nothing"
    state_sql(trips, "ALTER TABLE {log} DROP COLUMN v")
    state_sql(trips, "ALTER TABLE {log} ADD COLUMN v STRING")
    (followed,) = trips.open().refresh()
    assert followed.span.kind == "everything"
    assert state_rows(trips) == {1: (None, False), 2: (None, False)}
    put(trips, 1, {"v": "c", "seq": 3})
    trips.run()
    (followed,) = trips.open().refresh()
    assert followed.span.kind == "appended"
    assert state_rows(trips) == {1: ("c", False), 2: (None, False)}


def test_a_log_whose_commits_are_gone_is_computed_whole(trips: Installed) -> None:
    for value in ("a", "b"):
        put(trips, 1, {"v": value})
        trips.run()
        refreshed(trips) if value == "a" else None
    gone = trips.data / "_delta_log" / f"{trips.version():020d}.json"
    put(trips, 2, {"v": "c"})
    trips.run()
    DeltaTable(trips.data).create_checkpoint()
    gone.unlink()
    (followed,) = trips.open().refresh()
    assert followed.span.kind == "everything"
    assert state_rows(trips) == {1: ("b", False), 2: ("c", False)}


def test_what_changed_in_the_state_is_in_its_feed_once_others_have_set_that(
    trips: Installed,
) -> None:
    put(trips, 1, {"v": "a"})
    put(trips, 2, {"v": "a"}, partition=1)
    trips.run()
    refreshed(trips)
    state_sql(trips, "ALTER TABLE {state} SET TBLPROPERTIES (delta.enableChangeDataFeed = true)")
    put(trips, 1, {"v": "b"})
    trips.run()
    refreshed(trips)
    uri = str(trips.warehouse / "trips__state")
    after = DeltaTable(uri).version()
    feed = trips.session().read.format("delta").option("readChangeFeed", "true")
    rows = feed.option("startingVersion", str(after)).load(uri).collect()
    assert sorted((row["_change_type"], row["v"]) for row in rows) == [
        ("update_postimage", "b"),
        ("update_preimage", "a"),
    ]
