"""Copies made as docs/deployment.md says, of a pipeline that goes on, are exact or refused."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from pathlib import Path

import pytest
from sluice.errors import TableRefused

from tests.worlds.pipelines import Installed, Pipelines, Topic, more
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE = Path(__file__).parents[2] / "docs" / "deployment.md"
TABLES = ["trips", "trips__quarantine", "trips__offsets"]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed a batch, with one record in quarantine."""
    form = {"type": "json", "schema": "id BIGINT"}
    found = pipeline(topic(), format=form, quarantine={"max_ratio": 1})
    land(found, 0)
    return found


def land(trips: Installed, number: int) -> None:
    """A batch of five records and one that cannot be decoded."""
    more(trips, 5, 10 * number)
    produce(trips.bootstrap, trips.topics[0], [b"not json"])
    trips.run()


def back_up(trips: Installed, tables: list[str]) -> Path:
    """Run the page's own commands, for these tables. Returns the folder of the copies."""
    text = PAGE.read_text(encoding="utf-8")
    (commands,) = re.findall(r"^## Back up .*?```sh\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    listed = " ".join(TABLES).replace("trips", "flights")
    assert listed in commands
    folder = trips.folder / "backup"
    environment = {"PATH": "/usr/bin:/bin", "BACKUP": str(folder)}
    subprocess.run(
        ["sh", "-ec", commands.replace(listed, " ".join(tables)).replace("/flights", "/trips")],
        env=environment | {"SLUICE_WAREHOUSE": str(trips.warehouse)},
        check=True,
    )
    return folder


def restore(trips: Installed, copies: Path) -> None:
    shutil.move(trips.warehouse, trips.folder / "lost")
    shutil.move(copies, trips.warehouse)


def follow_the_table(trips: Installed) -> None:
    done = trips.sluice("reset", "--to-table", "--execute", "--reason", "a restored backup")
    assert done.returncode == 0, done.stderr
    trips.run()


def exact(trips: Installed, batches: int) -> None:
    assert trips.judge().facts.rows == 5 * batches
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_batches_that_land_between_the_copies_are_read_again(trips: Installed) -> None:
    back_up(trips, TABLES[:1])
    land(trips, 1)
    back_up(trips, TABLES[1:2])
    land(trips, 2)
    restore(trips, back_up(trips, TABLES[2:]))
    with pytest.raises(TableRefused, match="an older copy was put back"):
        trips.plan()
    follow_the_table(trips)
    exact(trips, 3)


def test_copies_of_a_pipeline_in_full_run_are_exact_or_refused(trips: Installed) -> None:
    enough = threading.Event()
    landed = [1]

    def go_on() -> None:
        while not enough.is_set():
            land(trips, landed[0])
            landed[0] += 1

    writer = threading.Thread(target=go_on)
    writer.start()
    try:
        copies = back_up(trips, TABLES)
    finally:
        enough.set()
        writer.join()
    restore(trips, copies)
    try:
        trips.run()
    except TableRefused:
        follow_the_table(trips)
    exact(trips, landed[0])


def test_the_offsets_table_copied_first_is_refused_and_recovered(trips: Installed) -> None:
    """The wrong order: loud, and with a way on."""
    back_up(trips, TABLES[2:])
    land(trips, 1)
    restore(trips, back_up(trips, TABLES[:2]))
    with pytest.raises(TableRefused, match="the offsets table is an older one, or lost"):
        trips.plan()
    done = trips.sluice("recover", "--execute", "--reason", "copied in the wrong order")
    assert done.returncode == 0, done.stderr
    trips.run()
    exact(trips, 2)
