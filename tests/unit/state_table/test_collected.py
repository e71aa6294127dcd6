"""Deleted keys are collected by proof, and what may be older than they were is found."""

from __future__ import annotations

import json

import pytest
from sluice.offsets.partition_log import PartitionLog
from sluice.state_table.collected import Collected, collectable
from sluice.state_table.commits import StateCollection, StateCommit
from sluice.state_table.spans import FileBounds
from sluice.state_table.standing import FoundLog, FoundState, StateVersion, differences
from sluice.state_table.topic_ranks import Stint, TopicRanks

from tests.unit.builders import batch, offsets, partition

TOLD = StateCollection("log", 5)
COMMIT = StateCommit("log", 0, 3, "digest", "everything", None, None)


def log(start: int, topic_id: str = "A") -> PartitionLog:
    return PartitionLog(topic_id, start, 100, 100, None)


def test_an_offset_is_below_the_log_start_of_all_partitions() -> None:
    logs = {partition(number=0): log(7), partition(number=1): log(4)}
    assert collectable(logs, []) == {"A": 4}
    assert collectable({**logs, partition(number=2): log(0)}, []) == {}


def test_of_several_topics_nothing_is_collected() -> None:
    """Nothing orders their rows, so that any of another topic may be older."""
    logs = {partition(): log(7), partition(topic="u"): log(9, "B")}
    assert collectable(logs, []) == {}


def test_a_planned_batch_that_has_yet_to_land_may_read_below_the_log_start() -> None:
    planned = batch(offsets(2, 9))
    topic_id = planned.ranges[0].topic_id
    assert collectable({partition(): log(7, topic_id)}, [planned]) == {topic_id: 2}
    assert collectable({partition(): log(7, "other")}, [planned]) == {"other": 7}


@pytest.mark.parametrize(
    ("file", "reached"),
    [
        (FileBounds("f", ("A", "A"), (0, 1), (4, 9)), False),
        (FileBounds("f", ("A", "A"), (0, 1), (3, 9)), True),
        (FileBounds("f", ("new", "new"), (0, 1), (0, 9)), False),
        (FileBounds("f", ("other", "other"), (0, 1), (9, 9)), True),
        (FileBounds("f", ("unknown", "unknown"), (0, 1), (9, 9)), True),
        (FileBounds("f", ("old", "old"), (0, 1), (9, 9)), True),
        (FileBounds("f", ("A", "B"), (0, 1), (9, 9)), True),
        (FileBounds("f"), True),
    ],
)
def test_a_file_is_asked_of_the_log_where_a_row_may_be_older(
    file: FileBounds, reached: bool
) -> None:
    stints = tuple(Stint(each, {0: 10}) for each in ("old", "A", "new"))
    ranks = TopicRanks({"t": stints, "u": (Stint("other", {0: 10}),)})
    assert Collected({"A": 4}).is_reached_by([file], ranks) is reached
    assert not Collected().is_reached_by([file], ranks)


def test_where_plans_are_gone_each_other_topic_id_is_asked_of_the_log() -> None:
    ranks = TopicRanks({"t": (Stint("A", {0: 10}), Stint("new", {0: 10}))}, is_whole=False)
    files = [FileBounds("f", (each, each), (0, 1), (4, 9)) for each in ("A", "new")]
    assert [Collected({"A": 4}).is_reached_by([each], ranks) for each in files] == [False, True]


def test_what_was_collected_is_read_back_and_only_grows() -> None:
    found = Collected({"A": 4}).further({"A": 2, "B": 1})
    assert found == Collected({"A": 4, "B": 1})
    assert Collected.read(found.text) == found
    assert Collected.read(None) == Collected()
    for damaged in ("[]", "{", '{"A": "x"}', '{"A": true}'):
        with pytest.raises(ValueError, match=r"."):
            Collected.read(damaged)


def test_a_collection_is_read_back_and_is_no_refresh() -> None:
    assert StateCollection.read(TOLD.text) == TOLD
    assert StateCommit.read(TOLD.text) is None
    assert StateCollection.read(COMMIT.text) is None
    extra = json.dumps({**json.loads(TOLD.text), "more": 1})
    for other in (None, "{", "[]", extra, TOLD.text.replace("5", '"5"')):
        assert StateCollection.read(other) is None


def found(deleted: StateVersion) -> list[str]:
    made = StateVersion(5, "WRITE", True, 3, COMMIT)
    state = FoundState("state", deleted.version, 3, "digest", (deleted, made))
    return list(differences(state, FoundLog("log", 3, None)))


def test_only_a_deletion_of_ours_leaves_the_table_trusted() -> None:
    assert found(StateVersion(6, "DELETE", True, collection=TOLD)) == []
    for other in (
        StateVersion(6, "DELETE", True),
        StateVersion(6, "MERGE", True, collection=TOLD),
        StateVersion(6, "DELETE", True, collection=StateCollection("another log", 5)),
        StateVersion(6, "DELETE", True, collection=StateCollection("log", 6)),
    ):
        (why,) = found(other)
        assert "expected rows that only Sluice writes" in why
