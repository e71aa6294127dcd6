"""The class archive: the classes that Spark loads, parsed once, so that its JVM starts faster.

    python -m local.class_archive

makes `classes.jsa`, beside the jars of `sluice jars`, from a run of its own (JEP 350). A JVM
ignores an archive that does not fit its class path or its version.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from confluent_kafka import Producer
from sluice.lake.jars.jar_folder import JarFolder

from local.embedded.airflow_processes import connections
from local.embedded.broker import Broker
from local.embedded.topics import create_topic

TOPIC = "trips"
# A malformed one among them: then the quarantine's classes are in the archive, too.
VALUES = [*(json.dumps({"id": number, "at": "2013-01-01"}).encode() for number in range(9)), b"{"]
SPEC = """\
version: 1
pipeline: trips
table: trips
topics: [trips]
format: {type: json, schema: "id BIGINT, at DATE"}
quarantine: {max_ratio: 0.5}
consumer_group: null
"""


def make(folder: Path, place: Path) -> None:
    """Land a batch; the JVM that did it leaves the archive, which then goes to its place."""
    (folder / "trips.yaml").write_text(SPEC, encoding="utf-8")
    archive = folder / place.name
    with Broker(folder / "broker") as broker:
        create_topic(broker.bootstrap, TOPIC, 1, {})
        producer = Producer({"bootstrap.servers": broker.bootstrap, "log_level": 0})
        for value in VALUES:
            producer.produce(TOPIC, value)
        producer.flush(30)
        environment = {
            **os.environ,
            **connections(broker.bootstrap),
            "SLUICE_WAREHOUSE": str(folder),
            "SLUICE_PIPELINES": str(folder),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "JDK_JAVA_OPTIONS": f"-XX:ArchiveClassesAtExit={archive}",
        }
        command = [str(Path(sys.executable).with_name("sluice")), "run", "trips"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode or not archive.exists():
        sys.exit(f"the archive of Spark's classes was not made: {done.stdout}{done.stderr}")
    archive.replace(place)


if __name__ == "__main__":
    # The old one would be in use while the new one is made.
    wanted = JarFolder.in_environment(os.environ).class_archive
    wanted.unlink(missing_ok=True)
    with TemporaryDirectory(dir=wanted.parent) as made:
        make(Path(made), wanted)
