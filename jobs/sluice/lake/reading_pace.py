"""The pace of a reading: a sign of life every few seconds while Spark reads a batch."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_SECONDS = 5.0
# jobs/jvm/RecordsRead.scala counts for tags that begin like this.
_TAG = "sluice-reading-"


@contextmanager
def telling_pace(spark: SparkSession, batch: str, offsets: int) -> Iterator[None]:
    """Log how many records the block has read so far, of at most so many, and how fast.

    Quiet where Spark runs without Sluice's own jar, which counts them.
    """
    tag, over = f"{_TAG}{uuid.uuid4().hex}", Event()
    spark.addTag(tag)
    Thread(target=_tell, args=(spark, batch, offsets, tag, over), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        spark.removeTag(tag)


def _tell(spark: SparkSession, batch: str, offsets: int, tag: str, over: Event) -> None:
    last, before = time.monotonic(), 0
    while not over.wait(_SECONDS):
        try:
            ((found,),) = spark.sql(f"VALUES (sluice_records_read('{tag}'))").collect()
        except Exception as problem:
            log.debug("%s: nobody counts what is read: %s", batch, problem)
            return
        if over.is_set():
            return
        # A replacement reads rows of the table as well.
        read, now = min(found, offsets), time.monotonic()
        pace = (read - before) / (now - last)
        log.info(f"%s: {read:,} of {offsets:,} records read, {pace:,.0f} per second", batch)
        last, before = now, read
