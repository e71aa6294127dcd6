"""The settings that name our own classes in Spark's JVM: they are read when it starts."""

from __future__ import annotations

from sluice.lake.requirements import DELTA, EXTENSIONS_KEY

LOG_STORE_KEY, LOG_STORE = "spark.delta.logStore.file.impl", "sluice.LinkLogStore"
_EXTENSIONS = ("sluice.RecordsRead", "sluice.StarvedJobs", "sluice.Decoding")


OWN_CLASSES_CONF = {
    LOG_STORE_KEY: LOG_STORE,
    EXTENSIONS_KEY: ",".join((DELTA, *_EXTENSIONS)),
    # Tasks tell with it how much they have read; Spark's default is 10 s.
    "spark.executor.heartbeatInterval": "2s",
}
