"""Resets: a generation is closed exactly; what is read again takes the place of its old rows."""

from __future__ import annotations

import pytest
from deltalake import DeltaTable
from sluice.errors import ResetNeeded
from sluice.operations.reset.targets import to_earliest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import group_positions, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline of two partitions that has landed three batches of ten records."""
    made = pipeline(topic(2))
    for number in range(3):
        more(made, 10 * number)
        made.run()
    return made


def more(trips: Installed, first: int) -> None:
    for partition in (0, 1):
        produce(trips.bootstrap, trips.topics[0], numbered(5, first), partition)


def modes(trips: Installed) -> dict[str, str]:
    return {row["batch"]: row["mode"] for row in trips.offsets("planned")}


def test_what_is_read_again_replaces_its_rows(trips: Installed) -> None:
    before = trips.rows()
    done = trips.open().reset(to_earliest, "a test", "run", "pytest")
    assert (done.generation, done.closed_at["forward"], done.done) == (2, 3, True)
    more(trips, 30)
    trips.run()
    assert trips.ranges()["forward-2-1"] == {"[0]": (0, 20), "[1]": (0, 20)}
    assert (len(before), modes(trips)["forward-2-1"]) == (30, "replace")
    assert {row["_batch"] for row in trips.rows()} == {"forward-2-1"}
    assert group_positions(trips.bootstrap, trips.group, trips.topics[0], 2) == [20, 20]
    assert trips.judge().facts.rows == 40


def test_only_batches_that_read_again_replace(trips: Installed) -> None:
    trips.write_spec(max_records_per_batch=20)
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    more(trips, 30)
    trips.run()
    assert [modes(trips)[f"forward-2-{n}"] for n in (1, 2)] == ["replace", "replace"]
    more(trips, 40)
    trips.run()
    assert modes(trips)["forward-2-3"] == "append"
    assert trips.judge().facts.rows == 50


def test_a_restored_table_stops_the_line_and_is_made_whole(trips: Installed) -> None:
    landed = {row["batch"]: row["data_version"] for row in trips.offsets("committed")}
    DeltaTable(trips.data).restore(landed["forward-1-1"])
    more(trips, 30)
    for verb in (trips.plan, trips.settle):
        with pytest.raises(ResetNeeded) as refused:
            verb()
        text = str(refused.value)
        assert "found forward-1-2, forward-1-3 undone" in text
        assert f"{trips.topics[0]}[0] [5, 15)" in text
        assert "sluice reset trips --to-table" in text
    shown = trips.sluice("reset", "--to-table")
    assert (shown.returncode, "Nothing was changed" in shown.stdout) == (0, True), shown.stderr
    assert trips.offsets("reset_intended") == []
    done = trips.sluice("reset", "--to-table", "--execute", "--reason", "an analyst's RESTORE")
    assert done.returncode == 0, done.stderr
    rows = [row for row in trips.offsets("reset_done") if row["lane"] == "forward"]
    assert {(row["closed_at"], row["reason"]) for row in rows} == {(1, "an analyst's RESTORE")}
    assert {(row["cursor_before"], row["cursor_after"]) for row in rows} == {(15, 5)}
    trips.run()
    assert trips.ranges()["forward-2-1"] == {"[0]": (5, 20), "[1]": (5, 20)}
    assert trips.judge().facts.rows == 40


def test_a_restore_that_takes_no_batch_away_is_no_reason_to_stop(trips: Installed) -> None:
    table = DeltaTable(trips.data)
    version = table.version()
    table.restore(1)
    table.restore(version)
    more(trips, 30)
    trips.run()
    assert trips.judge().facts.rows == 40
