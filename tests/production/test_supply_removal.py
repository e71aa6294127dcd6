"""A pipeline is removed as docs/deployment.md says; its name may then be used again."""

from __future__ import annotations

import shutil

import pytest
from confluent_kafka.admin import AdminClient

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed a batch, and whose spec is gone."""
    found = landed(pipeline(topic()), batches=1)
    found.spec_file.unlink()
    return found


def test_without_its_spec_no_command_knows_it(trips: Installed) -> None:
    done = trips.sluice("status")
    assert done.returncode == 1
    assert "trips" in done.stderr


def test_with_its_tables_the_name_goes_on_where_it_was(trips: Installed) -> None:
    trips.write_spec()
    assert not trips.plan()
    assert trips.judge().facts.rows == 10


def test_without_its_tables_the_name_begins_anew_once_its_group_is_gone(trips: Installed) -> None:
    for name in ("trips", "trips__quarantine", "trips__offsets"):
        shutil.move(trips.warehouse / name, trips.folder / name)
    trips.write_spec()
    refused = trips.sluice("plan")
    assert refused.returncode == 1
    assert trips.group in refused.stderr
    admin = AdminClient({"bootstrap.servers": trips.bootstrap})
    admin.delete_consumer_groups([trips.group])[trips.group].result(timeout=20)
    trips.run()
    assert trips.judge().facts.rows == 10
