"""A state table that is refused, whatever for, is made anew from the data table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pytest
from deltalake import DeltaTable
from sluice.errors import SpecError, StateRefused
from sluice.operations.rebuild import Rebuild, rebuild

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.states import (
    STATE,
    is_right,
    keyed,
    put,
    refreshed,
    state_rows,
    state_table,
    with_spark,
)

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Three keys, one of them deleted."""
    trips = keyed(topic, pipeline)
    put(trips, 1, "a", seq=9)
    put(trips, 2, "b", partition=1, seq=8)
    put(trips, 1, "c", seq=7)
    put(trips, 2, "b", partition=1, seq=6, gone=True)
    put(trips, 3, "d", seq=5)
    trips.run()
    refreshed(trips)
    return trips


def sql(trips: Installed, statement: str) -> None:
    trips.session().sql(statement.format(state=f"delta.`{state_table(trips)}`"))


def dropped(trips: Installed) -> None:
    shutil.rmtree(state_table(trips))


def another_of_ours(trips: Installed) -> None:
    dropped(trips)
    sql(trips, "CREATE TABLE {state} (x INT) USING delta TBLPROPERTIES (sluice.pipeline = 'trips')")


def restored(trips: Installed) -> None:
    newest = DeltaTable(state_table(trips)).version()
    sql(trips, f"RESTORE TABLE {{state}} TO VERSION AS OF {newest - 1}")


def rules(**state: object) -> Callable[[Installed], None]:
    """Another `state` section in the spec."""
    return lambda trips: trips.write_spec(state={**STATE, **state})


STORIES: dict[str, tuple[Callable[[Installed], None], str]] = {
    "dropped": (dropped, "expected the state table that Sluice made, found none"),
    "another table": (another_of_ours, "found another in its place"),
    "restored": (restored, "found a RESTORE"),
    "rows deleted": (
        lambda trips: sql(trips, "DELETE FROM {state} WHERE id = 1"),
        "expected rows that only Sluice writes, found a DELETE",
    ),
    "rows inserted": (
        lambda trips: sql(trips, "INSERT INTO {state} SELECT * FROM {state} WHERE id = 1"),
        "expected rows that only Sluice writes, found a WRITE",
    ),
    "rows updated": (
        lambda trips: sql(trips, "UPDATE {state} SET v = 'x' WHERE id = 1"),
        "expected rows that only Sluice writes, found a UPDATE",
    ),
}


def made_anew(trips: Installed) -> Rebuild:
    opened = with_spark(trips)
    return rebuild(opened.resources, opened.open_state)


def refused(trips: Installed, text: str) -> None:
    """The refresh is refused with the way back, and so is its preview, which writes nothing."""
    with pytest.raises(StateRefused) as problem:
        refreshed(trips)
    assert text in str(problem.value)
    assert [str(each) for each in problem.value.moves] == ["sluice rebuild trips"]
    before = sorted(trips.warehouse.rglob("*"))
    shown = trips.sluice("rebuild")
    assert shown.returncode == 0, shown.stderr
    assert text in shown.stdout
    assert shown.stdout.endswith("Nothing was changed: --execute does it.\n")
    assert sorted(trips.warehouse.rglob("*")) == before


def leads_out(trips: Installed) -> None:
    """Afterwards nothing is refused, and the state is what the log says."""
    done = made_anew(trips).done
    assert done is not None
    assert done.span.upto == trips.version()
    assert refreshed(trips) == []
    assert is_right(trips)


@pytest.mark.parametrize("story", STORIES)
def test_a_refused_state_table_is_made_anew(trips: Installed, story: str) -> None:
    happens, text = STORIES[story]
    happens(trips)
    refused(trips, text)
    leads_out(trips)


def test_each_rule_that_the_spec_changes_is_a_reason(trips: Installed) -> None:
    changed: dict[str, object] = {
        "deleted_when": "NOT gone",
        "unavailable": "nothing",
        "order_by": ["seq"],
    }
    for name, value in changed.items():
        trips.write_spec(state={**STATE, name: value})
        refused(trips, "the spec's `state`")
    trips.write_spec(state=dict(STATE))
    assert refreshed(trips) == []


def test_another_order_makes_other_rows(trips: Installed) -> None:
    trips.write_spec(state={**STATE, "order_by": ["seq"]})
    made_anew(trips)
    assert {key: row["v"] for key, row in state_rows(trips).items()} == {1: "a", 2: "b", 3: "d"}


def test_another_key_makes_another_table(trips: Installed) -> None:
    trips.write_spec(state={"key": ["v"]})
    refused(trips, "the spec's `state`")
    done = made_anew(trips).done
    assert done is not None
    assert (done.counts.inserted, done.counts.superseded) == (4, 1)


@pytest.mark.parametrize("owner", ["", " TBLPROPERTIES (sluice.pipeline = 'others')"])
def test_a_table_of_others_is_moved_away_first(trips: Installed, owner: str) -> None:
    dropped(trips)
    sql(trips, f"CREATE TABLE {{state}} (x INT) USING delta{owner}")
    for each in ("", "--execute"):
        told = trips.sluice("rebuild", *filter(None, [each]))
        assert told.returncode == 1
        assert "Move it away; then `sluice rebuild trips`" in told.stderr
    state_table(trips).rename(trips.warehouse / "theirs")
    refused(trips, "found none")
    leads_out(trips)


def test_an_older_copy_of_the_data_table_is_put_back(trips: Installed) -> None:
    older = trips.warehouse.parent / "copy"
    shutil.copytree(trips.data, older)
    put(trips, 1, "later")
    trips.run()
    refreshed(trips)
    shutil.rmtree(trips.data)
    shutil.copytree(older, trips.data)
    done = trips.sluice("recover", "--execute", "--reason", "a copy was put back")
    assert done.returncode == 0, done.stderr
    refused(trips, "an older copy of the data table was put back")
    leads_out(trips)


def test_the_data_table_is_created_anew(trips: Installed) -> None:
    shutil.rmtree(trips.data)
    done = trips.sluice("recover", "--execute", "--reason", "nobody has a copy")
    assert done.returncode == 0, done.stderr
    trips.run()
    refused(trips, "expected the state of data table")
    leads_out(trips)


def test_a_whole_state_may_be_made_anew_too(trips: Installed) -> None:
    shown = trips.sluice("rebuild", "--json")
    found = json.loads(shown.stdout)
    assert (found["refusal"], found["executed"]) == (None, False)
    assert (found["stands_at"], found["data"]["rows"]) == (trips.version(), 5)
    assert (found["state"]["rows"], found["key"]) == (3, ["id"])
    leads_out(trips)
    put(trips, 1, "e")
    trips.run()
    (followed,) = refreshed(trips)
    assert (followed.span.kind, followed.counts.updated) == ("appended", 1)
    # Rows that were only marked are not counted.
    assert json.loads(trips.sluice("rebuild", "--json").stdout)["state"]["rows"] == 3


def test_a_pipeline_without_a_state_table_is_told_the_key(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    told = trips.sluice("rebuild")
    assert told.returncode == 1
    assert "trips: state: expected the columns of the key" in told.stderr
    with pytest.raises(SpecError):
        made_anew(trips)


def test_before_the_first_run_there_is_nothing_to_make(topic: Topic, pipeline: Pipelines) -> None:
    trips = keyed(topic, pipeline)
    for each in ("", "--execute"):
        told = trips.sluice("rebuild", *filter(None, [each]))
        assert (told.returncode, told.stdout) == (
            0,
            "trips: there is no data table yet: the first run makes both\n",
        )


def test_a_state_is_added_to_a_table_with_history_and_taken_away_again(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = keyed(topic, pipeline, state=None)
    put(trips, 1, "a")
    trips.run()
    put(trips, 1, "b")
    trips.run()
    assert refreshed(trips) == []
    assert not state_table(trips).exists()
    trips.write_spec(state=dict(STATE))
    assert "not made yet: the next run makes it" in trips.sluice("rebuild").stdout
    (followed,) = refreshed(trips)
    assert (followed.span.kind, followed.counts.inserted) == ("everything", 1)
    assert is_right(trips)
    trips.write_spec(state=None)
    put(trips, 1, "c")
    trips.run()
    assert refreshed(trips) == []
    assert state_rows(trips)[1]["v"] == "b"
