"""The functions that Avro and JSON are read with: whether Spark has them, where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sluice.errors import SettingsError
from sluice.lake.server.requirements import EXTENSIONS_KEY
from sluice.spec.formats import AvroFormat, JsonFormat
from sluice.spec.pipeline_spec import PipelineSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ASKED = """SELECT sluice_avro(X'', '"int"', '"int"')"""


def require_decoding(spark: SparkSession, spec: PipelineSpec) -> None:
    """Raises SettingsError, with what to add, if the spec needs functions that Spark lacks."""
    formats = spec.formats.by_source.values()
    if not any(isinstance(each, AvroFormat | JsonFormat) for each in formats):
        return
    try:
        spark.sql(_ASKED).schema  # noqa: B018
    except Exception as problem:
        if "UNRESOLVED_ROUTINE" not in str(problem):
            raise
        raise SettingsError(
            f"{spec.pipeline}: to read Avro or JSON, expected sluice.jar on Spark's class path, and"
            f" sluice.Decoding in {EXTENSIONS_KEY}; found none there. Put `sluice.jar` of"
            " `build/jars/spark` where Spark's driver and its workers run, name the class"
            f" in {EXTENSIONS_KEY}, and start Spark again: docs/spark-server.conf"
        ) from None
