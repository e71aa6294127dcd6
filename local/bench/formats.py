"""What decoding costs: each format beside Spark's own decoding of the same records.

    python -m local.bench.formats [--records 500000] [--rounds 7] [--json FILE]

Each turn decodes records that Spark has in memory, and writes the columns nowhere. Spark's own
decoding is `from_json` and `from_avro` alone, with the same fields: it checks less. A warm JVM;
the first round is not counted. Where a schema registry is there (`local/servers.sh apicurio`), what
a look-up costs is measured as well.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import click
from confluent_kafka.schema_registry import Schema
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro
from rich.console import Console
from sluice.lake.decoding.column_types import struct_type
from sluice.lake.decoding.decode import decoder
from sluice.lake.session import open_own
from sluice.lake.spark_place import OwnSpark
from sluice.registry.client import Registry
from sluice.registry.registry_settings import RegistrySettings
from sluice.spec.formats import AvroFormat, JsonFormat, RawFormat
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.spec.registered import RegisteredSchema
from sluice.tables.warehouse import Warehouse

from local.bench import options
from local.bench.figures import WIDTH, Shown, all_of, circumstances, write
from local.bench.report import Size
from local.bench.turns import Comparison, Turns, in_order
from local.bench.world import empty
from local.embedded.airflow_processes import ROOT
from local.embedded.schema_registry import SchemaRegistry
from local.embedded.server import PROGRAMS

MODULE = "local.bench.formats"
_PARTITIONS = 2
_AT_MOST = 1.10
_LOOK_UPS = 20
_KINDS = {"long": "BIGINT", "string": "STRING", "double": "DOUBLE", "boolean": "BOOLEAN"}
_FIELDS = {
    **dict.fromkeys(("year", "month", "day", "flight", "distance", "dep_time"), "long"),
    **dict.fromkeys(("carrier", "tailnum", "origin", "dest"), "string"),
    **dict.fromkeys(("dep_delay", "arr_delay", "air_time"), "double"),
    "cancelled": "boolean",
}
_DDL = ", ".join(f"{name} {_KINDS[kind]}" for name, kind in _FIELDS.items())
_AVRO = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": name, "type": kind} for name, kind in _FIELDS.items()],
    }
)
_FRAME = b"\0\0\0\0\1"

Decoding = Callable[[DataFrame], DataFrame]


def flights(spark: SparkSession, records: int) -> DataFrame:
    """Records of a few fields of each kind, as their fields."""
    made = {
        "long": lambda n: F.xxhash64("id", F.lit(n)) % 10_000,
        "string": lambda n: F.concat(F.lit("N"), F.xxhash64("id", F.lit(n)) % 1_000),
        "double": lambda n: (F.xxhash64("id", F.lit(n)) % 10_000) / 8.0,
        "boolean": lambda n: F.col("id") % (n + 2) == 0,
    }
    fields = [made[kind](n).alias(name) for n, (name, kind) in enumerate(_FIELDS.items())]
    return spark.range(0, records, 1, _PARTITIONS).select(F.struct(*fields).alias("flight"))


def as_records(flights: DataFrame, value: object) -> DataFrame:
    """Records as the decoders take them, with this value, in memory."""
    headers = F.lit(None).cast("array<struct<key:string,value:binary>>")
    return flights.select(value.alias("value"), headers.alias("headers")).localCheckpoint()  # type: ignore[attr-defined]


def contenders(spark: SparkSession, records: int) -> Mapping[str, tuple[DataFrame, Decoding]]:
    """What each decodes, and how."""
    there = flights(spark, records)
    text = F.to_json("flight").cast("binary")
    json_records = as_records(there, text)
    avro_records = as_records(there, F.concat(F.lit(_FRAME), to_avro("flight", _AVRO)))
    declared = JsonFormat.model_validate({"type": "json", "schema": _DDL})
    reader = RegisteredSchema("1", "AVRO", _AVRO)
    registered = AvroFormat(type="avro", registry="bench").read_as(reader)
    body = F.substring("value", 6, 2**31 - 1)
    return {
        "json": (json_records, _ours(declared, {})),
        "from_json": (
            json_records,
            lambda given: given.select(
                F.from_json(F.col("value").cast("string"), struct_type(declared.columns)).alias("d")
            ).select("d.*"),
        ),
        "avro": (avro_records, _ours(registered, {"1": reader})),
        "from_avro": (
            avro_records,
            lambda given: given.select(from_avro(body, _AVRO).alias("d")).select("d.*"),
        ),
        "raw": (json_records, _ours(RawFormat(type="raw"), {})),
        "bytes": (json_records, lambda given: given.select("value")),
    }


def _ours(form: object, writers: Mapping[str, RegisteredSchema]) -> Decoding:
    decode = decoder(form, "value", writers)
    return lambda given: decode(given, exact=False).select("decoded.*")


def seconds_of(records: DataFrame, decode: Decoding) -> float:
    """One pass over all records."""
    began = time.monotonic()
    decode(records).write.format("noop").mode("overwrite").save()
    return time.monotonic() - began


def look_up(folder: Path) -> Shown:
    """What a question to a real schema registry on this machine costs."""
    with SchemaRegistry(folder) as running:
        number = running.client().register_schema("flights-value", Schema(_AVRO, "AVRO"))
        registry = Registry(RegistrySettings("bench", {"url": running.url}))
        questions: Mapping[str, Callable[[], object]] = {
            "a schema by its number": lambda: registry.schema(str(number)),
            "the newest schema of a subject": lambda: registry.latest("flights-value"),
        }
        lines = []
        for what, ask in questions.items():
            taken = []
            for _ in range(_LOOK_UPS):
                began = time.monotonic()
                ask()
                taken.append(1000 * (time.monotonic() - began))
            lines.append((what, f"{sorted(taken)[_LOOK_UPS // 2]:.0f}", f"{max(taken):.0f}"))
    return Shown("Look-ups", [("question", "median, ms", "longest, ms"), *lines])


def tables(size: Size) -> list[Shown]:
    """Records per second, and the ratios."""
    turns = size.turns
    taken = [
        (name, f"{size.records / turns.median(name):,.0f}", all_of(turns.seconds[name], 2))
        for name in turns.seconds
    ]
    ratios = []
    for ours, theirs in (("json", "from_json"), ("avro", "from_avro"), ("raw", "bytes")):
        most = {size.records: _AT_MOST}
        if found := turns.verdict(Comparison(ours, theirs, most), size.records):
            line = (f"{ours} / {theirs}", f"{found.median:.2f}", f"{_AT_MOST:.2f}", found.word)
            ratios.append((*line, all_of(found.ratios, 2)))
    what = f"{size.records:,} records of {len(_FIELDS)} fields"
    return [
        Shown(what, [("decoding", "records per second", "all turns, s"), *taken]),
        Shown(f"{what}: ratios", [("ratio", "median", "at most", "", "all pairs"), *ratios]),
    ]


@click.command(help=__doc__)
@click.option("--records", default=500_000, show_default=True, type=click.IntRange(min=1000))
@click.option("--rounds", default=7, show_default=True, type=click.IntRange(min=1))
@options.figures
def main(records: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    console = Console(highlight=False, width=WIDTH)
    folder = empty(ROOT / "build" / "bench_formats")
    named = {"version": 1, "pipeline": "formats", "table": "formats", "topics": ["formats"]}
    spec = PipelineSpec.model_validate({**named, "format": {"type": "raw"}})
    spark = open_own(OwnSpark(), Warehouse(str(folder)), spec)
    try:
        size = Size(records, 0, _PARTITIONS, Turns())
        there = contenders(spark, records)
        for turn in range(rounds + 1):
            for name in in_order([*there], turn):
                seconds = seconds_of(*there[name])
                console.print(f"round {turn} of {rounds}: {name} {seconds:.2f} s")
                if turn:
                    size.turns.add(name, seconds)
    finally:
        spark.stop()
    shown = tables(size)
    if (PROGRAMS / "apicurio").exists():
        shown.append(look_up(folder / "registry"))
    write(file, circumstances(MODULE, sys.argv[1:]), [size], shown)
    for each in shown:
        each.print(console)


if __name__ == "__main__":
    main()
