"""The flights that the benches of formats decode, and their schema in each format."""

from __future__ import annotations

import base64
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro
from sluice.lake.session import open_own
from sluice.lake.spark_place import OwnSpark
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

PARTITIONS = 2
KINDS = {"long": "BIGINT", "string": "STRING", "double": "DOUBLE", "boolean": "BOOLEAN"}
FIELDS = {
    **dict.fromkeys(("year", "month", "day", "flight", "distance", "dep_time"), "long"),
    **dict.fromkeys(("carrier", "tailnum", "origin", "dest"), "string"),
    **dict.fromkeys(("dep_delay", "arr_delay", "air_time"), "double"),
    "cancelled": "boolean",
}
DDL = ", ".join(f"{name} {KINDS[kind]}" for name, kind in FIELDS.items())
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()],
    }
)
MESSAGE = "bench.Flight"
_NUMBERS = {
    "long": FieldDescriptorProto.TYPE_INT64,
    "string": FieldDescriptorProto.TYPE_STRING,
    "double": FieldDescriptorProto.TYPE_DOUBLE,
    "boolean": FieldDescriptorProto.TYPE_BOOL,
}


def open_spark(folder: Path) -> SparkSession:
    """Sluice's own Spark; on its workers, this Python makes the messages."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    named = {"version": 1, "pipeline": "formats", "table": "formats", "topics": ["formats"]}
    spec = PipelineSpec.model_validate({**named, "format": {"type": "raw"}})
    return open_own(OwnSpark(), Warehouse(str(folder)), spec)


def descriptors() -> bytes:
    """The message's descriptor set."""
    found = FileDescriptorSet()
    file = found.file.add(name="flight.proto", package="bench", syntax="proto3")
    message = file.message_type.add(name="Flight")
    for number, (name, kind) in enumerate(FIELDS.items(), 1):
        label = FieldDescriptorProto.LABEL_OPTIONAL
        message.field.add(name=name, number=number, type=_NUMBERS[kind], label=label)
    return bytes(found.SerializeToString())


PROTOBUF = base64.b64encode(descriptors()).decode()


def flights(spark: SparkSession, records: int) -> DataFrame:
    """Records of a few fields of each kind, as their fields in the column `flight`."""
    made: dict[str, Callable[[int], Column]] = {
        "long": lambda n: F.xxhash64("id", F.lit(n)) % 10_000,
        "string": lambda n: F.concat(F.lit("N"), F.xxhash64("id", F.lit(n)) % 1_000),
        "double": lambda n: (F.xxhash64("id", F.lit(n)) % 10_000) / 8.0,
        "boolean": lambda n: F.col("id") % (n + 2) == 0,
    }
    fields = [made[kind](n).alias(name) for n, (name, kind) in enumerate(FIELDS.items())]
    return spark.range(0, records, 1, PARTITIONS).select("id", F.struct(*fields).alias("flight"))


def values(there: DataFrame, form: str) -> DataFrame:
    """The flights as the bytes of a format, in the column `value`, beside `id`."""
    if form == "protobuf":
        return there.mapInArrow(_as_messages, "id BIGINT, value BINARY")
    is_avro = form == "avro"
    value = to_avro("flight", AVRO) if is_avro else F.to_json("flight").cast("binary")
    return there.select("id", value.alias("value"))


def _as_messages(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    pool = DescriptorPool()
    for file in FileDescriptorSet.FromString(base64.b64decode(PROTOBUF)).file:
        pool.Add(file)
    made: Any = GetMessageClass(pool.FindMessageTypeByName(MESSAGE))
    for batch in batches:
        bytes_each = [made(**each).SerializeToString() for each in batch["flight"].to_pylist()]
        columns = [batch["id"], pa.array(bytes_each, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, ["id", "value"])
