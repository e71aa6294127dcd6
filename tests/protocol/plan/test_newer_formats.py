"""Tables that a newer Sluice has written to are refused by name, and left as they are."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, write_deltalake
from sluice.errors import NewerFormat

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

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
    "quarantine show",
    "quarantine drop --all --reason because",
    "quarantine drop --all --reason because --execute",
    "quarantine replay --all",
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


def commit_newer(trips: Installed) -> None:
    """A commit to the data table as a newer Sluice would make it."""
    told = {"version": 3, "app_id": "sluice:trips:forward:1", "number": 2, "batch": "forward-1-2"}
    properties = CommitProperties(custom_metadata={"userMetadata": json.dumps({"sluice": told})})
    table = DeltaTable(trips.data)
    table.create_write_transaction([], "append", table.schema(), commit_properties=properties)


A_ROW = "trips__offsets: planned forward-1-1: format_version: expected 2 or less, found 3"
A_COMMIT = "commit of forward-1-2: userMetadata.sluice.version: expected 2 or less, found 3"
NEWER = [
    pytest.param(lambda trips: append_newer(trips, "planned", generation=7), A_ROW, id="row"),
    # As when the offsets table is an older copy.
    pytest.param(commit_newer, A_COMMIT, id="commit"),
]
what_is_newer = pytest.mark.parametrize(("write", "told"), NEWER)


@what_is_newer
def test_every_command_is_refused_by_name_and_nothing_changes(
    trips: Installed, write: Callable[[Installed], None], told: str
) -> None:
    write(trips)
    before = files(trips)
    for command in COMMANDS:
        verb, *rest = command.split(" --")
        options = [word for each in rest for word in f"--{each}".split(" ")]
        done = trips.sluice(verb, *options)
        assert done.returncode == 1, (command, done.stdout)
        for text in (told, "A newer Sluice has written here: use that one."):
            assert text in done.stderr, (command, done.stderr)
    with pytest.raises(NewerFormat):
        trips.open().maintain("test", "pytest")
    assert files(trips) == before


@what_is_newer
def test_the_status_says_why_the_next_run_is_refused(
    trips: Installed, write: Callable[[Installed], None], told: str
) -> None:
    known = json.loads(trips.sluice("status", "--json").stdout)
    write(trips)
    shown = trips.sluice("status")
    assert shown.returncode == 0, shown.stderr
    assert "trips: The next run is refused: " in shown.stdout
    assert told in shown.stdout
    document = json.loads(trips.sluice("status", "--json").stdout)
    assert document.keys() == known.keys()
    assert told in document["notes"][0]
    assert (document["last_batch"], document["partitions"]) == (None, None)


def files(trips: Installed) -> dict[Path, int]:
    return {each: each.stat().st_mtime_ns for each in trips.warehouse.rglob("*")}


def test_a_newer_commit_is_not_taken_for_another_writers(trips: Installed) -> None:
    """The offsets table is lost, and what is left to recover from is a newer Sluice's."""
    commit_newer(trips)
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
