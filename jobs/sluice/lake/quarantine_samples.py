"""Samples: the first records that an attempt has quarantined, each with its reason, for people."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from sluice.lake.batch_rows import micros
from sluice.lake.port import BatchAttempt
from sluice.offsets.quarantine_tickets import Ticket

_SAMPLES = 5


def samples_of(
    spark: SparkSession, quarantine: str, attempt: BatchAttempt, ticket: Ticket
) -> tuple[str, ...]:
    """A line for each; `ticket` is the one that the attempt has added its records with."""
    rows = spark.read.format("delta").load(quarantine)
    at = F.timestamp_micros(F.lit(micros(ticket.at)))
    mine = rows.where((rows["_batch"] == str(attempt)) & (rows["quarantined_at"] == at))
    # Not whole rows: Python has no year 10000, and a record's timestamp may be beyond it.
    told = mine.select("_topic", "_partition", "_offset", "error")
    return tuple(
        f"{row['_topic']}[{row['_partition']}]@{row['_offset']}: {row['error']}"
        for row in told.orderBy("_partition", "_offset").limit(_SAMPLES).collect()
    )
