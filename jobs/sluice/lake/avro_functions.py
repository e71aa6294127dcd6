"""The functions that Avro is read with: whether Spark has them, where it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sluice.errors import SettingsError
from sluice.lake.server.requirements import EXTENSIONS_KEY
from sluice.spec.formats import AvroFormat
from sluice.spec.pipeline_spec import PipelineSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_NEEDED = {
    """SELECT from_avro(X'', '"int"')""": "spark-avro_2.13-4.0.2.jar on Spark's class path",
    """SELECT sluice_avro_misfit(X'', '"int"', '"int"')""": "sluice.jar on Spark's class path, and"
    f" sluice.AvroChecks in {EXTENSIONS_KEY}",
}


def require_avro(spark: SparkSession, spec: PipelineSpec) -> None:
    """Raises SettingsError, with what to add, if the spec reads Avro and Spark cannot."""
    if not any(isinstance(each, AvroFormat) for each in spec.formats.by_source.values()):
        return
    for statement, needed in _NEEDED.items():
        try:
            spark.sql(statement).schema  # noqa: B018
        except Exception as problem:
            if not _is_missing(str(problem)):
                raise
            raise SettingsError(
                f"{spec.pipeline}: to read Avro, expected {needed}; found none there. Put both jars"
                " of `build/jars/spark` where Spark's driver and its workers run, name the class"
                f" in {EXTENSIONS_KEY}, and start Spark again: docs/spark-server.conf"
            ) from None


def _is_missing(said: str) -> bool:
    return "UNRESOLVED_ROUTINE" in said or "AVRO_NOT_LOADED" in said
