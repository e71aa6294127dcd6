"""An opened lake: a pipeline's tables with a Spark session, which ends with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from sluice.lake.port import Lake, ShowReading, Upkeep
from sluice.progress.resources import PipelineResources
from sluice.spec.pipeline_spec import PipelineSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OpenSpark = Callable[[PipelineSpec, int | None], AbstractContextManager["SparkSession"]]
"""Starts Spark for a pipeline that reads so many offsets (None: unknown); stops it at the end."""


@contextmanager
def open_lake(
    resources: PipelineResources,
    open_spark: OpenSpark,
    offsets: int | None,
    show: ShowReading | None = None,
) -> Iterator[Lake]:
    """The lake that batches of so many offsets land in; what is read is shown, or logged.

    Raises SparkFailed.
    """
    from sluice.lake.spark_lake import SparkLake
    from sluice.progress.readers import spec_to_land

    with open_spark(resources.spec, offsets) as spark:
        yield SparkLake(spark, resources, spec_to_land(resources), show)


@contextmanager
def open_upkeep(resources: PipelineResources, open_spark: OpenSpark) -> Iterator[Upkeep]:
    """What removes rows and files. Raises SparkFailed."""
    from sluice.lake.upkeep import SparkUpkeep

    with open_spark(resources.spec, None) as spark:
        yield SparkUpkeep(spark, resources.tables.quarantine(resources.spec.table))
