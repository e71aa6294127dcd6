"""A registry that was rebuilt and counts anew: its numbers are not those of the records before."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from sluice.errors import SchemaChanged
from sluice.operations.backfill.selection import offset_ranges

from tests.production.worlds.avro_topic import record, send
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

BEFORE = record(("shipper", "string"), ("receiver", "string"))
WITH_WEIGHT = record(
    ("shipper", "string"), ("receiver", "string"), ("weight", ["null", "int"], None)
)
# The same record with its text fields in another order: their bytes fit either.
AFTER = record(("receiver", "string"), ("shipper", "string"), ("weight", ["null", "int"], None))


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(tmp_path / "registry") as running:
        yield running


def parcels(registry: SchemaRegistry, topic: Topic, pipeline: Pipelines) -> Installed:
    found = pipeline(topic(), format={"type": "avro", "registry": "schema_registry_default"})
    found.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    return found


def sent(registry: SchemaRegistry, into: Installed, schema: dict[str, object], name: str) -> int:
    """Send a parcel to `name`, from `name` in capitals. Returns the number of its schema."""
    row = {"shipper": name.upper(), "receiver": name, "weight": None}
    (value,) = send(registry, into.bootstrap, into.topics[0], schema, [row])
    return int.from_bytes(value[1:5], "big")


def landed(found: Installed) -> dict[int, tuple[str, str]]:
    return {row["_offset"]: (row["shipper"], row["receiver"]) for row in found.rows()}


def test_its_numbers_are_refused_before_a_record_is_read_with_what_they_stood_for(
    registry: SchemaRegistry,
    topic: Topic,
    pipeline: Pipelines,
    caplog: pytest.LogCaptureFixture,
) -> None:
    trips = parcels(registry, topic, pipeline)
    first = sent(registry, trips, BEFORE, "a")
    trips.run()
    sent(registry, trips, WITH_WEIGHT, "b")
    trips.run()
    registry.kill()
    registry.start()
    assert sent(registry, trips, AFTER, "c") == first
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    with pytest.raises(SchemaChanged, match=f"schema {first}: .* it was rebuilt"):
        trips.run()

    # As the message says.
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_NEW"] = registry.connection()
    trips.write_spec(format={"type": "avro", "registry": "schema_registry_new"})
    trips.run()
    assert landed(trips) == {0: ("A", "a"), 1: ("B", "b"), 2: ("C", "c")}

    # What was read before is read again with what its numbers stood for, and what is new as it is.
    where, *_ = trips.topics
    whole = f"{where}[0] [0, 3)"
    told = f"{where}[0] [0, 2): values are read with what was kept of schema_registry_default"
    caplog.set_level(logging.INFO, "sluice.protocol.ingest.reading")
    assert told in " ".join(trips.sluice("reprocess", "--range", whole, "--dry-run").stdout.split())
    again = trips.open().backfill(offset_ranges([whole]), "again", "pytest")
    trips.ingest(again.work)
    assert told in caplog.text
    assert landed(trips) == {0: ("A", "a"), 1: ("B", "b"), 2: ("C", "c")}
    trips.settle()
    reset = ("--to-earliest", "--execute", "--reason", "from the beginning")
    assert trips.sluice("reset", *reset).returncode == 0
    sent(registry, trips, AFTER, "d")
    trips.run()
    assert landed(trips) == {0: ("A", "a"), 1: ("B", "b"), 2: ("C", "c"), 3: ("D", "d")}
