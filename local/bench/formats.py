"""What decoding costs: each format beside Spark's own decoding of the same records.

    python -m local.bench.formats [--records 500000] [--rounds 7] [--json FILE]

Each turn decodes records that Spark has in memory, and writes the columns nowhere. Spark's own
decoding is what a plain job has that wants typed columns and keeps the rows that fail: `from_json`
and `from_avro`, both PERMISSIVE, and for Protobuf a parse in Python. It checks less. A warm JVM;
the first round is not counted. Where a schema registry is there (`local/servers.sh apicurio`), what
a look-up costs is measured as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial, reduce
from pathlib import Path

import click
from confluent_kafka.schema_registry import Schema
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sluice.lake.decoding.decode import decoder
from sluice.registry.client import Registry
from sluice.registry.registry_settings import RegistrySettings
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import AvroFormat, Format, JsonFormat, ProtobufFormat
from sluice.spec_file.plain_formats import RawFormat

from local.bench.figures import Shown, all_of, compared
from local.bench.flights import (
    AVRO,
    DDL,
    FIELDS,
    MESSAGE,
    PARTITIONS,
    PROTOBUF,
    flights,
    open_spark,
    values,
)
from local.bench.harness import Bench, number, to_file
from local.bench.plain_job import decoded
from local.bench.turns import Comparison, Size
from local.embedded.schema_registry import SchemaRegistry
from local.embedded.server import PROGRAMS

_AT_MOST = 1.10
_LOOK_UPS = 20
# What is done with the value alone takes hundredths of a second: these read the records so often.
_REPEATED = {"raw": 20, "bytes": 20}
_FRAME, _FIRST_MESSAGE = b"\0\0\0\0\1", b"\0"
_PAIRS = (
    ("json", "from_json"),
    ("avro", "from_avro"),
    ("protobuf", "python"),
    ("raw", "bytes"),
)

Decoding = Callable[[DataFrame], DataFrame]


def as_records(values: DataFrame, frame: bytes) -> DataFrame:
    """Records as the decoders take them, with a frame before the value, in memory."""
    value = F.concat(F.lit(frame), "value").alias("value")
    headers = F.lit(None).cast("array<struct<key:string,value:binary>>")
    return values.select(value, headers.alias("headers")).localCheckpoint()


def contenders(spark: SparkSession, records: int) -> Mapping[str, tuple[DataFrame, Decoding]]:
    """What each decodes, and how."""
    there = flights(spark, records)
    of_json = as_records(values(there, "json"), b"")
    often = reduce(DataFrame.unionAll, [of_json] * _REPEATED["raw"])
    of_avro = as_records(values(there, "avro"), _FRAME)
    of_protobuf = as_records(values(there, "protobuf"), _FRAME + _FIRST_MESSAGE)
    declared = JsonFormat.model_validate({"type": "json", "schema": DDL})
    avro = RegisteredSchema("1", "AVRO", AVRO)
    protobuf = RegisteredSchema("1", "PROTOBUF", PROTOBUF)
    of_registry = AvroFormat(type="avro", registry="bench").read_as(avro)
    messages = ProtobufFormat(type="protobuf", registry="bench", record=MESSAGE).read_as(protobuf)
    return {
        "json": (of_json, _ours(declared, {})),
        "from_json": (of_json, _theirs("json", DDL, b"")),
        "avro": (of_avro, _ours(of_registry, {"1": avro})),
        "from_avro": (of_avro, _theirs("avro", AVRO, _FRAME)),
        "protobuf": (of_protobuf, _ours(messages, {"1": protobuf})),
        "python": (of_protobuf, _theirs("protobuf", PROTOBUF, _FRAME + _FIRST_MESSAGE)),
        "raw": (often, _ours(RawFormat(type="raw"), {})),
        "bytes": (often, lambda given: given.select("value")),
    }


def _theirs(form: str, schema: str, frame: bytes) -> Decoding:
    """Spark's own decoding, with the frame cut off."""
    body = F.substring("value", len(frame) + 1, 2**31 - 1) if frame else F.col("value")
    return lambda given: decoded(given.select(body.alias("value")), form, schema)


def _ours(form: Format, writers: Mapping[str, RegisteredSchema]) -> Decoding:
    decode = decoder(form, "value", writers)
    return lambda given: decode(given).select("decoded.*")


def seconds_of(records: DataFrame, decode: Decoding) -> float:
    """One pass over all records."""
    began = time.monotonic()
    decode(records).write.format("noop").mode("overwrite").save()
    return time.monotonic() - began


def look_up(folder: Path) -> Shown:
    """What a question to a real schema registry on this machine costs."""
    with SchemaRegistry(folder) as running:
        number = running.client().register_schema("flights-value", Schema(AVRO, "AVRO"))
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
    what = f"{size.records:,} records of {len(FIELDS)} fields"
    taken = [
        (
            name,
            f"{size.records * _REPEATED.get(name, 1) / size.turns.median(name):,.0f}",
            all_of(seconds, 2),
        )
        for name, seconds in size.turns.seconds.items()
    ]
    comparisons = [Comparison(*pair, {size.records: _AT_MOST}) for pair in _PAIRS]
    return [
        Shown(what, [("decoding", "records per second", "all turns, s"), *taken]),
        *compared(what, comparisons, size),
    ]


@click.command(help=__doc__)
@number("--records", 500_000, least=1000)
@number("--rounds", 7)
@to_file
def main(records: int, rounds: int, file: Path | None) -> None:
    """Measure, and print."""
    bench, size = Bench("local.bench.formats", file), Size(records, 0, PARTITIONS)
    spark = open_spark(bench.folder)
    try:
        turns = {
            name: partial(seconds_of, *each) for name, each in contenders(spark, records).items()
        }
        for _ in size.take(turns, rounds, bench.say, warming=1):
            bench.write([size], tables(size))
    finally:
        spark.stop()
    shown = tables(size)
    if (PROGRAMS / "apicurio").exists():
        shown.append(look_up(bench.folder / "registry"))
        bench.write([size], shown)
    bench.show(shown)


if __name__ == "__main__":
    main()
