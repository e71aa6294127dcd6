"""Features that others switch on: batches land, are read again and are proved as before."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from sluice.errors import RowsErased
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import to_earliest

from tests.worlds.altered_tables import FORM, alter, exact, more, read
from tests.worlds.pipelines import Installed, Pipelines, Topic

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def orders(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed one batch of two records."""
    made = pipeline(topic(retention_ms=-1), format=FORM, quarantine={"max_ratio": 0.5})
    more(made, 1, 2)
    made.run()
    return made


EVERY_FEATURE = """SET TBLPROPERTIES (
    'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true',
    'delta.enableChangeDataFeed' = 'true', 'delta.enableRowTracking' = 'true',
    'delta.enableTypeWidening' = 'true', 'delta.checkpointPolicy' = 'v2',
    'delta.feature.allowColumnDefaults' = 'supported', 'delta.autoOptimize.autoCompact' = 'true',
    'delta.checkpointInterval' = '3')"""


def test_a_table_with_every_feature_that_an_analyst_can_switch_on(orders: Installed) -> None:
    """Landed into, read again, reset, maintained and verified."""
    for change in (
        EVERY_FEATURE,
        "ADD COLUMN (theirs STRUCT<a: STRING, b: ARRAY<STRUCT<c: INT>>>, plain STRING)",
        "ALTER COLUMN plain SET DEFAULT 'x'",
        "ADD CONSTRAINT pos CHECK (amount >= 0)",
        "ALTER COLUMN id TYPE BIGINT",
        "CLUSTER BY (id)",
    ):
        alter(orders, change)
    orders.write_spec(format={**FORM, "schema": "id BIGINT, amount DOUBLE, note STRING"})
    more(orders, 3, -4, 5)
    orders.run()
    table = f"delta.`{orders.data}`"
    orders.session().sql(f"DELETE FROM {table} WHERE amount = 1").collect()
    orders.session().sql(f"UPDATE {table} SET theirs.a = 'y' WHERE amount = 5").collect()
    for those, what in (
        ("[0, 2)", "1 row that others deleted"),
        ("[2, 5)", "1 row that others ch"),
    ):
        asked = offset_ranges([f"{orders.topics[0]}[0] {those}"])
        with pytest.raises(RowsErased, match=what) as refused:
            orders.open().backfill(asked, "test", "pytest")
        assert "no longer known" not in str(refused.value)
    beside = offset_ranges([f"{orders.topics[0]}[0] [1, 4)"])
    orders.ingest(orders.open().backfill(beside, "test", "pytest").work)
    orders.settle()
    done = orders.process("maintain")
    assert done.returncode == 0, done.stdout + done.stderr
    orders.open().reset(to_earliest, "a test", "run", "pytest", bring_back_erased=True)
    more(orders, 6)
    orders.run()
    done = orders.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(row["amount"] for row in read(orders).collect()) == [1, 2, 3, 5, 6]
    assert {row["_offset"] for row in orders.quarantined()} == {3}


def test_a_table_whose_files_lack_the_partition_columns(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(), format=FORM, partition_by=["_partition", "note"])
    more(trips, 1, 2)
    trips.run()
    alter(trips, "SET TBLPROPERTIES ('delta.writePartitionColumnsToParquet' = 'false')")
    more(trips, 3, note='"a b/c=d%20"')
    more(trips, 4, 5, note="null")
    exact(trips, 5)
    files = map(pq.read_schema, trips.data.glob("*/*/*.parquet"))
    assert sum("_partition" not in each.names for each in files) == 2
    trips.session().sql(f"DELETE FROM delta.`{trips.data}` WHERE amount = 3").collect()
    with pytest.raises(RowsErased, match="1 row that others deleted"):
        trips.open().backfill(offset_ranges([f"{trips.topics[0]}[0] [0, 5)"]), "test", "pytest")
    beside = offset_ranges([f"{trips.topics[0]}[0] [3, 5)"])
    trips.ingest(trips.open().backfill(beside, "test", "pytest").work)
    trips.settle()
    assert sorted(row["amount"] for row in read(trips).collect()) == [1, 2, 4, 5]
    done = trips.sluice("verify")
    assert "1 row" in done.stdout, done.stdout + done.stderr
