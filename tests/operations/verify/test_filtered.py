"""`sluice verify` where `only` leaves records out: what it compares, and what it names."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.operations.backfill.selection import offset_ranges

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

FORM = {"type": "json", "schema": "kind STRING, id BIGINT"}
ONLY = {"header": "kind", "value": "order"}


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Of two partitions, orders have landed from even offsets; odd ones are of another kind."""
    made = pipeline(topic(2), format=FORM, only=ONLY)
    for partition in range(2):
        for number in range(4):
            send(made, ("order", "click")[number % 2], number, partition)
    made.run()
    return made


def send(trips: Installed, kind: str, number: int, partition: int = 0) -> None:
    value = json.dumps({"kind": kind, "id": number}).encode()
    headers = [("kind", kind.encode())]
    produce(trips.bootstrap, trips.topics[0], [value], partition, headers=headers)


def verified(trips: Installed) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(trips.sluice("verify", "--json").stdout)
    return document


def test_a_row_of_a_record_that_was_left_out_is_named_and_read_again_it_goes(
    trips: Installed,
) -> None:
    rows = DeltaTable(trips.data).to_pyarrow_table(filters=[("_partition", "=", 1)])
    at = rows.schema.get_field_index("_offset")
    one = rows.slice(0, 1)
    write_deltalake(trips.data, one.set_column(at, rows.schema.field(at), [[3]]), mode="append")
    found = trips.sluice("verify")
    assert found.returncode == 1
    where = f"{trips.topics[0]}[1]"
    assert f"no phantom: {where}: expected no row of a record that `only` left out" in found.stderr
    assert "found 1 row: 3" in found.stderr
    command = f"sluice reprocess trips --range '{where} [3, 4)'"
    assert command in found.stderr
    wanted = offset_ranges([f"{where} [3, 4)"])
    trips.ingest(trips.open().backfill(wanted, "test", "pytest").work)
    trips.settle()
    assert verified(trips)["violations"] == []
    assert len(trips.rows()) == 4
