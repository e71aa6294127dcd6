"""What statistics cost on a wide table: the same rows written beside fewer, more and none.

    python -m local.bench.wide_tables [--rows 150000] [--columns 200] [--rounds 7] [--json FILE]

Each turn writes the same rows, which Spark has in memory, into an empty table of 200 columns. Only
the statistics columns differ: those that Sluice chooses, the first 20, all, none. A warm JVM; the
first round is not counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from sluice.lake.session import open_own
from sluice.lake.spark_place import OwnSpark
from sluice.lake.table_creation import create_data_table
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

from local.bench.figures import Shown, compared, taken
from local.bench.harness import Bench, empty, number, to_file
from local.bench.turns import Comparison, Size

_KINDS = ("BIGINT", "STRING", "DOUBLE", "TIMESTAMP", "STRING")
_PARTITIONS = 2
_AT_MOST = {"chosen": 1.10}
_STATISTICS = "delta.dataSkippingStatsColumns"


def spec_of(columns: int) -> PipelineSpec:
    """A pipeline whose records have so many fields."""
    schema = ", ".join(f"c{n} {_KINDS[n % len(_KINDS)]}" for n in range(columns))
    named = {"version": 1, "pipeline": "wide", "table": "wide", "topics": ["wide"]}
    return PipelineSpec.model_validate({**named, "format": {"type": "json", "schema": schema}})


def rows_of(spark: SparkSession, spec: PipelineSpec, rows: int) -> DataFrame:
    """Rows of the data table, in memory."""
    made: dict[str, Callable[[int], Column]] = {
        "BIGINT": lambda n: F.xxhash64("id", F.lit(n)) % 1_000_000,
        "DOUBLE": lambda n: (F.xxhash64("id", F.lit(n)) % 1_000_000) / 100.0,
        "STRING": lambda n: F.concat(F.lit("value "), F.xxhash64("id", F.lit(n)) % 10_000),
        "TIMESTAMP": lambda n: F.timestamp_seconds(F.lit(1_700_000_000 + n) + F.col("id")),
    }
    fields = [made[str(each.type)](n).alias(each.name) for n, each in enumerate(spec.columns)]
    ours = {
        "_topic": F.lit("wide"),
        "_topic_id": F.lit("x" * 22),
        "_partition": F.lit(0),
        "_offset": F.col("id"),
        "_timestamp": F.timestamp_seconds(F.lit(1_700_000_000)),
        "_key": F.lit(b"k"),
        "_tombstone": F.lit(False),
        "_batch": F.lit("forward-1-1"),
    }
    envelope = [column.alias(name) for name, column in ours.items()]
    return spark.range(0, rows, 1, _PARTITIONS).select(*fields, *envelope).localCheckpoint()


def choices(spec: PipelineSpec) -> Mapping[str, tuple[str, str | None]]:
    """What each is, and its statistics columns; None: as Sluice chooses them."""
    names = [each.name for each in spec.columns]
    return {
        "chosen": ("as Sluice chooses them", None),
        "twenty": ("the first 20 columns", ",".join(names[:20])),
        "all": (f"all {len(names)} columns", ",".join(names)),
        "none": ("one column of Sluice's", "_batch"),
    }


def seconds_of(
    spark: SparkSession, spec: PipelineSpec, rows: DataFrame, statistics: str | None, folder: Path
) -> float:
    """One write into an empty table of these statistics columns."""
    table = str(empty(folder) / "wide")
    create_data_table(spark, table, spec)
    if statistics is not None:
        change = f"SET TBLPROPERTIES ('{_STATISTICS}' = '{statistics}')"
        spark.sql(f"ALTER TABLE delta.`{table}` {change}")
    began = time.monotonic()
    rows.write.format("delta").mode("append").save(table)
    return time.monotonic() - began


def tables(size: Size, spec: PipelineSpec) -> list[Shown]:
    """The contenders, and the ratios to 20 columns."""
    title = f"{size.records:,} rows of {len(spec.columns)} columns"
    cells = {name: (what,) for name, (what, _) in choices(spec).items()}
    comparisons = [
        Comparison(name, "twenty", {size.records: _AT_MOST[name]} if name in _AT_MOST else {})
        for name in cells
        if name != "twenty"
    ]
    return [
        taken(title, ("contender", "statistics"), cells, size),
        *compared(title, comparisons, size),
    ]


@click.command(help=__doc__)
@number("--rows", 150_000, least=1000)
@number("--columns", 200, least=20)
@number("--rounds", 7)
@to_file
def main(rows: int, columns: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    bench, spec = Bench("local.bench.wide_tables", file), spec_of(columns)
    spark = open_own(OwnSpark(), Warehouse(str(bench.folder)), spec)
    try:
        size, there = Size(rows, 0, _PARTITIONS), rows_of(spark, spec, rows)
        turns = {
            name: partial(seconds_of, spark, spec, there, statistics, bench.folder / "tables")
            for name, (_, statistics) in choices(spec).items()
        }
        for _ in size.take(turns, rounds, bench.say, warming=1):
            bench.write([size], tables(size, spec))
        bench.show(tables(size, spec))
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
