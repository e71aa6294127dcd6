"""What `only` leaves out is neither lost nor missing, whatever happens to the tables."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import shift_by

from tests.operations.recover.test_recover import copied
from tests.worlds.altered_tables import clean_the_log
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, produce

pytestmark = [pytest.mark.integration]

FORM = {"type": "json", "schema": "kind STRING, id BIGINT"}
ORDERS = {"header": "kind", "value": "order"}
Counts = tuple[int, int, int, int]


def add(trips: Installed, *kinds: str, value: bytes | None = None, first: int = 0) -> None:
    """A record of each kind; numbered, unless there is a value for all."""
    for number, kind in enumerate(kinds, first):
        content = value or json.dumps({"kind": kind, "id": number}).encode()
        produce(trips.bootstrap, trips.topics[0], [content], headers=[("kind", kind.encode())])


def is_order(found: dict[str, Any]) -> bool:
    return ("kind", b"order") in [(e["key"], e["value"]) for e in found["headers"] or ()]


def counts(trips: Installed) -> list[Counts]:
    names = ("records", "quarantined", "filtered", "gaps")
    return [tuple(row[each] for each in names) for row in trips.offsets("committed")]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two batches: orders at 0, 2, 3, 5; clicks at 1, 4, 6."""
    made = pipeline(topic(retention_ms=-1), format=FORM, only=ORDERS, quarantine={"max_ratio": 1})
    made.written = True
    add(made, "order", "click", "order")
    made.run()
    add(made, "order", "click", "order", "click", first=3)
    made.run()
    assert counts(made) == [(2, 0, 1, 0), (2, 0, 2, 0)]
    return made


def done(trips: Installed, command: str, *words: str) -> str:
    found = trips.sluice(command, *words, "--execute", "--reason", "a test")
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def exact(trips: Installed, rows: int, **known: Any) -> str:
    """The oracle and `verify` find nothing. What verify says."""
    facts = trips.judge(**{"keeps": is_order, **known}).facts
    assert facts.rows == rows
    return verified(trips)


def verified(trips: Installed) -> str:
    found = trips.sluice("verify")
    assert found.returncode == 0, found.stdout + found.stderr
    return found.stdout


def read_again(trips: Installed, start: int, end: int) -> None:
    selection = offset_ranges([f"{trips.topics[0]}[0] [{start}, {end})"])
    trips.ingest(trips.open().backfill(selection, "run", "pytest").work)
    trips.settle()


def test_a_recovery_from_the_log_names_no_lost_row(trips: Installed) -> None:
    before = counts(trips)
    shutil.rmtree(trips.warehouse / "trips__offsets")
    said = done(trips, "recover")
    assert "not there" not in said
    assert "lost" not in said
    assert counts(trips) == before
    add(trips, "click", "order", first=7)
    trips.run()
    assert "4 filtered" in exact(trips, 5)


def test_a_recovery_without_the_commits_reads_on_behind_the_last_row(trips: Installed) -> None:
    """The click behind it is left out once more."""
    clean_the_log(trips)
    shutil.rmtree(trips.warehouse / "trips__offsets")
    said = done(trips, "recover", "--bring-back-erased")
    assert "not there" not in said
    add(trips, "order", first=7)
    trips.run()
    assert counts(trips)[-1] == (1, 0, 1, 0)
    assert sorted(row["_offset"] for row in trips.rows()) == [0, 2, 3, 5, 7]
    verified(trips)


def test_of_a_copy_that_lacks_rows_as_many_are_told_and_no_more(trips: Installed) -> None:
    """Which offsets the batch left out, only the log of the table before it told."""
    DeltaTable(trips.data).delete("_offset = 5")
    copied(trips)
    said = done(trips, "recover")
    assert said.count("rows of forward-1-2 are not there") == 1
    assert "forward-1-1 are" not in said
    assert "perhaps others: the batch left records out as well" in said
    trips.run()
    verified(trips)
    read_again(trips, 3, 7)
    assert sorted(row["_offset"] for row in trips.rows()) == [0, 2, 3, 5]
    verified(trips)


def test_of_a_copy_that_lacks_all_that_is_left_nothing_is_guessed(trips: Installed) -> None:
    add(trips, "order", "order", first=7)
    trips.run()
    DeltaTable(trips.data).delete("_offset = 8")
    copied(trips)
    said = done(trips, "recover")
    assert "[0] [8, 9): rows of forward-1-3 are not there" in said
    assert "perhaps" not in said
    trips.run()
    verified(trips)


def test_a_quarantined_record_that_is_gone_is_none_of_those_left_out(trips: Installed) -> None:
    """Kafka has lost all of them; only what was an order can have been in quarantine."""
    add(trips, "click", "click")
    add(trips, "order", value=b"{}")
    add(trips, "click", "order", first=9)
    trips.run()
    assert counts(trips)[-1] == (1, 1, 3, 0)
    delete_records(trips.bootstrap, trips.topics[0], 11)
    shutil.rmtree(trips.warehouse / "trips__quarantine")
    said = done(trips, "quarantine recover")
    assert "[0] [9, 10)" in said
    assert "[0] [7, 8)" not in said
    verified(trips)


def test_a_restore_leads_to_the_same_records_again(trips: Installed) -> None:
    version = DeltaTable(trips.data).version()
    DeltaTable(trips.data).restore(version - 1)
    done(trips, "reset", "--to-table")
    trips.run()
    assert counts(trips)[-1] == (2, 0, 2, 0)
    assert "3 filtered" in exact(trips, 4)


def test_a_backup_that_is_put_back_is_read_on_from(trips: Installed) -> None:
    backup = trips.folder / "backup"
    shutil.copytree(trips.data, backup)
    add(trips, "click", "order", first=7)
    trips.run()
    shutil.rmtree(trips.data)
    backup.rename(trips.data)
    done(trips, "reset", "--to-table")
    trips.run()
    assert counts(trips)[-1] == (1, 0, 1, 0)
    assert "4 filtered" in exact(trips, 5)


def test_what_is_read_again_is_left_out_again(trips: Installed) -> None:
    read_again(trips, 1, 5)
    assert counts(trips)[0] == (2, 0, 2, 0)
    exact(trips, 4)
    trips.open().reset(shift_by(-3), "a rewind", "run", "pytest")
    add(trips, "click", first=7)
    trips.run()
    assert "4 filtered" in exact(trips, 4)


def test_another_kind_holds_for_what_is_read_from_then_on(trips: Installed) -> None:
    """What was passed over is not read again by itself; a reset does it, and removes the others."""
    trips.write_spec(only={"header": "kind", "value": "click"})
    add(trips, "order", "click", first=7)
    trips.run()
    assert sorted(row["_offset"] for row in trips.rows()) == [0, 2, 3, 5, 8]
    assert "4 filtered" in verified(trips)
    done(trips, "reset", "--to-earliest")
    trips.run()
    assert sorted(row["_offset"] for row in trips.rows()) == [1, 4, 6, 8]
    assert "5 filtered" in verified(trips)
    # All kinds again: what the last batch left out, a part of the topic gets back.
    trips.write_spec(only=None)
    read_again(trips, 0, 3)
    assert sorted(row["_offset"] for row in trips.rows()) == [0, 1, 2, 4, 6, 8]
    assert "3 filtered" in verified(trips)


def test_what_was_lost_and_is_left_out_by_a_later_batch_is_lost_no_more(trips: Installed) -> None:
    add(trips, "click", "order", first=7)
    at = f"{trips.topics[0]}[0]@7"
    done(trips, "reset", "--skip", at)
    trips.run()
    assert lost(trips) == 1
    read_again(trips, 7, 8)
    assert lost(trips) == 0
    verified(trips)


def lost(trips: Installed) -> int:
    """How many offsets the pipeline's losses name that no batch has read since."""
    found: int = json.loads(trips.sluice("status", "--json").stdout)["lost"]
    return found


def test_a_record_that_was_quarantined_and_is_left_out_since_counts_no_more(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(retention_ms=-1), format=FORM, quarantine={"max_ratio": 1})
    trips.written = True
    add(trips, "order")
    add(trips, "click", value=b"{}")
    trips.run()
    assert counts(trips) == [(1, 1, 0, 0)]
    trips.write_spec(only=ORDERS)
    done(trips, "reset", "--to-earliest")
    trips.run()
    assert "no records" in trips.sluice("quarantine list").stdout
    assert "1 filtered" in verified(trips)
