"""Recovery in a bucket, which cannot rename: the operator moves what is said, and repeats it."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable

import pytest
from deltalake import DeltaTable

from local.embedded.gateway import BUCKET
from local.embedded.spark_server import SparkServer
from tests.production.worlds.bucket_pipelines import InBucket
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

JSON = {"type": "json", "schema": "id BIGINT"}
MOVE = re.compile(
    rf"aws s3 mv --recursive --exclude '_schemas/\*' s3://{BUCKET}/(\S+)/ s3://{BUCKET}/(\S+)/\s*$"
)
RECOVER = ("recover", "--execute", "--reason", "nobody has a copy")


@pytest.fixture
def trips(
    in_bucket: Callable[..., InBucket], topic: Callable[..., str], s3_server: SparkServer
) -> InBucket:
    """A pipeline that has landed two records and quarantined one."""
    made = in_bucket(topic(), format=JSON, quarantine={"max_ratio": 0.5})
    made.server = s3_server
    produce(made.bootstrap, made.topics[0], [b'{"id": 1}', b"{broken", b'{"id": 2}'])
    succeeds(made, "run")
    return made


def succeeds(trips: InBucket, command: str) -> str:
    done = trips.process(command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def moved_as_told(trips: InBucket) -> str:
    """Recover, and move what the refusal names; the name of the table."""
    done = trips.sluice(*RECOVER)
    assert done.returncode == 1, done.stdout
    move = MOVE.search(done.stderr)
    assert move, done.stderr
    source, target = (trips.gateway.objects / BUCKET / each for each in move.groups())
    source.rename(target)
    return source.name


def recovered(trips: InBucket) -> None:
    shown = trips.sluice("recover")
    assert "Nothing was changed" in shown.stdout, shown.stderr
    done = trips.sluice(*RECOVER)
    assert done.returncode == 0, done.stderr
    again = trips.sluice(*RECOVER)
    assert "nothing to recover" in again.stdout, again.stderr


def test_a_table_that_is_gone_for_good_is_begun_anew(trips: InBucket) -> None:
    shutil.rmtree(trips.data)
    refused = trips.sluice("plan")
    assert "`sluice recover trips`" in refused.stderr
    assert moved_as_told(trips) == "trips__quarantine"
    assert moved_as_told(trips) == "trips__offsets"
    recovered(trips)
    succeeds(trips, "run")
    assert trips.judge().facts.rows == 2
    assert len(trips.quarantined()) == 1


def test_offsets_that_cannot_be_continued_are_moved_away_and_built_anew(trips: InBucket) -> None:
    offsets = DeltaTable(f"{trips.uri}/trips__offsets")
    offsets.alter.set_table_properties({"delta.appendOnly": "false"})
    offsets.delete("event = 'planned'")
    assert moved_as_told(trips) == "trips__offsets"
    recovered(trips)
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 3}'])
    succeeds(trips, "run")
    assert trips.judge().facts.rows == 3


def test_a_warehouse_in_which_nothing_was_set_aside_is_taken_for_another(trips: InBucket) -> None:
    for each in trips.warehouse.glob("trips*"):
        shutil.rmtree(each)
    done = trips.sluice(*RECOVER)
    assert done.returncode == 1
    assert "there is nothing to recover" in done.stderr
    assert not list(trips.warehouse.glob("trips*"))
