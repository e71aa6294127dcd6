"""What analysts ask tables with: each engine answers SQL over some Delta tables, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
from deltalake import DeltaTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = Sequence[tuple[object, ...]]
Ask = Callable[[str], Rows]
Tables = Mapping[str, Path]


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
