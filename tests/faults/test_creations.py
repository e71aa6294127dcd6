"""A table's creation is cut short, or met by another one: the table is created, and is ours."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from deltalake import DeltaTable
from sluice.errors import SparkFailed

from tests.faults.striking import frozen, strike
from tests.worlds.pipelines import Installed
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

VALUES = [*numbered(4), b"{broken", *numbered(5, 5)]


@pytest.fixture
def trips(faulty: Callable[..., Installed]) -> Installed:
    """A pipeline with ten unread records, one of them malformed."""
    made = faulty(format={"type": "json", "schema": "id BIGINT"}, quarantine={"max_ratio": 0.5})
    produce(made.bootstrap, made.topics[0], VALUES)
    return made


def exact(trips: Installed) -> None:
    for table in (trips.data, trips.warehouse / f"{trips.name}__quarantine"):
        assert DeltaTable(table).metadata().configuration["sluice.pipeline"] == trips.name
    produce(trips.bootstrap, trips.topics[0], numbered(5, 10))
    trips.run()
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (14, 1)


@pytest.mark.parametrize("point", ["creation", "quarantine creation"])
def test_a_table_whose_creation_was_cut_short_is_created_by_the_next_run(
    trips: Installed, point: str
) -> None:
    assert strike(trips, point, "kill").returncode == -signal.SIGKILL
    suffix = "__quarantine" if point.startswith("quarantine") else ""
    left = trips.warehouse / f"{trips.name}{suffix}"
    assert list(left.iterdir()), "folders without a commit"
    trips.run()
    exact(trips)


@pytest.mark.parametrize("point", ["creation", "quarantine creation"])
def test_of_two_that_create_a_table_neither_writes_before_it_is_there(
    trips: Installed, point: str
) -> None:
    slow, jvm = frozen(trips, point)
    trips.run()
    jvm.resume()
    done = slow.end()
    assert done.returncode == 0, done.stderr
    exact(trips)


def test_other_files_in_the_tables_place_are_left_alone(trips: Installed) -> None:
    trips.data.mkdir(parents=True)
    (trips.data / "notes.txt").write_text("mine")
    with pytest.raises(SparkFailed, match="the tables were not created") as refused:
        trips.run()
    assert "found other files. Move them away" in str(refused.value)
    assert (trips.data / "notes.txt").read_text() == "mine"
    (trips.data / "notes.txt").unlink()
    trips.run()
    exact(trips)
