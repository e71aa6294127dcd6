"""Schema keys: which schemas the records of a batch name."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.decoding.frames import header_of
from sluice.lake.decoding.payloads import is_wrapped, with_payload
from sluice.spec_file.formats import RegisteredFormat, Source

# Ours (jobs/jvm/frames/SchemaKey.scala).
SCHEMA_KEY = "sluice_schema_key"
# In a batch of garbage, each record may name another schema.
MOST_KEYS = 1000


def unknown_keys(
    records: DataFrame, form: RegisteredFormat, source: Source, known: Collection[str]
) -> tuple[str, ...]:
    """The keys that records name and that are not known, those of most records first.

    At most MOST_KEYS: each is a question to the registry.
    """
    if is_wrapped(form):
        records = with_payload(records, form, source)
    record, header = F.struct(source, "headers"), F.lit(header_of(source))
    keys = records.select(F.call_function(SCHEMA_KEY, record, header).alias("key"))
    unknown = keys.where(F.col("key").isNotNull() & ~F.col("key").isin(*known))
    counted = unknown.groupBy("key").count().orderBy(F.desc("count"), "key").limit(MOST_KEYS)
    return tuple(row["key"] for row in counted.collect())
