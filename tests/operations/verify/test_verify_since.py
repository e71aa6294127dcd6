"""`sluice verify --since`: what was committed since a moment is compared, and only that is read."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime

import pytest
from deltalake import DeltaTable
from sluice.operations.reset.targets import to_earliest
from sluice.operations.verify.verify import Verdict

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

FORM = {"type": "json", "schema": "id BIGINT"}
BROKEN = b'{"id": 1'


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two batches of ten records, one of each in quarantine."""
    trips = pipeline(topic(), format=FORM, quarantine={"max_ratio": 1})
    for number in range(2):
        produce(trips.bootstrap, trips.topics[0], [BROKEN, *numbered(9, 10 * number)])
        trips.run()
    return trips


def settled(trips: Installed, batch: str) -> datetime:
    (row,) = [each for each in trips.offsets("committed") if each["batch"] == batch]
    moment: datetime = row["recorded_at"]
    return moment


def verified(trips: Installed, since: datetime) -> Verdict:
    return trips.open().verify(lambda wanted, offset: None, since)


def double(trips: Installed, offset: int) -> None:
    table = f"delta.`{trips.data}`"
    trips.session().sql(
        f"INSERT INTO {table} SELECT * FROM {table} WHERE _offset = {offset}"
    ).collect()


@pytest.mark.spark
def test_only_what_was_committed_since_then_is_compared(trips: Installed) -> None:
    since = settled(trips, "forward-1-2")
    verdict = verified(trips, since)
    assert (verdict.batches, verdict.records, verdict.quarantined, verdict.compared) == (
        1,
        9,
        1,
        10,
    )
    assert verdict.violations == ()
    told = json.loads(trips.sluice("verify", "--since", "PT1H", "--json").stdout)
    assert (told["batches"], told["exact"]) == (2, True)
    trips.judge()

    double(trips, 3)
    assert verified(trips, since).violations == (), "an older batch's fault"
    double(trips, 14)
    assert [each.invariant for each in verified(trips, since).violations] == ["unique", "accounted"]
    assert trips.sluice("verify", "--since", since.isoformat()).returncode == 1


def test_what_is_read_again_is_compared_beside_the_batches_that_read_it_before(
    trips: Installed,
) -> None:
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    produce(trips.bootstrap, trips.topics[0], [BROKEN, *numbered(9, 20)])
    trips.run()
    verdict = verified(trips, settled(trips, "forward-2-1"))
    assert verdict.violations == ()
    assert (verdict.batches, verdict.records, verdict.quarantined) == (1, 27, 3)
    trips.judge()


def test_after_a_recovery_the_batch_before_may_be_known_by_its_rows_only(
    trips: Installed,
) -> None:
    DeltaTable(trips.data).create_checkpoint()
    for row in trips.offsets("committed")[:1]:
        for version in range(row["data_version"] + 1):
            (trips.data / "_delta_log" / f"{version:020d}.json").unlink()
    shutil.rmtree(trips.warehouse / "trips__offsets")
    done = trips.sluice("recover", "--execute", "--reason", "lost")
    assert done.returncode == 0, done.stderr
    verdict = verified(trips, datetime(2000, 1, 1, tzinfo=UTC))
    assert (verdict.batches, verdict.violations) == (1, ())


def test_a_moment_that_cannot_be_read_is_refused(trips: Installed) -> None:
    refused = trips.sluice("verify", "--since", "yesterday")
    assert refused.returncode == 2
    assert "'yesterday' is not a moment" in refused.stderr
