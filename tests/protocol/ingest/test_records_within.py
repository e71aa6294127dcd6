"""Records that lie within others land from there; those that hold several are rows of a view."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from operator import itemgetter
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from deltalake import DeltaTable
from pyspark.sql import SparkSession
from sluice.offsets.quarantined import RecordFilter
from sluice.operations.backfill.replay import quarantined_records

from tests.oracle.json_fields import reference_decoder
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

PAGE = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")
RECIPE = PAGE.partition("## Records that hold several")[2].partition("\n## ")[0]
JSON = {"type": "json", "schema": "id BIGINT, name STRING"}
ROW = {"id": 1, "name": 'K\u00f6ln "\U0001f600"'}
TOO_LARGE = {"id": 2**63, "name": "x"}


def as_fields(value: bytes) -> dict[str, Any] | None:
    """What the reference reads of the record that these values hold."""
    found = json.loads(value)
    found = found.get("payload") if isinstance(found, dict) else None
    text = found if isinstance(found, str) else json.dumps(found)
    while text.startswith('"'):
        text = json.loads(text)
    return reference_decoder(JSON["schema"])(text.encode())


def sent(payload: Any) -> bytes:
    return json.dumps({"type": "x", "payload": payload}).encode()


def replay(trips: Installed) -> None:
    again = trips.open().backfill(quarantined_records(RecordFilter()), "test", "pytest")
    assert again.work is not None
    trips.ingest(again.work)
    trips.settle()


def verified(trips: Installed, rows: int, quarantined: int) -> None:
    facts = trips.judge(decode=as_fields).facts
    assert (facts.rows, facts.quarantined) == (rows, quarantined)
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_lay_in_quarantine_lands_once_its_place_is_named(
    topic: Topic, pipeline: Pipelines
) -> None:
    key_format = {"type": "json", "schema": "id BIGINT", "at": "$"}
    trips = pipeline(topic(), format=JSON, key_format=key_format, quarantine={"max_ratio": 1})
    whole = [sent(ROW), sent(json.dumps(ROW)), sent(json.dumps(json.dumps(ROW)))]
    broken = [sent(TOO_LARGE), sent(json.dumps(TOO_LARGE)), sent(None), b'{"type":"x"}', b"[]"]
    produce(trips.bootstrap, trips.topics[0], [*whole[:2], *broken, None], key=b'"{\\"id\\":7}"')
    trips.run()
    assert len(trips.rows()) == 1
    errors = {each["_offset"]: each["error"] for each in trips.quarantined()}
    told = "expected one of the declared fields (id, name), found type, payload"
    assert errors[0] == told
    assert errors[1] == f"{told}; payload holds an object as text: `at` in `format` reads it"

    trips.write_spec(
        format={**JSON, "at": "$.payload"}, key_format=key_format, quarantine={"max_ratio": 1}
    )
    replay(trips)
    verified(trips, 3, 5)
    produce(trips.bootstrap, trips.topics[0], [whole[2], broken[0]], key=b'{"id":8}')
    trips.run()
    verified(trips, 4, 6)
    rows = sorted(trips.rows(), key=itemgetter("_offset"))
    names = ("_offset", "id", "name", "_key_id")
    assert [itemgetter(*names)(each) for each in rows] == [
        (0, 1, ROW["name"], 7),
        (1, 1, ROW["name"], 7),
        (7, None, None, 7),
        (8, 1, ROW["name"], 8),
    ]
    # With those of before the replay.
    found = {(each["_offset"], each["error"]) for each in trips.quarantined()}
    too_large = "payload.id: expected BIGINT, found 9223372036854775808"
    assert {each for each in found if not each[1].startswith("expected one of")} == {
        (2, too_large),
        (3, too_large),
        (4, "payload: not one JSON object: found null"),
        (5, "expected the field payload, where the record is, found type"),
        (6, "not one JSON object: found a JSON array"),
        (9, too_large),
    }


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", RECIPE, re.MULTILINE | re.DOTALL)


def by_the_views(table: Path, spark: SparkSession, name: str) -> dict[str, list[tuple[Any, ...]]]:
    """The rows of the page's views, in the order of their elements; `name` is the list's."""
    in_spark, in_duckdb = (each.replace("(lines", f"({name}") for each in blocks("sql"))
    asked = "SELECT _offset, pos, sku, amount FROM order_lines ORDER BY _topic_id, _offset, pos"
    spark.read.format("delta").load(str(table)).createOrReplaceTempView("orders")
    spark.catalog.dropTempView("order_lines")
    spark.sql(in_spark)
    database = duckdb.connect()
    database.register("orders", DeltaTable(table).to_pyarrow_dataset())
    database.execute(in_duckdb)
    return {
        "spark": [tuple(each) for each in spark.sql(asked).collect()],
        "duckdb": database.execute(asked).fetchall(),
    }


@pytest.mark.parametrize("name", ["lines", "value"])
def test_elements_are_rows_of_the_view_that_the_page_names(
    topic: Topic, pipeline: Pipelines, spark: SparkSession, name: str
) -> None:
    keys = {each["format"]["schema"]: each for each in map(yaml.safe_load, blocks("yaml"))}
    (wanted,) = [each for each in keys if f"{name} ARRAY" in each]
    trips = pipeline(topic(), **keys[wanted], quarantine={"max_ratio": 1})
    lists = [
        [{"sku": "a", "amount": 1}, {"sku": "b", "amount": 2.5}],
        [],
        [{"sku": "a", "amount": "x"}],
    ]
    records = lists if name == "value" else [{"id": 1, name: each} for each in lists]
    values = [json.dumps(each).encode() for each in records]
    produce(trips.bootstrap, trips.topics[0], [*values, None])
    trips.run()
    assert len(trips.rows()) == 3
    (aside,) = trips.quarantined()
    assert aside["error"] == f'{name}[0].amount: expected DECIMAL(12,2), found "x"'
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [(0, 0, "a", Decimal("1.00")), (0, 1, "b", Decimal("2.50"))]
    assert by_the_views(trips.data, spark, name) == {"spark": rows, "duckdb": rows}
