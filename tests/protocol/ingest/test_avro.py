"""Topics of bare Avro, with the schema in a file, land like any other: also on a Spark server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from local.embedded.spark_server import SparkServer
from tests.decoding import reference_avro
from tests.decoding.avro_decoding import encoded, logical, record
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import JAVA_TUNING
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

FORMAT = {"type": "avro", "schema_file": "trip.avsc"}
# Of the first, no column needs more than what is read.
PLAIN = record(
    {"id": "long", "city": ["null", "string"], "legs": {"type": "array", "items": "int"}}
)
DATED = record({"id": "long", "day": logical("int", "date")})
ROWS = [{"id": each, "city": "Köln", "legs": [each, -1], "day": each} for each in range(40)]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[SparkServer]:
    environment = {key: JAVA_TUNING[key] for key in JAVA_TUNING.keys() - {"SPARK_LOCAL_IP"}}
    settings = {"spark.master": "local[1]"}
    with SparkServer(tmp_path / "server", settings=settings, environment=environment) as running:
        yield running


def decoded(value: bytes, text: str) -> dict[str, Any] | None:
    found = reference_avro.decode(value, text)
    return found if isinstance(found, dict) else None


def trips_of(schema: Any, topic: str, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline with the schema beside its spec, and a topic with rows and what is none."""
    trips = pipeline(topic, quarantine={"max_ratio": 1.0})
    (trips.spec_file.parent / FORMAT["schema_file"]).write_text(json.dumps(schema))
    trips.write_spec(format=FORMAT, **keys)
    values = [encoded(schema, each) for each in ROWS]
    produce(trips.bootstrap, trips.topics[0], [*values, b"\x02", None], key=values[1])
    return trips


@pytest.mark.parametrize("keys", [{}, {"key_format": FORMAT}], ids=["values", "keys as well"])
def test_a_spark_server_lands_schemas_with_and_without_conversions(
    server: SparkServer, topic: Topic, pipeline: Pipelines, keys: dict[str, Any]
) -> None:
    for schema in (PLAIN, DATED):
        trips = trips_of(schema, topic(), pipeline, **keys)
        trips.server = server
        run = trips.process("run")
        assert run.returncode == 0, run.stderr
        assert [row["id"] for row in trips.rows()] == [*range(len(ROWS)), None]
        if keys:
            assert {row["_key_id"] for row in trips.rows()} == {1}
        facts = trips.judge(decode=partial(decoded, text=json.dumps(schema))).facts
        assert (facts.rows, facts.quarantined) == (41, 1)
