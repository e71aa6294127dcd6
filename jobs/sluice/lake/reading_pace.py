"""The pace of a reading: a sign of life every few seconds while Spark reads a batch."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from threading import Event, Thread

from pyspark.sql import SparkSession

from sluice.lake.port import BatchAttempt, Pace, ShowReading, Tell
from sluice.offsets.ranges import span_of

log = logging.getLogger(__name__)

# Between two lines of a log; between two counts on a terminal. The executors report every two
# seconds (own_classes.py).
_SECONDS, _SECONDS_SHOWN = 5.0, 1.0
# jobs/jvm/watch/RecordsRead.scala counts for tags that begin like this.
_TAG = "sluice-reading-"


@contextmanager
def telling_pace(
    spark: SparkSession, attempt: BatchAttempt, show: ShowReading | None = None, why: str = ""
) -> Iterator[None]:
    """Show how many records of the attempt the block has read so far, `why`, and how fast; without
    `show` it is logged. The rate is that of all the time, as the executors tell counts in jumps.

    Quiet where Spark runs without Sluice's own jar, which counts them.
    """
    tag, over = f"{_TAG}{uuid.uuid4().hex}", Event()
    nothing = Pace(f"{attempt}{why}", 0, span_of(attempt.ranges), 0.0, attempt.replaces)
    seconds = _SECONDS_SHOWN if show else _SECONDS
    with (show or _logged)(nothing.batch, nothing.offsets) as tell:
        spark.addTag(tag)
        watched = (spark, tag, nothing, over, seconds, tell)
        Thread(target=_watch, args=watched, daemon=True).start()
        try:
            yield
        finally:
            over.set()
            spark.removeTag(tag)


@contextmanager
def _logged(batch: str, offsets: int) -> Iterator[Tell]:
    yield lambda pace: log.info("%s", pace)


def _watch(
    spark: SparkSession, tag: str, pace: Pace, over: Event, seconds: float, tell: Tell
) -> None:
    began = time.monotonic()
    while not over.wait(seconds):
        try:
            ((found,),) = spark.sql(f"VALUES (sluice_records_read('{tag}'))").collect()
        except Exception as problem:
            log.debug("%s: the records read are not counted: %s", pace.batch, problem)
            return
        if over.is_set():
            return
        tell(replace(pace, read=found, seconds=time.monotonic() - began))
