"""An attempt to read a batch keeps what is known of the logs that it does not read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction
from sluice.broker.client_settings import ClientSettings
from sluice.clock import SYSTEM_CHANCE, SYSTEM_CLOCK
from sluice.lake.port import BatchAttempt
from sluice.offsets.origin import Origin
from sluice.progress.lane_state import read_unchecked
from sluice.progress.resources import PipelineResources
from sluice.protocol.ingest.reading import prepare_reading
from sluice.protocol.plan.next_batches import plan_first, plan_next
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.coordinates import COORDINATES
from sluice.tables.offsets_appends import append_plan
from sluice.tables.ownership import OWNER
from sluice.tables.warehouse import Warehouse

from tests.unit.builders import CLUSTER, history, partition, spec
from tests.worlds.memory_log import MemoryCluster, MemoryKafka, Record

IDLE, BUSY = partition(0), partition(1)
ORIGIN = Origin("run", "pytest", datetime(2013, 1, 1, 12, tzinfo=UTC))


@pytest.fixture
def kafka() -> MemoryKafka:
    kafka = MemoryKafka(SYSTEM_CLOCK, SYSTEM_CHANCE, CLUSTER)
    kafka.create_topic("flights", 2)
    for number in (0, 1):
        kafka.produce("flights", number, [Record(b"%d" % number)] * 3)
    return kafka


@pytest.fixture
def resources(kafka: MemoryKafka, tmp_path: Path) -> PipelineResources:
    """A data table is there, and nothing in it."""
    client = ClientSettings.from_extra("kafka_default", {"bootstrap.servers": "localhost:9"})
    found = PipelineResources.of(spec(), Warehouse(str(tmp_path)), client, MemoryCluster(kafka))
    DeltaTable.create(
        found.data.uri,
        COORDINATES,
        configuration={OWNER: "flights"},
        raise_if_key_not_exists=False,
    )
    return found


def land(resources: PipelineResources, attempt: BatchAttempt) -> None:
    """The commit that Spark would make, without rows."""
    batch, table = attempt.batch, DeltaTable(resources.data.uri)
    said = batch_metadata(batch, attempt.id, attempt.fingerprints, attempt.spec)
    properties = CommitProperties(
        custom_metadata={"userMetadata": said},
        app_transactions=[Transaction(batch.sequence.app_id, batch.number)],
    )
    table.create_write_transaction([], "append", table.schema(), commit_properties=properties)


def planned(resources: PipelineResources) -> BatchAttempt:
    """The attempt at the next batch, which is planned now."""
    state, lane = resources.kafka.state(resources.spec), read_unchecked(resources)
    if lane.history.planned:
        plan = plan_next(resources.spec, lane.history, state)
    else:
        plan = plan_first(resources.spec, history(), state, {IDLE: 0, BUSY: 0})
    append_plan(resources.offsets.snapshot_to_write(), plan, ORIGIN)
    return prepare_reading(resources, read_unchecked(resources), plan.batches[0])


def test_the_fingerprint_of_an_idle_partition_is_the_one_that_was_read(
    resources: PipelineResources, kafka: MemoryKafka
) -> None:
    """A log that was replaced since would give its own, and hide from the next plan what it is."""
    first = planned(resources)
    land(resources, first)
    kafka.truncate(IDLE, 0)
    kafka.produce("flights", IDLE.partition, [Record(b"of another copy")] * 3)
    kafka.produce("flights", BUSY.partition, [Record(b"more")])
    second = planned(resources)
    assert [each.partition for each in second.ranges] == [BUSY]
    assert second.fingerprints[IDLE] == first.fingerprints[IDLE] is not None
    assert second.fingerprints[BUSY] != first.fingerprints[BUSY]
    assert resources.kafka.fingerprints({IDLE: 3}) != {IDLE: first.fingerprints[IDLE]}
