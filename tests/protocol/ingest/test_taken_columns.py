"""Columns that a spec takes from fields, and fields that it requires, with all that runs do."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from sluice.errors import SpecError
from sluice.operations.reset.targets import to_earliest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

COLUMNS: dict[str, dict[str, Any]] = {
    "status": {"from": "$['http status'].code", "type": "INT"},
    "at": {"from": "$.source.ts_ms", "unit": "ms"},
    "day": {"from": "born", "unit": "days"},
    "amount": {"from": "amount", "encoding": "connect_decimal", "scale": 2},
    "upper": {"from": "ID", "type": "STRING"},
}
FORMAT = {"type": "json", "schema": "id BIGINT, source STRUCT<db: STRING>"}
EVENT: dict[str, Any] = {
    "id": 1,
    "ID": "x",
    "http status": {"code": 200, "text": "OK"},
    "source": {"db": "shop", "ts_ms": 1_700_000_000_123, "lsn": 5},
    "born": 19_675,
    "amount": "Aw1A",
    "more": [1],
}
LEFT = {"http status": {"text": "OK"}, "source": {"lsn": 5}, "more": [1]}


def as_columns(value: bytes) -> dict[str, Any] | None:
    """What the columns hold of these events, worked out by hand."""
    event = json.loads(value)
    if not event.keys() & {"id", "ID", "source", "born", "amount"} or event.get("id") is None:
        return None
    source = event.get("source")
    return {
        "id": event["id"],
        "source": source and {"db": source.get("db")},
        "status": event.get("http status", {}).get("code"),
        "at": source and datetime(2023, 11, 14, 22, 13, 20, 123000),
        "day": date(2023, 11, 14) if "born" in event else None,
        "amount": Decimal("2000.00") if "amount" in event else None,
        "upper": event.get("ID"),
    }


def exact(trips: Installed, rows: int) -> None:
    assert trips.judge(decode=as_columns).facts.rows == rows
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def send(trips: Installed, *events: dict[str, Any] | None) -> None:
    values = [None if each is None else json.dumps(each).encode() for each in events]
    produce(trips.bootstrap, trips.topics[0], values)


def test_taken_columns_are_laid_out_read_again_evolved_and_replayed(
    topic: Topic, pipeline: Pipelines
) -> None:
    keys = {"columns": COLUMNS, "required": ["id"], "quarantine": {"max_ratio": 1}}
    trips = pipeline(
        topic(retention_ms=-1),
        format=FORMAT,
        **keys,
        partition_by=["day"],
        derived={"_hour": "hour(at)"},
        evolution="add_columns",
    )
    send(trips, EVENT, None, {"id": 2}, {"ID": "y"}, {"ID": "z", "id": None}, {"other": 1}, {})
    trips.run()
    exact(trips, 3)
    errors = {each["_offset"]: each["error"] for each in trips.quarantined()}
    lacking = "id: expected a value, as it is required, found none"
    assert (errors.pop(3), errors.pop(4)) == (lacking, lacking)
    told = "expected one of the declared fields"
    fields = f"{told} (id, source, amount, born, http status.code, …), found"
    assert errors == {5: f"{fields} other", 6: f"{fields} an object without fields"}
    first = next(each for each in trips.rows() if each["_offset"] == 0)
    assert (first["_hour"], first["at"]) == (22, datetime(2023, 11, 14, 22, 13, 20, 123000, UTC))
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    trips.run()
    exact(trips, 3)
    # What was refused for a field that is not required any more lands by a replay.
    columns = {**COLUMNS, "text": {"from": "$['http status'].text", "type": "STRING"}}
    trips.write_spec(required=[], columns=columns)
    assert "the table gets a column `text` STRING" in trips.sluice("plan").stdout.replace(
        "column text", "column `text`"
    )
    send(trips, {**EVENT, "id": 9})
    trips.run()
    (last,) = (each for each in trips.rows() if each["id"] == 9)
    assert last["text"] == "OK"
    done = trips.process("quarantine replay", "--all")
    assert done.returncode == 0, done.stdout + done.stderr
    assert {each["_offset"] for each in trips.rows()} >= {3, 4}
    trips.write_spec(columns={**columns, "status": {**COLUMNS["status"], "type": "STRING"}})
    with pytest.raises(SpecError, match=r"columns.status: expected INT as in the rows of"):
        trips.plan()


def test_what_is_not_taken_is_rescued(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format=FORMAT, columns=COLUMNS, rescue=True)
    send(trips, EVENT)
    trips.run()
    exact(trips, 1)
    (row,) = trips.rows()
    assert json.loads(row["_rescued"]) == LEFT
