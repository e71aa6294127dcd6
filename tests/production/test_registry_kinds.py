"""Several kinds of Avro records in one topic, told apart by their schemas' names and ids."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka.schema_registry import Schema
from sluice.errors import TableRefused, TooManyQuarantined

from tests.production.worlds.avro_topic import record, reference, send
from tests.worlds.pipelines import Installed, Pipelines, Topic
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


def of_kind(
    registry: SchemaRegistry, pipeline: Pipelines, topic: str, kind: str, **keys: Any
) -> Installed:
    """A pipeline that lands one kind, whose columns follow the registry."""
    form = {
        "type": "avro",
        "registry": "schema_registry_default",
        "subject_strategy": "record",
        "record": f"com.example.{kind}",
    }
    made = pipeline(topic, format=form, only={"record": form["record"]}, **keys)
    made.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    return made


def named(registry: SchemaRegistry, schema: dict[str, Any]) -> None:
    """Register a schema under its record's name, as the strategy `record` does."""
    subject = f"{schema['namespace']}.{schema['name']}"
    registry.client().register_schema(subject, Schema(json.dumps(schema), "AVRO"))


def test_a_kind_grows_and_a_broken_one_stops_its_own_table_only(
    registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    name = topic(1, retention_ms=-1)
    order, click = record(("id", "long"), name="Sale"), record(("id", "string"), name="Tap")
    more = record(("id", "long"), ("city", ["null", "string"], None), name="Sale")
    broken = record(("id", "long"), name="Tap")
    named(registry, order)
    named(registry, click)
    sales = of_kind(registry, pipeline, name, "Sale", evolution="add_columns")
    taps = of_kind(registry, pipeline, name, "Tap", quarantine={"max_ratio": 0})
    first = send(registry, sales.bootstrap, name, order, [{"id": 1}])
    send(registry, sales.bootstrap, name, click, [{"id": "a"}, {"id": "b"}])
    sales.run()
    taps.run()
    assert (len(sales.rows()), len(taps.rows())) == (1, 2)
    # The registry takes a schema of the other kind that its table cannot: its records stop it.
    named(registry, more)
    second = send(registry, sales.bootstrap, name, more, [{"id": 2, "city": "Bonn"}])
    send(registry, sales.bootstrap, name, broken, [{"id": 3}])
    with pytest.raises(TooManyQuarantined):
        taps.run()
    sales.run()
    assert {row["id"]: row["city"] for row in sales.rows()} == {1: None, 2: "Bonn"}
    assert [row["filtered"] for row in sales.offsets("committed")] == [2, 1]
    numbers = [int.from_bytes(each[0][1:5], "big") for each in (first, second)]
    heads = {each[0][:5] for each in (first, second)}
    decode = reference(more, dict(zip(numbers, (order, more), strict=True)))
    keeps = {"keeps": lambda found: found["value"][:5] in heads}
    sales.judge(fmt="avro", decode=decode, **keeps)
    assert sales.sluice("verify").returncode == 0
    # Nor does a table of the other kind that is gone.
    shutil.rmtree(taps.data)
    with pytest.raises(TableRefused):
        taps.plan()
    send(registry, sales.bootstrap, name, more, [{"id": 4, "city": None}])
    sales.run()
    sales.judge(fmt="avro", decode=decode, **keeps)
    assert sales.sluice("verify").returncode == 0
