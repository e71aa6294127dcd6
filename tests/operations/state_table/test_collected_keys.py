"""Deleted keys leave the state table when no older record can be read again, and stay deleted."""

from __future__ import annotations

import pytest

from tests.worlds.keyed import keyed, put, state_rows, state_sql
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def with_deleted_keys(trips: Installed) -> Installed:
    """Of each partition, a key that stays and one that is deleted, at the offsets 0 to 2."""
    for partition, (stays, goes) in enumerate([(1, 2), (3, 4)]):
        put(trips, goes, {"v": "a", "seq": 1}, partition)
        put(trips, stays, {"v": "a", "seq": 1}, partition)
        put(trips, goes, None, partition)
    trips.run()
    trips.open().refresh()
    return trips


def expire(trips: Installed, *starts: int) -> None:
    for partition, start in enumerate(starts):
        delete_records(trips.bootstrap, trips.topics[0], start, partition)


def collected(trips: Installed) -> int:
    found = trips.open().maintain("test", "pytest").collected
    trips.judge_state(collected=True)
    return found


def test_they_go_when_all_partitions_have_expired_and_older_rows_do_not_bring_them_back(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = with_deleted_keys(keyed(topic, pipeline))
    expire(trips, 3, 2)
    assert collected(trips) == 0, "the other partition may still be read from offset 2"
    expire(trips, 3, 3)
    assert collected(trips) == 2
    assert state_rows(trips) == {1: ("a", False), 3: ("a", False)}
    verdict = trips.open().verify(lambda wanted, offset: None)
    assert verdict.state is not None
    assert (verdict.state.problem, verdict.state.differing) == (None, 0)
    put(trips, 4, {"v": "again"}, partition=1)
    trips.run()
    (followed,) = trips.open().refresh()
    assert (followed.span.kind, followed.counts.inserted) == ("appended", 1)
    trips.judge_state(collected=True)
    state_sql(trips, "INSERT INTO {log} SELECT * FROM {log} WHERE _key_id = 2 AND NOT _tombstone")
    (followed,) = trips.open().refresh()
    assert followed.span.kind == "everything", "the state no longer says which row is newer"
    assert state_rows(trips)[2] == (None, True)


def test_with_an_order_of_the_spec_none_goes_as_a_late_event_may_come(
    topic: Topic, pipeline: Pipelines
) -> None:
    ordered = {"key": ["_key_id"], "order_by": ["seq"]}
    trips = with_deleted_keys(keyed(topic, pipeline, state=ordered))
    expire(trips, 3, 3)
    assert collected(trips) == 0
