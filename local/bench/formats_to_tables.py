"""What a format costs from Kafka to Delta: Sluice's ingest beside a plain job, for each format.

    python -m local.bench.formats_to_tables [--records 1000000] [--rounds 5] [--json FILE] [FORMAT…]

Whole processes under spark-submit with the same JVM settings, one after the other: `ingest` as
Airflow runs it, and a batch job that reads the same offsets, decodes with what Spark has, and
appends the same columns to Delta. Values have no frame: their schema is in a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import click
from pyspark.sql import functions as F

from local.bench.contenders import ingest, plain, with_our_jvm
from local.bench.figures import Shown, compared, taken
from local.bench.flights import (
    AVRO,
    DDL,
    MESSAGE,
    PROTOBUF,
    descriptors,
    flights,
    open_spark,
    values,
)
from local.bench.harness import Bench, empty, number, to_file
from local.bench.records import PARTITIONS
from local.bench.stage import Stage
from local.bench.turns import Comparison, Size
from local.bench.world import World
from local.embedded.broker import Broker
from local.embedded.topics import create_topic

_AT_MOST = 1.10
_SPECS = {
    "json": f'{{type: json, schema: "{DDL}"}}',
    "avro": "{type: avro, schema_file: flight.avsc}",
    "protobuf": f"{{type: protobuf, schema_file: flight.desc, record: {MESSAGE}}}",
    "raw": "{type: raw}",
}
_FILES = {"flight.avsc": AVRO.encode(), "flight.desc": descriptors()}
_PLAIN = {"json": DDL, "avro": AVRO, "protobuf": PROTOBUF, "raw": None}


def produce(worlds: dict[str, World], folder: Path) -> None:
    """Fill each format's topic with the same flights, by Spark."""
    spark = open_spark(empty(folder))
    try:
        for form, world in worlds.items():
            create_topic(world.stage.bootstrap, world.topic, PARTITIONS, {"retention.ms": "-1"})
            there = values(flights(spark, world.records), form)
            partition = (F.col("id") % PARTITIONS).cast("int").alias("partition")
            rows = there.select("value", partition)
            kafka = {"kafka.bootstrap.servers": world.stage.bootstrap, "topic": world.topic}
            rows.write.format("kafka").options(**kafka).mode("append").save()
    finally:
        spark.stop()


def tables(size: Size, forms: Sequence[str]) -> list[Shown]:
    """Seconds, and the ratios."""
    what, at_most = f"{size.records:,} records from Kafka to Delta", {size.records: _AT_MOST}
    cells = dict.fromkeys(size.turns.seconds, ())
    comparisons = [Comparison(f"ingest-{form}", f"plain-{form}", at_most) for form in forms]
    return [taken(what, ("contender",), cells, size), *compared(what, comparisons, size)]


@click.command(help=__doc__)
@click.argument("forms", nargs=-1, type=click.Choice([*_SPECS]))
@number("--records", 1_000_000, least=PARTITIONS)
@number("--rounds", 5)
@to_file
def main(forms: tuple[str, ...], records: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    bench, forms = Bench("local.bench.formats_to_tables", file), forms or tuple(_SPECS)
    records -= records % PARTITIONS
    size = Size(records, 0, PARTITIONS)
    with Broker(bench.folder / "broker") as broker:
        stage = Stage(bench.folder, broker.bootstrap)
        worlds = {form: World(stage, f"bench_{form}", records, _FILES) for form in forms}
        produce(worlds, bench.folder / "produced")
        turns = {}
        for form, world in worlds.items():
            ours, theirs, schema = f"ingest-{form}", f"plain-{form}", _PLAIN[form]
            turns[ours] = partial(ingest, world, ours, _SPECS[form])
            turns[theirs] = partial(plain, world, theirs, with_our_jvm, schema, form)
        for _ in size.take(turns, rounds, bench.say):
            bench.write([size], tables(size, forms))
    bench.show(tables(size, forms))


if __name__ == "__main__":
    main()
