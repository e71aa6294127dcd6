"""The lake of one pipeline: its data and quarantine tables, written with Spark."""

from __future__ import annotations

import logging
import re

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from sluice.broker.kafka_client import KafkaClient
from sluice.lake.batch_rows import (
    UNDECODABLE,
    data_rows,
    decodable_rows,
    quarantine_rows,
)
from sluice.lake.decoding import DECODED, decode
from sluice.lake.json_decoding import ERROR
from sluice.lake.kafka_source import read_ranges
from sluice.lake.tables import (
    append_batch,
    create_data_table,
    create_quarantine_table,
    replace_quarantined,
)
from sluice.landing import Malformed, Undecodable
from sluice.planning.batches import Batch
from sluice.planning.ranges import OffsetRange
from sluice.spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

log = logging.getLogger(__name__)

_FIRST_UNDECODABLE = re.compile(rf"{UNDECODABLE} (.*?)(?: SQLSTATE|$)", re.MULTILINE)
_SAMPLES = 5


class SparkLake:
    """The tables of one pipeline, written with Spark. Implements the port `Lake`."""

    def __init__(
        self, spark: SparkSession, client: KafkaClient, spec: PipelineSpec, tables: Warehouse
    ) -> None:
        self._spark = spark
        self._client = client
        self._spec = spec
        self._data = tables.data(spec.table)
        self._quarantine = tables.quarantine(spec.table)
        self._closely = False

    def prepare(self) -> None:
        """Create the data table unless it is there."""
        create_data_table(self._spark, self._data, self._spec)

    def land(self, batch: Batch, ranges: list[OffsetRange]) -> None:
        """Commit the batch in one pass, if all is decodable; otherwise raises Undecodable.

        The quick reading is tried first. Where it is not sure of a record, this batch and all that
        follow are read closely.
        """
        if not self._closely:
            try:
                return self._append(batch, ranges, closely=False)
            except Undecodable as unsure:
                log.info("%s: %s; reading closely from here on", batch, unsure)
                self._closely = True
        self._append(batch, ranges, closely=True)

    def _append(self, batch: Batch, ranges: list[OffsetRange], closely: bool) -> None:
        rows = data_rows(self._read(ranges), self._spec.format, batch, closely)
        try:
            append_batch(rows, self._data, batch)
        except Exception as problem:
            found = _FIRST_UNDECODABLE.search(str(problem))
            if found:
                raise Undecodable(found[1]) from None
            raise

    def land_decodable(self, batch: Batch, ranges: list[OffsetRange]) -> None:
        """Commit the batch's decodable records; the others must be in quarantine by now."""
        rows = decodable_rows(self._read(ranges), self._spec.format, batch)
        append_batch(rows, self._data, batch)

    def quarantine(self, batch: Batch, ranges: list[OffsetRange]) -> Malformed:
        """Make the batch's undecodable records durable, in place of an earlier attempt's."""
        create_quarantine_table(self._spark, self._quarantine, self._spec)
        seen = Observation("seen")
        records = decode(self._spec.format, self._read(ranges), closely=True).observe(
            seen,
            F.count(F.lit(1)).alias("records"),
            F.count(F.col(DECODED)[ERROR]).alias("undecodable"),
        )
        replace_quarantined(quarantine_rows(records, batch), self._quarantine, batch)
        counts = seen.get
        return Malformed(counts["records"], counts["undecodable"], self._samples(batch))

    def _read(self, ranges: list[OffsetRange]) -> DataFrame:
        return read_ranges(self._spark, self._client, ranges)

    def _samples(self, batch: Batch) -> tuple[str, ...]:
        rows = self._spark.read.format("delta").load(self._quarantine)
        mine = rows.where(F.col("_batch") == str(batch)).orderBy("_partition", "_offset")
        return tuple(
            f"{row['_topic']}[{row['_partition']}]@{row['_offset']}: {row['error']}"
            for row in mine.limit(_SAMPLES).collect()
        )
