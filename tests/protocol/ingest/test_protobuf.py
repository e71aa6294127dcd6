"""Topics of Protobuf messages land like any other: each record in one table, and once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from google.protobuf.message import DecodeError
from sluice.operations.backfill.selection import offset_ranges

from local.embedded.spark_server import SparkServer
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import JAVA_TUNING
from tests.worlds.protobuf_schemas import descriptor_set, message_class
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SOURCE = """
syntax = "proto3"; package trips;
message Trip {
  int64 id = 1; string city = 2; optional double price = 3; repeated int32 legs = 4;
  Kind kind = 5; bytes raw = 6;
}
enum Kind { UNKNOWN = 0; TAXI = 1; }
"""
FORMAT = {"type": "protobuf", "schema_file": "trip.desc", "record": "trips.Trip"}
Trip = message_class(SOURCE, "trips.Trip")
NOT_ONE = "not one trips.Trip message: "
ANYTHING = {"max_ratio": 1.0}


def reference(value: bytes) -> dict[str, Any] | None:
    """What a record holds, as Protobuf's own JSON form says it; None where it is undecodable."""
    try:
        made = Trip.FromString(value)
    except DecodeError:
        return None
    found = json_format.MessageToDict(
        made, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
    if isinstance(found["kind"], int):
        return None
    return {**found, "id": int(found["id"]), "raw": made.raw, "price": found.get("price")}


def trips_of(topic: str, pipeline: Pipelines, **keys: Any) -> Installed:
    """A pipeline with the descriptor set beside its spec."""
    trips = pipeline(topic, quarantine=ANYTHING)
    (trips.spec_file.parent / "trip.desc").write_bytes(descriptor_set({"main.proto": SOURCE}))
    trips.write_spec(format=FORMAT, **keys)
    return trips


def values() -> list[bytes | None]:
    good = [
        Trip(id=each, city=f"Köln {each}", price=each / 8 if each % 2 else None, legs=[each, -1])
        for each in range(1, 40)
    ]
    odd: list[bytes | None] = [b"", None, b"\xff\xff", b"\x12\x01\xff", b"\x28\x07", b"\x08"]
    return [
        *(each.SerializeToString() for each in good),
        *odd,
        Trip(id=2**63 - 1, kind=1, raw=b"\0\xff").SerializeToString() + b"\x98\x06\x01",
    ]


def test_messages_land_and_what_is_none_is_put_aside(topic: Topic, pipeline: Pipelines) -> None:
    trips = trips_of(topic(2, retention_ms=-1), pipeline)
    headers = [("h", b"\0"), ("n", None)]
    for partition in (0, 1):
        produce(trips.bootstrap, trips.topics[0], values(), partition, headers=headers)
    trips.run()
    assert {row["error"] for row in trips.quarantined()} == {
        f"{NOT_ONE}While parsing a protocol message, the input ended unexpectedly in the middle of"
        " a field",
        'city: expected STRING, found "�"',
        "kind: expected trips.Kind, found 7",
    }
    assert len(trips.quarantined()) == 8
    (last,) = (row for row in trips.rows() if row["_offset"] == 45 and row["_partition"] == 0)
    assert {name: last[name] for name in ("id", "city", "price", "legs", "kind", "raw")} == {
        "id": 2**63 - 1,
        "city": "",
        "price": None,
        "legs": [],
        "kind": "TAXI",
        "raw": b"\0\xff",
    }
    assert trips.judge(decode=reference).facts.quarantined == 8


def test_the_same_offsets_read_again_are_the_same_rows(topic: Topic, pipeline: Pipelines) -> None:
    trips = trips_of(topic(1, retention_ms=-1), pipeline)
    produce(trips.bootstrap, trips.topics[0], values())
    trips.run()
    before = sorted(trips.rows(), key=lambda row: row["_offset"])
    asked = offset_ranges([f"{trips.topics[0]}[0] [0, 46)"])
    trips.ingest(trips.open().backfill(asked, "test", "test").work)
    trips.settle()
    after = sorted(trips.rows(), key=lambda row: row["_offset"])
    assert [row.pop("_batch") for row in before] != [row.pop("_batch") for row in after]
    assert before == after
    trips.judge(decode=reference)


def test_keys_are_messages_as_well(topic: Topic, pipeline: Pipelines) -> None:
    trips = trips_of(topic(), pipeline, key_format=FORMAT)
    key = Trip(id=5).SerializeToString()
    produce(trips.bootstrap, trips.topics[0], [Trip(id=1).SerializeToString()], key=key)
    produce(trips.bootstrap, trips.topics[0], [Trip(id=2).SerializeToString()], key=b"\xff")
    trips.run()
    assert [(row["id"], row["_key_id"]) for row in trips.rows()] == [(1, 5)]
    (aside,) = trips.quarantined()
    assert aside["error"].startswith(f"key: {NOT_ONE}While parsing a protocol message")


def test_a_spark_server_lands_the_same(
    topic: Topic, pipeline: Pipelines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its workers are given the code: the server has no Sluice on its path."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    trips = trips_of(topic(1, retention_ms=-1), pipeline)
    produce(trips.bootstrap, trips.topics[0], values())
    tuning = {key: JAVA_TUNING[key] for key in JAVA_TUNING.keys() - {"SPARK_LOCAL_IP"}}
    settings = {"spark.master": "local[1]"}
    with SparkServer(tmp_path / "server", settings=settings, environment=tuning) as server:
        trips.server = server
        run = trips.process("run")
        assert run.returncode == 0, run.stderr
    assert (len(trips.rows()), len(trips.quarantined())) == (42, 4)
    trips.judge(decode=reference)
