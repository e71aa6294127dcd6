"""What becomes of the values of a spec's records, on Spark, for tests to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import SparkSession
from sluice.lake.decoding.decode import DECODED, decoder_of
from sluice.spec_file.formats import Source
from sluice.spec_file.pipeline_spec import PipelineSpec

BASE = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p"}


def rows(
    spark: SparkSession,
    spec: Mapping[str, Any],
    values: Sequence[bytes | None],
    **files: bytes,
) -> list[Any]:
    """What became of each value: its columns, or its error."""
    return _outcomes(spark, spec, values, "value", files)


def key_rows(
    spark: SparkSession, spec: Mapping[str, Any], keys: Sequence[bytes | None]
) -> list[Any]:
    """What became of each key: its columns, or its error."""
    return _outcomes(spark, spec, keys, "key", {})


def _outcomes(
    spark: SparkSession,
    spec: Mapping[str, Any],
    values: Sequence[bytes | None],
    source: Source,
    files: Mapping[str, bytes],
) -> list[Any]:
    context = {"files": {name.replace("__", "."): each for name, each in files.items()}}
    formats = PipelineSpec.model_validate({**BASE, **spec}, context=context).formats
    records = [(place, each and bytearray(each)) for place, each in enumerate(values)]
    frame = spark.createDataFrame(records, f"place INT, {source} BINARY")
    name = DECODED[source]
    read = decoder_of(formats, source, {})(frame).select("place", name)
    # Arrow cannot have a VARIANT that is null.
    is_variant = "variant" in read.schema.simpleString()
    plain = [e.asDict(True) for e in read.collect()] if is_variant else read.toArrow().to_pylist()
    found = {each["place"]: each[name] for each in plain}
    return [outcome_of(found[place]) for place in range(len(values))]


def outcome_of(row: dict[str, Any] | None) -> Any:
    if row is None:
        return None
    error = row.pop("(error)")
    assert error is None or set(row.values()) == {None}
    return row if error is None else error
