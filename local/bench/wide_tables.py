"""What statistics cost on a wide table: the same rows written beside fewer, more and none.

    python -m local.bench.wide_tables [--rows 150000] [--columns 200] [--rounds 7] [--json FILE]

Each turn writes the same rows, which Spark has in memory, into an empty table of 200 columns. Only
the statistics columns differ: those that Sluice chooses, the first 20, all, none. A warm JVM; the
first round is not counted.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

import click
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from rich.console import Console
from sluice.lake.session import open_own
from sluice.lake.spark_place import OwnSpark
from sluice.lake.table_creation import create_data_table
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

from local.bench import options
from local.bench.figures import WIDTH, Shown, all_of, circumstances, write
from local.bench.report import Size
from local.bench.turns import Comparison, Turns, in_order
from local.bench.world import empty
from local.embedded.airflow_processes import ROOT

MODULE = "local.bench.wide_tables"
_KINDS = ("BIGINT", "STRING", "DOUBLE", "TIMESTAMP", "STRING")
_PARTITIONS = 2
_LIMIT = {"chosen / twenty": 1.10}
_STATISTICS = "delta.dataSkippingStatsColumns"


def spec_of(columns: int) -> PipelineSpec:
    """A pipeline whose records have so many fields."""
    schema = ", ".join(f"c{n} {_KINDS[n % len(_KINDS)]}" for n in range(columns))
    named = {"version": 1, "pipeline": "wide", "table": "wide", "topics": ["wide"]}
    return PipelineSpec.model_validate({**named, "format": {"type": "json", "schema": schema}})


def rows_of(spark: SparkSession, spec: PipelineSpec, rows: int) -> DataFrame:
    """Rows of the data table, in memory."""
    made = {
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


def contenders(spec: PipelineSpec) -> Mapping[str, tuple[str, str | None]]:
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
    turns = size.turns
    taken = [
        (name, what, f"{turns.median(name):.1f}", all_of(turns.seconds[name], 1))
        for name, (what, _) in contenders(spec).items()
    ]
    title = f"{size.records:,} rows of {len(spec.columns)} columns"
    compared = [Comparison(name, "twenty") for name in contenders(spec) if name != "twenty"]
    ratios = []
    for each in compared:
        most = _LIMIT.get(str(each))
        found = turns.verdict(
            Comparison(each.ours, each.theirs, {size.records: most} if most else {}), size.records
        )
        if found:
            limit = f"{most:.2f}" if most else ""
            line = (str(each), f"{found.median:.2f}", limit, found.word, all_of(found.ratios, 2))
            ratios.append(line)
    return [
        Shown(title, [("contender", "statistics", "median, s", "all turns, s"), *taken]),
        Shown(f"{title}: ratios", [("ratio", "median", "at most", "", "all pairs"), *ratios]),
    ]


@click.command(help=__doc__)
@click.option("--rows", default=150_000, show_default=True, type=click.IntRange(min=1000))
@click.option("--columns", default=200, show_default=True, type=click.IntRange(min=20))
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(min=1))
@options.figures
def main(rows: int, columns: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    console = Console(highlight=False, width=WIDTH)
    folder = empty(ROOT / "build" / "bench_wide_tables")
    spec = spec_of(columns)
    spark = open_own(OwnSpark(), Warehouse(str(folder)), spec)
    try:
        size = Size(rows, 0, _PARTITIONS, Turns())
        there = rows_of(spark, spec, rows)
        for turn in range(rounds + 1):
            for name in in_order([*contenders(spec)], turn):
                statistics = contenders(spec)[name][1]
                seconds = seconds_of(spark, spec, there, statistics, folder / "tables")
                console.print(f"round {turn} of {rounds}: {name} {seconds:.1f} s")
                if turn:
                    size.turns.add(name, seconds)
        shown = tables(size, spec)
        write(file, circumstances(MODULE, sys.argv[1:]), [size], shown)
        for each in shown:
            each.print(console)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
