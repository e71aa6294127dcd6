"""Following: the state goes with the log's versions, whoever made them, and needs no Spark to."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.errors import StateRefused, StateStopped, TableRefused
from sluice.failpoints import reaching
from sluice.lake.port import Engine
from sluice.operations.backfill.selection import offset_ranges, whole_batches
from sluice.operations.reset.targets import shift_by, to_earliest, to_table
from sluice.progress.state_trust import look
from sluice.protocol.refresh.making import Followed
from sluice.state_table.commits import app_id

from tests.worlds.pipelines import Installed, Pipelines, Topic, no_spark
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]
SCHEMA = "id BIGINT, v STRING, n INT"


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline with a state table, two batches of whose log it has followed."""
    trips = pipeline(
        topic(2, retention_ms=-1),
        format={"type": "json", "schema": SCHEMA},
        state={"key": ["id"], "order_by": ["n"]},
    )
    for n, value in enumerate("ab"):
        put(trips, {"id": 1, "v": value, "n": n}, {"id": 2, "v": value, "n": n})
        put(trips, {"id": 3, "v": value, "n": n}, partition=1)
        trips.run()
        refreshed(trips)
    return trips


def put(trips: Installed, *values: dict[str, Any] | None, partition: int = 0) -> None:
    sent = [None if each is None else json.dumps(each).encode() for each in values]
    produce(trips.bootstrap, trips.topics[0], sent, partition)


def refreshed(trips: Installed) -> list[Followed]:
    """What the refresh did; the state is what the log says, at each version that says so."""
    found = trips.open().refresh()
    trips.judge_state()
    return found


def kinds(trips: Installed) -> list[str]:
    return [each.span.kind for each in refreshed(trips)]


def state(trips: Installed) -> dict[int, str]:
    """The values of the keys that are not deleted."""
    rows = trips.rows("trips__state")
    return {row["id"]: row["v"] for row in rows if not row["_deleted"]}


def without_spark(trips: Installed) -> Installed:
    """The pipeline, where nothing may open what writes rows."""
    return replace(trips, written=False, session=no_spark)


def test_the_state_goes_with_each_batch(trips: Installed) -> None:
    assert state(trips) == {1: "b", 2: "b", 3: "b"}
    put(trips, {"id": 1, "v": "c", "n": 2}, {"id": 4, "v": "c", "n": 2}, {"id": 2, "n": 0})
    trips.run()
    (followed,) = refreshed(trips)
    assert str(followed.counts) == "1 inserted, 1 updated, 1 stale"
    assert state(trips) == {1: "c", 2: "b", 3: "b", 4: "c"}


def test_nothing_left_to_do_opens_no_lake(trips: Installed) -> None:
    before = DeltaTable(trips.warehouse / "trips__state").version()
    assert without_spark(trips).open().refresh() == []
    assert DeltaTable(trips.warehouse / "trips__state").version() == before


def test_a_log_that_is_not_there_yet_opens_no_lake(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format={"type": "json", "schema": SCHEMA}, state={"key": ["id"]})
    assert without_spark(trips).open().refresh() == []
    assert not (trips.warehouse / "trips__state").exists()


def test_what_takes_a_long_log_is_left_to_refresh(topic: Topic, pipeline: Pipelines) -> None:
    """Receipts wait for a landing, and may not wait for hours."""
    trips = pipeline(
        topic(),
        format={"type": "json", "schema": SCHEMA},
        state={"key": ["id"]},
        max_records_per_batch=2,
    )
    put(trips, *({"id": key, "v": "a"} for key in (1, 2, 3)))
    landed(trips)
    assert not (trips.warehouse / "trips__state").exists()
    assert kinds(trips) == ["everything"]
    put(trips, {"id": 1, "v": "b"})
    landed(trips)
    assert state(trips) == {1: "b", 2: "a", 3: "a"}
    assert kinds(trips) == []


def test_a_landing_makes_the_state_of_a_short_log(topic: Topic, pipeline: Pipelines) -> None:
    """One Spark is started for a run, also for the first one."""
    trips = pipeline(topic(), format={"type": "json", "schema": SCHEMA}, state={"key": ["id"]})
    put(trips, {"id": 1, "v": "a"})
    landed(trips)
    assert state(trips) == {1: "a"}
    assert kinds(trips) == []


def landed(trips: Installed) -> None:
    """What `ingest` does."""
    opened = trips.open()
    opened.land(opened.plan("run", "pytest"))


def optimised(trips: Installed) -> None:
    DeltaTable(trips.data).optimize.compact()


def given_a_property(trips: Installed) -> None:
    DeltaTable(trips.data).alter.set_table_properties({"note": "x"}, raise_if_not_exists=False)


def fenced(trips: Installed) -> None:
    trips.open().reset(shift_by(0), "a test", "run", "pytest")


@pytest.mark.parametrize("change", [optimised, given_a_property, fenced])
def test_a_version_that_changed_no_row_is_followed_without_a_lake(
    trips: Installed, change: Callable[[Installed], None]
) -> None:
    before, version = trips.rows("trips__state"), trips.version()
    change(trips)
    assert trips.version() != version
    (followed,) = without_spark(trips).open().refresh()
    trips.judge_state()
    assert (followed.span.kind, followed.span.upto) == ("nothing", trips.version())
    assert trips.rows("trips__state") == before
    put(trips, {"id": 1, "v": "c", "n": 2})
    trips.run()
    assert kinds(trips) == ["appended"]
    assert state(trips)[1] == "c"


def test_batches_that_are_moved_before_they_are_followed_are_followed(trips: Installed) -> None:
    put(trips, {"id": 1, "v": "c", "n": 2})
    trips.run()
    optimised(trips)
    refreshed(trips)
    assert state(trips)[1] == "c"


def test_what_is_read_again_gives_the_same_state(trips: Installed) -> None:
    before = trips.rows("trips__state")
    selections = (whole_batches(["forward-1-1"]), offset_ranges([f"{trips.topics[0]}[0] [1, 3)"]))
    for asked in selections:
        planned = trips.open().backfill(asked, "test", "pytest")
        trips.ingest(planned.work)
        trips.settle()
        assert kinds(trips) == ["rewritten"]
    assert sorted(trips.rows("trips__state"), key=str) == sorted(before, key=str)


def test_a_batch_that_is_read_again_by_another_spec_gives_the_state_of_its_rows(
    trips: Installed,
) -> None:
    trips.write_spec(only={"where": "v = 'a'"})
    planned = trips.open().backfill(whole_batches(["forward-1-2"]), "test", "pytest")
    trips.ingest(planned.work)
    trips.settle()
    refreshed(trips)
    assert state(trips) == {1: "a", 2: "a", 3: "a"}


def test_a_reset_reads_the_keys_anew(trips: Installed) -> None:
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    put(trips, {"id": 1, "v": "c", "n": 2})
    trips.run()
    assert "rewritten" in kinds(trips)
    assert state(trips) == {1: "c", 2: "b", 3: "b"}
    trips.open().reset(shift_by(-2), "a test", "run", "pytest")
    trips.run()
    refreshed(trips)


def test_a_log_that_is_restored_gives_the_state_of_its_rows(trips: Installed) -> None:
    DeltaTable(trips.data).restore(1)
    assert kinds(trips) == ["rewritten"]
    assert state(trips) == {1: "a", 2: "a", 3: "a"}
    DeltaTable(trips.data).restore(2)
    refreshed(trips)
    assert state(trips) == {1: "b", 2: "b", 3: "b"}


def test_rows_that_others_delete_leave_the_state_of_the_others(trips: Installed) -> None:
    DeltaTable(trips.data).delete("id = 1 OR (id = 2 AND n = 1)")
    (followed,) = refreshed(trips)
    assert str(followed.counts) == "1 updated, 1 deleted"
    assert state(trips) == {2: "a", 3: "b"}


def test_a_column_that_comes_later_is_null_in_the_rows_before(trips: Installed) -> None:
    trips.write_spec(format={"type": "json", "schema": f"{SCHEMA}, late STRING"})
    put(trips, {"id": 1, "v": "c", "n": 2, "late": "x"})
    trips.run()
    refreshed(trips)
    assert {r["id"]: r["late"] for r in trips.rows("trips__state")} == {1: "x", 2: None, 3: None}


def test_many_versions_are_followed_in_spans_of_so_many_rows(trips: Installed) -> None:
    trips.write_spec(max_records_per_batch=2)
    put(trips, *({"id": n, "v": "c", "n": n} for n in range(2, 8)))
    trips.run()
    assert kinds(trips) == ["appended"] * 3
    assert len(state(trips)) == 7


def test_a_log_whose_commits_are_gone_is_computed_whole(trips: Installed) -> None:
    put(trips, {"id": 1, "v": "c", "n": 2})
    trips.run()
    given_a_property(trips)
    DeltaTable(trips.data).create_checkpoint()
    for commit in sorted(trips.data.glob("_delta_log/*.json"))[:-1]:
        commit.unlink()
    (followed,) = trips.open().refresh()
    trips.judge_state()
    assert followed.span.kind == "everything"
    assert state(trips)[1] == "c"


def test_a_key_in_two_partitions_stops_the_state_and_not_the_log(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(2), format={"type": "json", "schema": SCHEMA}, state={"key": ["id"]})
    put(trips, {"id": 1, "v": "a"})
    trips.run()
    refreshed(trips)
    put(trips, {"id": 1, "v": "b"}, partition=1)
    trips.run()
    for _ in range(2):
        with pytest.raises(StateStopped, match=r"one in .*\[0\]@0 \(.*\) and .*\[1\]@0 \("):
            trips.open().refresh()
    assert trips.judge().facts.rows == 2
    trips.judge_state(caught_up=False)


def test_a_key_in_two_partitions_stops_nothing_once_its_rows_are_deleted(
    topic: Topic, pipeline: Pipelines
) -> None:
    """A DELETE does not change the version at which the state stops."""
    trips = pipeline(topic(2), format={"type": "json", "schema": SCHEMA}, state={"key": ["id"]})
    put(trips, {"id": 1, "v": "a"}, {"id": 2, "v": "a"})
    trips.run()
    refreshed(trips)
    put(trips, {"id": 1, "v": "b"}, {"id": 3, "v": "b"}, partition=1)
    trips.run()
    DeltaTable(trips.data).delete("id = 2")
    with pytest.raises(StateStopped, match="one in "):
        trips.open().refresh()
    DeltaTable(trips.data).delete("id = 1 AND _partition = 0")
    assert kinds(trips) == ["everything"]
    assert state(trips) == {1: "b", 3: "b"}


def test_what_moves_while_it_is_looked_at_speaks_against_nothing(trips: Installed) -> None:
    """The state is read last: another process may have landed and refreshed in between."""

    def beside() -> None:
        put(trips, {"id": 1, "v": "c", "n": 2})
        trips.run()
        refreshed(trips)

    resources = trips.open().resources
    waiting = iter([beside])

    def reached(step: str) -> None:
        if step == "state looked for":
            next(waiting, list)()

    with reaching(reached):
        _, standing = look(resources)
    assert (standing.refusal, standing.behind) == (None, 0)


def test_files_that_vacuum_may_have_taken_are_not_asked_for(trips: Installed) -> None:
    """All files of the version at which a span ends are read, also those that it did not change."""
    before = {*DeltaTable(trips.data).file_uris()}
    put(trips, {"id": 9, "v": "z", "n": 1})
    trips.run()
    refreshed(trips)
    DeltaTable(trips.data).delete("id = 9")
    optimised(trips)
    log = trips.data / "_delta_log" / f"{trips.version():020d}.json"
    past = log.stat().st_mtime - 8 * 24 * 3600
    os.utime(log, (past, past))
    for each in before:
        Path(each).unlink()
    assert kinds(trips) == ["everything"]
    assert state(trips) == {1: "b", 2: "b", 3: "b"}


@pytest.mark.parametrize("at", ["state computed", "lake: files written"])
def test_a_span_that_another_process_follows_meanwhile_is_followed_once(
    trips: Installed, at: str
) -> None:
    put(trips, {"id": 1, "v": "c", "n": 2})
    trips.run()
    beside = iter([lambda: trips.open().refresh()])

    def reached(step: str) -> None:
        if step == at:
            next(beside, list)()

    pipeline = trips.open()
    engine: Any = pipeline.engine
    waiting: Engine = replace(engine, switch=reached)
    with reaching(reached):
        replace(pipeline, engine=waiting).refresh()
    trips.judge_state()
    table = DeltaTable(trips.warehouse / "trips__state")
    assert table.transaction_version(app_id("trips")) == trips.version()
    assert state(trips) == {1: "c", 2: "b", 3: "b"}


def test_the_state_does_not_follow_a_log_that_was_put_back_from_a_copy(trips: Installed) -> None:
    copy = trips.folder / "copy"
    shutil.copytree(trips.data, copy)
    put(trips, {"id": 1, "v": "c", "n": 2})
    trips.run()
    refreshed(trips)
    shutil.rmtree(trips.data)
    copy.rename(trips.data)
    with pytest.raises(TableRefused, match="an older copy was put back"):
        trips.open().refresh()
    # The version at which the state stands is there once more, as another commit's.
    trips.open().reset(to_table, "a test", "run", "pytest")
    with pytest.raises(StateRefused, match="has grown anew"):
        trips.open().refresh()


def test_a_state_table_that_others_write_to_is_refused(trips: Installed) -> None:
    DeltaTable(trips.warehouse / "trips__state").delete("id = 1")
    with pytest.raises(StateRefused, match="found a DELETE in version"):
        trips.open().refresh()


def test_a_state_table_of_other_rules_is_refused(trips: Installed) -> None:
    trips.write_spec(state={"key": ["id"]})
    with pytest.raises(StateRefused, match=r"the spec.s `state` was changed"):
        trips.open().refresh()
