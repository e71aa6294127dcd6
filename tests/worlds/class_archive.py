"""An archive of the classes that Spark loads: with it, the tests' JVMs start faster (JEP 350).

    python -m tests.worlds.class_archive

makes it, unless there is one for these jars. A JVM ignores an archive that is missing or does not
fit its class path.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from local.embedded.broker import Broker
from local.embedded.topics import create_topic
from tests.worlds.pipelines import Installed, no_spark
from tests.worlds.processes import CLASS_ARCHIVE, QUICK_START
from tests.worlds.records import numbered, produce

JARS_STAMP = CLASS_ARCHIVE.parent / "jars" / ".setup-stamp"


def is_current() -> bool:
    """Whether the archive is newer than the jars."""
    if not CLASS_ARCHIVE.exists():
        return False
    return CLASS_ARCHIVE.stat().st_mtime > JARS_STAMP.stat().st_mtime


def make(folder: Path) -> None:
    """Land a batch with a malformed record; the JVM that did it leaves the archive."""
    with Broker(folder / "broker") as broker:
        assert create_topic(broker.bootstrap, "trips", 1, {})
        produce(broker.bootstrap, "trips", [*numbered(4), b"{broken"])
        trips = Installed(folder, broker.bootstrap, ["trips"], no_spark)
        trips.write_spec(
            format={"type": "json", "schema": "id BIGINT"}, quarantine={"max_ratio": 0.5}
        )
        archive = folder / CLASS_ARCHIVE.name
        done = trips.process(
            "run", JDK_JAVA_OPTIONS=f"{QUICK_START} -XX:ArchiveClassesAtExit={archive}"
        )
        assert done.returncode == 0, done.stderr
        assert trips.judge().facts.rows == 4
    archive.rename(CLASS_ARCHIVE)


if __name__ == "__main__" and not is_current():
    print("An archive of Spark's classes for the tests: about a minute, once", flush=True)
    with TemporaryDirectory(dir=CLASS_ARCHIVE.parent) as made:
        make(Path(made))
