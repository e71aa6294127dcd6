"""A state table that is refused, whatever for, is made anew from the data table."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.errors import CommitConflict, SpecError, StateRefused
from sluice.failpoints import reaching
from sluice.operations.rebuild import Rebuild, rebuild
from sluice.protocol.refresh.due_span import due_span

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.states import STATE, is_right, keyed, put, refreshed, state_rows, state_table

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


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


def state(trips: Installed) -> DeltaTable:
    return DeltaTable(state_table(trips))


def dropped(trips: Installed) -> None:
    shutil.rmtree(state_table(trips))


def another(trips: Installed, owner: str | None) -> None:
    """A table that others have made in its place, which says that it is that pipeline's."""
    dropped(trips)
    write_deltalake(state_table(trips), pa.table({"x": [1]}))
    if owner is not None:
        says = {"sluice.pipeline": owner}
        state(trips).alter.set_table_properties(says, raise_if_not_exists=False)


def inserted(trips: Installed) -> None:
    write_deltalake(state(trips), state(trips).to_pyarrow_table().slice(0, 1), mode="append")


def rules(**keys: object) -> Callable[[Installed], None]:
    """Another `state` section in the spec."""
    return lambda trips: trips.write_spec(state={**STATE, **keys})


ONLY_SLUICE = "expected rows that only Sluice writes, found a"
OF_THE_SPEC = "the spec's `state` was changed"
STORIES: dict[str, tuple[Callable[[Installed], object], str]] = {
    "dropped": (dropped, "expected the state table that Sluice made, found none"),
    "replaced": (lambda trips: another(trips, "trips"), "found another in its place"),
    "restored": (lambda trips: state(trips).restore(0), f"{ONLY_SLUICE} RESTORE"),
    "rows deleted": (lambda trips: state(trips).delete("id = 1"), f"{ONLY_SLUICE} DELETE"),
    "rows inserted": (inserted, f"{ONLY_SLUICE} WRITE"),
    "rows updated": (lambda trips: state(trips).update({"v": "'x'"}), f"{ONLY_SLUICE} UPDATE"),
}
CHANGES = {
    "deleted_when": rules(deleted_when="gone IS NULL"),
    "unavailable": rules(unavailable="nothing"),
    "order_by": rules(order_by=["_offset"]),
    "key": rules(key=["id", "v"]),
}


def made_anew(trips: Installed) -> Rebuild:
    opened = trips.open()
    return rebuild(opened.resources, opened.open_state)


def refused(trips: Installed, text: str) -> None:
    """The refresh is refused with the way back; the preview says so, too, and writes nothing."""
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
    """Afterwards nothing is refused, and the state follows the log."""
    done = made_anew(trips).done
    assert done is not None
    assert done.span.upto == trips.version()
    assert refreshed(trips) == []
    put(trips, 4, "e")
    trips.run()
    (followed,) = refreshed(trips)
    assert (followed.span.kind, followed.counts.changed) == ("appended", 1)


@pytest.mark.parametrize("story", STORIES)
def test_a_refused_state_table_is_made_anew(trips: Installed, story: str) -> None:
    happens, text = STORIES[story]
    happens(trips)
    refused(trips, text)
    leads_out(trips)
    assert is_right(trips)


@pytest.mark.parametrize("key", CHANGES)
def test_by_a_rule_of_the_spec_that_was_changed_it_is_made_anew(trips: Installed, key: str) -> None:
    CHANGES[key](trips)
    refused(trips, OF_THE_SPEC)
    leads_out(trips)


def test_a_rule_that_is_put_back_is_no_reason(trips: Installed) -> None:
    rules(order_by=["seq"])(trips)
    refused(trips, OF_THE_SPEC)
    rules()(trips)
    assert refreshed(trips) == []


def test_another_order_makes_other_rows(trips: Installed) -> None:
    rules(order_by=["seq"])(trips)
    made_anew(trips)
    assert {key: row["v"] for key, row in state_rows(trips).items()} == {1: "a", 2: "b", 3: "d"}


def test_another_key_makes_another_table(trips: Installed) -> None:
    trips.write_spec(state={"key": ["v"]})
    done = made_anew(trips).done
    assert done is not None
    assert (done.counts.inserted, done.counts.superseded) == (4, 1)


@pytest.mark.parametrize("owner", [None, "others"])
def test_a_table_of_others_is_moved_away_first(trips: Installed, owner: str | None) -> None:
    another(trips, owner)
    for options in ((), ("--execute",)):
        told = trips.sluice("rebuild", *options)
        assert told.returncode == 1
        assert "Move it away; then `sluice rebuild trips --execute`" in told.stderr
    state_table(trips).rename(trips.warehouse / "theirs")
    refused(trips, "found none")
    leads_out(trips)
    assert is_right(trips)


def test_an_older_copy_of_the_data_table_is_put_back(trips: Installed) -> None:
    older = trips.folder / "copy"
    shutil.copytree(trips.data, older)
    put(trips, 1, "later")
    trips.run()
    refreshed(trips)
    shutil.rmtree(trips.data)
    shutil.copytree(older, trips.data)
    done = trips.sluice("recover", "--execute", "--reason", "a copy was put back")
    assert done.returncode == 0, done.stderr
    made_anew(trips)
    trips.run()
    refreshed(trips)
    assert is_right(trips, anew=True)


def test_the_data_table_is_created_anew(trips: Installed) -> None:
    shutil.rmtree(trips.data)
    done = trips.sluice("recover", "--execute", "--reason", "nobody has a copy")
    assert done.returncode == 0, done.stderr
    trips.run()
    refused(trips, "expected the state of data table")
    leads_out(trips)
    assert is_right(trips)


def test_a_whole_state_may_be_made_anew_too(trips: Installed) -> None:
    found = json.loads(trips.sluice("rebuild", "--json").stdout)
    assert (found["refusal"], found["executed"]) == (None, False)
    assert (found["stands_at"], found["data"]["rows"]) == (trips.version(), 5)
    assert (found["state"]["rows"], found["key"]) == (3, ["id"])
    leads_out(trips)


class Cut(BaseException):
    """The process dies here."""


def cut(_: str) -> None:
    raise Cut


def once_at(point: str, happens: Callable[[str], object]) -> Callable[[str], None]:
    """A hook that lets it happen when the step is first reached."""
    left = [happens]

    def hook(reached: str) -> None:
        if reached == point and left:
            left.pop()(reached)

    return hook


def test_a_rebuild_that_was_cut_is_refused_until_the_next_one(trips: Installed) -> None:
    with pytest.raises(Cut), reaching(once_at("state given up", cut)):
        made_anew(trips)
    refused(trips, "expected a whole table, found one that is being rebuilt since 20")
    refused(trips, " UTC, or whose rebuild was interrupted")
    leads_out(trips)
    assert is_right(trips)


def test_a_creation_that_was_cut_is_completed_by_the_next_run(trips: Installed) -> None:
    dropped(trips)
    with pytest.raises(Cut), reaching(once_at("state created", cut)):
        made_anew(trips)
    refused(trips, "found another in its place")
    leads_out(trips)
    assert is_right(trips)


@pytest.mark.parametrize("point", ["state given up", "state computed"])
def test_two_rebuilds_at_once_leave_one_right_table(trips: Installed, point: str) -> None:
    with reaching(once_at(point, lambda _: made_anew(trips))):
        made_anew(trips)
    assert refreshed(trips) == []
    assert is_right(trips)


def test_a_refresh_that_comes_late_in_a_rebuild_lands_nowhere(trips: Installed) -> None:
    """Its span was known before the table was given up, and its commit comes after that."""
    put(trips, 1, "later")
    trips.run()
    opened = trips.open()
    late = due_span(opened.resources)
    assert late is not None

    def lands(_: str) -> None:
        with opened.open_state() as lake, pytest.raises(CommitConflict):
            lake.follow(late.attempt)

    with reaching(once_at("state given up", lands)):
        assert made_anew(trips).done is not None
    assert is_right(trips)


def test_a_spec_without_a_state_is_told_the_key(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic())
    told = trips.sluice("rebuild")
    assert told.returncode == 1
    assert "trips: state: expected the columns of the key" in told.stderr
    with pytest.raises(SpecError):
        made_anew(trips)


def test_before_the_first_run_there_is_nothing_to_make(topic: Topic, pipeline: Pipelines) -> None:
    trips = keyed(topic, pipeline)
    for options in ((), ("--execute",)):
        told = trips.sluice("rebuild", *options)
        said = "trips: there is no data table: the next run makes both\n"
        assert (told.returncode, told.stdout) == (0, said)


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
    rules()(trips)
    assert "not made yet: the next run makes it, or says why not" in trips.sluice("rebuild").stdout
    (followed,) = refreshed(trips)
    assert (followed.span.kind, followed.counts.inserted) == ("everything", 1)
    assert is_right(trips)
    trips.write_spec(state=None)
    put(trips, 1, "c")
    trips.run()
    assert refreshed(trips) == []
    assert state_rows(trips)[1]["v"] == "b"
