"""The engine that Spark is: a pipeline's tables with a Spark session, which ends with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sluice.lake.port import Lake, ShowReading, StateLake, Upkeep
from sluice.progress.resources import PipelineResources
from sluice.spec_file.pipeline_spec import PipelineSpec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OpenSpark = Callable[[PipelineSpec, int | None], AbstractContextManager["SparkSession"]]
"""Starts Spark for a pipeline that reads so many offsets (None: unknown); stops it at the end."""


@dataclass(frozen=True)
class SparkEngine:
    """Implements the port `Engine`."""

    open_spark: OpenSpark

    @contextmanager
    def lake(
        self,
        resources: PipelineResources,
        offsets: int | None,
        show: ShowReading | None = None,
    ) -> Iterator[Lake]:
        """The lake that batches of so many offsets land in; what is read is shown, or logged."""
        from sluice.lake.spark_lake import SparkLake
        from sluice.progress.readers import spec_to_land

        with self.open_spark(resources.spec, offsets) as spark:
            yield SparkLake(spark, resources, spec_to_land(resources), show)

    @contextmanager
    def upkeep(self, resources: PipelineResources) -> Iterator[Upkeep]:
        """What removes rows and files."""
        from sluice.lake.upkeep import SparkUpkeep

        with self.open_spark(resources.spec, None) as spark:
            yield SparkUpkeep(spark, resources)

    @contextmanager
    def state(self, resources: PipelineResources) -> Iterator[StateLake]:
        """What writes the state table."""
        from sluice.lake.state.spark_state import spark_state

        with self.open_spark(resources.spec, None) as spark, spark_state(spark, resources) as state:
            yield state
