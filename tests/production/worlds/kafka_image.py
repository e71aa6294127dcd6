"""What Kafka's image does when it starts: KAFKA_… variables become server.properties."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from local.embedded.broker_jars import JARS
from local.embedded.guard import Guarded

# Of the start script, not of the broker.
NOT_SETTINGS = ("KAFKA_HEAP_OPTS",)


def properties(environment: Mapping[str, str]) -> dict[str, str]:
    """KAFKA_NODE_ID is node.id; the image's rules for three and two underscores are not needed."""
    return {
        name.removeprefix("KAFKA_").lower().replace("_", "."): text
        for name, text in environment.items()
        if name.startswith("KAFKA_") and name not in NOT_SETTINGS
    }


def start(environment: Mapping[str, str], folder: Path) -> Guarded:
    """Format the log's folder where it is new, and start the broker."""
    folder.mkdir(exist_ok=True)
    settings = properties(environment)
    file = folder / "server.properties"
    file.write_text("".join(f"{key}={text}\n" for key, text in settings.items()), "utf-8")
    java = str(Path(os.environ["JAVA_HOME"], "bin/java")) if "JAVA_HOME" in os.environ else "java"
    jvm = [java, environment["KAFKA_HEAP_OPTS"], "-XX:TieredStopAtLevel=1", "-cp", f"{JARS}/*"]
    if not Path(settings["log.dirs"], "meta.properties").exists():
        tool = ["kafka.tools.StorageTool", "format", "-t", environment["CLUSTER_ID"], "-c"]
        subprocess.run([*jvm, *tool, str(file)], check=True, capture_output=True)
    return Guarded.start([*jvm, "kafka.Kafka", str(file)], folder / "kafka.log")


def serves(bootstrap: str) -> bool:
    """What the image's own tool asks: whether the broker answers."""
    try:
        asked = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        return bool(asked.list_topics(timeout=2).brokers)
    except KafkaException:
        return False
