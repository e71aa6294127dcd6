"""A reader in a file, beside a registry: the recipe of docs/tables.md, as it stands there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.production.worlds.avro_topic import record, reference, send
from tests.protocol.ingest.test_schema_changes import SECTION, read_again
from tests.worlds.pipelines import Pipelines, Topic
from tests.worlds.schema_registry import SchemaRegistry

pytestmark = [pytest.mark.integration, pytest.mark.spark]

RECIPE = SECTION.partition("### The fields of a registry's schema come and go\n")[2]
OPTIONAL = ["null", "string"], None
BEFORE = record(("carrier", "string"), ("dest", *OPTIONAL), name="Flight")
AFTER = record(
    ("carrier", "string"), ("destination", *OPTIONAL), ("gate", *OPTIONAL), name="Flight"
)


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[SchemaRegistry]:
    with SchemaRegistry(tmp_path / "registry") as running:
        yield running


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```$", RECIPE, re.MULTILINE | re.DOTALL)
    return str(found)


def test_a_renamed_field_is_read_by_a_reader_that_knows_both_names(
    registry: SchemaRegistry, topic: Topic, pipeline: Pipelines
) -> None:
    flights = pipeline(
        topic(retention_ms=-1), format={"type": "avro", "registry": "schema_registry_default"}
    )
    flights.given["AIRFLOW_CONN_SCHEMA_REGISTRY_DEFAULT"] = registry.connection()
    where = registry, flights.bootstrap, flights.topics[0]
    numbers = []

    def old(dest: str) -> None:
        values = send(*where, BEFORE, [{"carrier": "UA", "dest": dest}])
        numbers.append(int.from_bytes(values[0][1:5], "big"))

    def new(dest: str) -> None:
        values = send(*where, AFTER, [{"carrier": "DL", "destination": dest, "gate": "B4"}])
        numbers.append(int.from_bytes(values[0][1:5], "big"))

    old("7")
    flights.run()
    new("8")
    told = " ".join(flights.sluice("plan").stdout.split())
    first, second = numbers
    assert f"still read as schema {first}, and not as {second}: it lacks dest STRING" in told
    flights.run()
    assert [row["dest"] for row in flights.rows() if row["carrier"] == "DL"] == [None]

    (flights.spec_file.parent / "flights.avsc").write_text(block("json"))
    flights.write_spec(**yaml.safe_load(block("yaml")))
    old("9")
    new("10")
    told = " ".join(flights.sluice("plan").stdout.split())
    assert "the table gets a column gate STRING" in told
    assert "still read" not in told
    flights.run()
    read_again(flights, 2)
    found = {row["_offset"]: (row["dest"], row["gate"]) for row in flights.rows()}
    assert found == {0: ("7", None), 1: ("8", "B4"), 2: ("9", None), 3: ("10", "B4")}
    decode = reference(json.loads(block("json")), {first: BEFORE, second: AFTER})
    flights.judge(fmt="avro", decode=decode)

    flights.write_spec(format={"type": "avro", "registry": "schema_registry_default"})
    old("11")
    flights.run()
    assert {row["_offset"]: row["dest"] for row in flights.rows()}[4] == "11"
