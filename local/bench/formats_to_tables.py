"""What a format costs from Kafka to Delta: Sluice's ingest beside a plain job, for each format.

    python -m local.bench.formats_to_tables [--records 1000000] [--rounds 5] [--json FILE] [FORMAT…]

Whole processes under spark-submit with the same JVM settings, one after the other: `ingest` as
Airflow runs it, and a batch job that reads the same offsets, decodes with what Spark has, and
appends the same columns to Delta. Values have no frame: their schema is in a file.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import click
from pyspark.sql import functions as F
from rich.console import Console

from local.bench import options
from local.bench.contender import Contender
from local.bench.figures import WIDTH, Shown, all_of, circumstances, write
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
from local.bench.place import HERE, Place
from local.bench.report import Size
from local.bench.spark_jobs import Ingest, Plain, with_our_jvm
from local.bench.turns import Comparison, Turns, in_order
from local.bench.world import PARTITIONS, OurPipeline, World, empty
from local.embedded.airflow_processes import ROOT
from local.embedded.broker import Broker
from local.embedded.topics import create_topic

MODULE = "local.bench.formats_to_tables"
_AT_MOST = 1.10
_SPECS = {
    "json": f'{{type: json, schema: "{DDL}"}}',
    "avro": "{type: avro, schema_file: flight.avsc}",
    "protobuf": f"{{type: protobuf, schema_file: flight.desc, record: {MESSAGE}}}",
    "raw": "{type: raw}",
}
_FILES = {"flight.avsc": AVRO.encode(), "flight.desc": descriptors()}
_PLAIN = {"json": DDL, "avro": AVRO, "protobuf": PROTOBUF, "raw": None}


@dataclass(frozen=True)
class FormatWorld(World):
    """A topic of one format, and specs with their schema files beside them."""

    form: str = "raw"

    @property
    def topic(self) -> str:
        """Its name."""
        return f"bench_{self.form}"

    def pipeline(self, name: str, topic: str, form: str = "", place: Place = HERE) -> OurPipeline:
        """A pipeline of ours over the topic."""
        ours = super().pipeline(name, topic, _SPECS[self.form], place)
        for each, content in _FILES.items():
            (ours.folder / each).write_bytes(content)
        return ours

    @property
    def contenders(self) -> dict[str, Contender]:
        """Ours and the plain one, by their names."""
        ours, theirs = f"ingest-{self.form}", f"plain-{self.form}"
        schema = _PLAIN[self.form]
        return {
            ours: Ingest(ours, self, _SPECS[self.form]),
            theirs: Plain(theirs, self, with_our_jvm, schema, self.form),
        }


def produce(worlds: list[FormatWorld]) -> None:
    """Fill each world's topic with the same flights, by Spark."""
    spark = open_spark(empty(worlds[0].folder / "produced"))
    try:
        for world in worlds:
            create_topic(world.bootstrap, world.topic, PARTITIONS, {"retention.ms": "-1"})
            there = values(flights(spark, world.records), world.form)
            partition = (F.col("id") % PARTITIONS).cast("int").alias("partition")
            rows = there.select("value", partition)
            kafka = {"kafka.bootstrap.servers": world.bootstrap, "topic": world.topic}
            rows.write.format("kafka").options(**kafka).mode("append").save()
    finally:
        spark.stop()


def tables(size: Size, forms: tuple[str, ...]) -> list[Shown]:
    """Seconds, and the ratios."""
    turns = size.turns
    taken = [
        (name, f"{turns.median(name):.1f}", all_of(turns.seconds[name], 1))
        for name in turns.seconds
    ]
    ratios = []
    for form in forms:
        comparison = Comparison(f"ingest-{form}", f"plain-{form}", {size.records: _AT_MOST})
        if found := turns.verdict(comparison, size.records):
            line = (str(comparison), f"{found.median:.2f}", f"{_AT_MOST:.2f}", found.word)
            ratios.append((*line, all_of(found.ratios, 2)))
    what = f"{size.records:,} records from Kafka to Delta"
    return [
        Shown(what, [("contender", "median, s", "all turns, s"), *taken]),
        Shown(f"{what}: ratios", [("ratio", "median", "at most", "", "all pairs"), *ratios]),
    ]


@click.command(help=__doc__)
@click.argument("forms", nargs=-1, type=click.Choice([*_SPECS]))
@click.option(
    "--records", default=1_000_000, show_default=True, type=click.IntRange(min=PARTITIONS)
)
@options.rounds
@options.figures
def main(forms: tuple[str, ...], records: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    console = Console(highlight=False, width=WIDTH)
    folder, forms = empty(ROOT / "build" / "bench_formats_to_tables"), forms or tuple(_SPECS)
    records -= records % PARTITIONS
    size = Size(records, 0, PARTITIONS, Turns())
    with Broker(folder / "broker") as broker:
        worlds = [FormatWorld(broker.bootstrap, folder, records, each) for each in forms]
        produce(worlds)
        there = {name: each for world in worlds for name, each in world.contenders.items()}
        for turn in range(rounds):
            for name in in_order([*there], turn):
                seconds = there[name].seconds()
                console.print(f"round {turn + 1} of {rounds}: {name} {seconds:.1f} s")
                size.turns.add(name, seconds)
    shown = tables(size, forms)
    write(file, circumstances(MODULE, sys.argv[1:]), [size], shown)
    for each in shown:
        each.print(console)


if __name__ == "__main__":
    main()
