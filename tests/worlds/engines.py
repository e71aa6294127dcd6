"""What analysts ask tables with: each engine answers SQL over some Delta tables, by their names,
and reads whole tables by the recipes of docs/tables.md, as they stand there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import deltalake
import duckdb
import pandas as pd
import polars as pl
from deltalake import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Sequence[tuple[object, ...]]
Ask = Callable[[str], Rows]
Tables = Mapping[str, Path]
ALL = ("duckdb", "polars", "pandas", "spark")
_PAGE = (Path(__file__).parents[2] / "docs" / "tables.md").read_text(encoding="utf-8")
_RECIPE = re.compile(r"^```python (\w+)\n(rows = .*?)^```$", re.MULTILINE | re.DOTALL)
_RECIPES = dict(_RECIPE.findall(_PAGE))


def rows_by(engine: str, path: Path, spark: SparkSession) -> list[dict[str, Any]]:
    """What the recipe of the page makes of a table, in the order of offsets."""
    names: dict[str, Any] = {"path": str(path), "spark": spark}
    names |= {"deltalake": deltalake, "duckdb": duckdb, "pd": pd, "pl": pl}
    exec(_RECIPES[engine], names)
    return sorted(names["rows"], key=lambda row: row["_offset"])


def engines(spark: SparkSession, tables: Tables) -> dict[str, Ask]:
    """Name → how it is asked."""
    return {
        "duckdb": _in_duckdb(tables, lambda path: DeltaTable(path).to_pyarrow_dataset()),
        "pandas": _in_duckdb(tables, _frame),
        "polars": _in_polars(tables),
        "spark": _in_spark(spark, tables),
    }


def _frame(path: Path) -> pd.DataFrame:
    return DeltaTable(path).to_pandas(types_mapper=pd.ArrowDtype)


def _in_duckdb(tables: Tables, read: Callable[[Path], Any]) -> Ask:
    database = duckdb.connect()
    for name, path in tables.items():
        database.register(name, read(path))
    return lambda query: database.execute(query).fetchall()


def _in_polars(tables: Tables) -> Ask:
    context = pl.SQLContext({name: pl.scan_delta(str(path)) for name, path in tables.items()})

    def ask(query: str) -> Rows:
        # It knows no views.
        created, _, body = query.partition(" VIEW ")
        if created.startswith("CREATE"):
            name, _, select = body.partition(" AS\n")
            context.register(name, context.execute(select))
            return []
        return context.execute(query, eager=True).rows()

    return ask


def _in_spark(spark: SparkSession, tables: Tables) -> Ask:
    for name, path in tables.items():
        spark.read.format("delta").load(str(path)).createOrReplaceTempView(name)
    return lambda query: [tuple(row) for row in spark.sql(query).collect()]
