"""Our own classes in Spark's JVM, and the settings that name them: they are read when it starts."""

from __future__ import annotations

from pathlib import Path

from sluice.errors import SettingsError
from sluice.lake.requirements import DELTA, EXTENSIONS_KEY

# `make setup` compiles the classes in jobs/jvm into it.
JAR = "sluice.jar"
LOG_STORE_KEY, LOG_STORE = "spark.delta.logStore.file.impl", "sluice.LinkLogStore"
_EXTENSIONS = ("sluice.RecordsRead", "sluice.StarvedJobs", "sluice.Decoding")


def class_path(jars: Path, on_s3: bool) -> str:
    """What a JVM needs besides Spark's own jars. Raises SettingsError if S3's are missing."""
    if on_s3 and not (jars / "s3").is_dir():
        raise SettingsError(
            f"{jars / 's3'}: expected the jars for a warehouse on S3, found no such folder. Run"
            " `make s3` once."
        )
    folders = ("s3", "spark") if on_s3 else ("spark",)
    return ":".join(f"{jars / each}/*" for each in folders)


def own_classes_conf(jars: Path) -> dict[str, str]:
    """The settings, if our jar is among these."""
    if not (jars / JAR).is_file():
        return {}
    return {
        LOG_STORE_KEY: LOG_STORE,
        EXTENSIONS_KEY: ",".join((DELTA, *_EXTENSIONS)),
        # Tasks tell with it how much they have read; Spark's default is 10 s.
        "spark.executor.heartbeatInterval": "2s",
    }
