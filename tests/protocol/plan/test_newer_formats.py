"""Tables that a newer Sluice has written to are refused by name, and left as they are."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake
from sluice.errors import NewerFormat

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.spark]

COMMANDS = [
    "plan",
    "run",
    "history",
    "verify",
    "recover",
    "recover --execute --reason because",
    "reset --to-earliest",
    "reset --shift-by 0 --execute --reason because",
    "reset --to-table",
    "backfill --from 2024-01-05T06Z --to 2024-01-05T08Z",
    "quarantine list",
]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed a batch, and has more to read."""
    found = landed(pipeline(topic()), batches=1)
    more(found, 10, 10)
    return found


def append_newer(trips: Installed, event: str, **others: Any) -> None:
    """A row as a newer Sluice would leave it."""
    uri = trips.warehouse / "trips__offsets"
    first = DeltaTable(uri).to_pyarrow_table().slice(0, 1)
    row = first.to_pylist()[0] | {"format_version": 3, "event": event, **others}
    write_deltalake(uri, pa.Table.from_pylist([row], schema=first.schema), mode="append")


def test_a_newer_row_stops_every_command(trips: Installed) -> None:
    append_newer(trips, "planned", generation=7)
    before = sorted(trips.warehouse.rglob("*"))
    for command in COMMANDS:
        verb, *rest = command.split(" --")
        options = [word for each in rest for word in f"--{each}".split(" ")]
        done = trips.sluice(verb, *options)
        assert done.returncode == 1, (command, done.stdout)
        for text in (
            "trips__offsets: planned forward-1-1: format_version: expected 2 or less, found 3",
            "A newer Sluice has written here: use that one.",
        ):
            assert text in done.stderr, (command, done.stderr)
    assert sorted(trips.warehouse.rglob("*")) == before


def test_a_newer_commit_is_not_taken_for_another_writers(trips: Installed) -> None:
    """The offsets table is lost, and what is left to recover from is a newer Sluice's."""
    told = {"version": 3, "app_id": "sluice:trips:forward:1", "number": 2, "batch": "forward-1-2"}
    properties = CommitProperties(custom_metadata={"userMetadata": json.dumps({"sluice": told})})
    table = DeltaTable(trips.data)
    table.create_write_transaction([], "append", table.schema(), commit_properties=properties)
    offsets = trips.warehouse / "trips__offsets"
    offsets.rename(trips.folder / "aside")
    done = trips.sluice("recover", "--execute", "--reason", "lost")
    assert done.returncode == 1, done.stdout
    assert "commit of forward-1-2: userMetadata.sluice.version: expected 2" in done.stderr
    assert not offsets.exists()


def test_a_newer_row_of_any_event_counts_until_the_older_copy_is_back(trips: Installed) -> None:
    offsets = trips.warehouse / "trips__offsets"
    newer = offsets / "_delta_log" / f"{DeltaTable(offsets).version() + 1:020d}.json"
    for event in ("planned", "committed", "loss", "reset_intended", "reset_done", "of_tomorrow"):
        append_newer(trips, event, generation=7)
        with pytest.raises(NewerFormat, match=f"trips__offsets: {event}"):
            trips.plan()
        newer.unlink()
    trips.run()
    assert trips.judge().facts.rows == 20
