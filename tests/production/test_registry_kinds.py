"""Several kinds of Avro records in one topic, told apart by their schemas' names and ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.production.worlds.avro_topic import record, reference, send
from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.records import produce
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ORDER = record(("id", "long"), name="Order")
# Another kind, whose field of the same name is of another type.
CLICK = record(("id", "string"), name="Click")


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.mark.parametrize("way", ["record", "schema_ids"])
def test_a_kind_is_told_by_its_schema(
    registry: SchemaRegistry, topic: Topic, pipeline: Pipelines, way: str
) -> None:
    name = topic(1, retention_ms=-1)
    trips = pipeline(name)
    orders = send(registry, trips.bootstrap, name, ORDER, [{"id": each} for each in range(3)])
    send(registry, trips.bootstrap, name, CLICK, [{"id": "a"}, {"id": "b"}])
    # No frame: nobody knows its kind. A tombstone has none, and lands.
    produce(trips.bootstrap, name, [b"no frame", None])
    number = int.from_bytes(orders[0][1:5], "big")
    form = {
        "type": "avro",
        "registry": "schema_registry_default",
        "schema_file": "order.avsc",
    }
    only: dict[str, Any] = {"record": "com.example.Order", "schema_ids": [number]}
    trips.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    (trips.spec_file.parent / "order.avsc").write_text(json.dumps(ORDER))
    trips.write_spec(format=form, only={way: only[way]}, quarantine={"max_ratio": 1})
    trips.run()
    names = ("records", "quarantined", "filtered", "gaps")
    assert [tuple(row[each] for each in names) for row in trips.offsets("committed")] == [
        (4, 1, 2, 0)
    ]

    def keeps(found: dict[str, Any]) -> bool:
        value = found["value"]
        framed = value is not None and value[:1] == b"\0"
        return not framed or value[:5] == orders[0][:5]

    decode = reference(ORDER, {number: ORDER})
    facts = trips.judge(fmt="avro", decode=decode, keeps=keeps).facts
    assert (facts.rows, facts.quarantined) == (4, 1)
    assert trips.sluice("verify").returncode == 0
