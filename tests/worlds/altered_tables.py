"""Altered tables: what others do to a pipeline's data table, and how it goes on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deltalake import DeltaTable

from tests.worlds.pipelines import Installed
from tests.worlds.records import produce

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FORM = {"type": "json", "schema": "id INT, amount DOUBLE, note STRING"}
MAPPED = "SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"


def more(orders: Installed, *amounts: float, note: str = '"n"') -> None:
    values = [f'{{"id": {n}, "amount": {a}, "note": {note}}}' for n, a in enumerate(amounts)]
    produce(orders.bootstrap, orders.topics[0], [each.encode() for each in values])


def read(orders: Installed) -> DataFrame:
    """As Spark reads it: others do not know mapped columns, or deletion vectors."""
    return orders.session().read.format("delta").load(str(orders.data))


def alter(orders: Installed, change: str) -> int:
    """The version that it made."""
    orders.session().sql(f"ALTER TABLE delta.`{orders.data}` {change}").collect()
    version = orders.version()
    assert version is not None
    return version


def does_what_it_says(orders: Installed, told: str) -> None:
    """The first statement of a message, as it stands there."""
    (statement, *_) = re.findall(r"ALTER TABLE .*?(?=, and run| gives | lets |\. )", told)
    orders.session().sql(statement).collect()


def exact(orders: Installed, rows: int, *altered: int) -> None:
    orders.run()
    assert orders.judge(altered=frozenset(altered)).facts.rows == rows
    done = orders.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def clean_the_log(trips: Installed) -> None:
    """As Delta does it after 30 days: the newest commit stays, behind a checkpoint."""
    DeltaTable(trips.data).alter.set_table_properties({"note": "one more"}, False)
    DeltaTable(trips.data).create_checkpoint()
    for commit in sorted(trips.data.glob("_delta_log/*.json"))[:-1]:
        commit.unlink()
