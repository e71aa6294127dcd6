"""The embedded broker: one real Kafka node (KRaft, combined broker and controller).

    with Broker(folder) as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap})

Its data, configuration and logs live in the folder; a broker started on the same folder keeps the
same topics and ports. `listeners` are further ones, by name, each with its port; `properties` are
those of its JVM; `joins` is the broker whose controller it obeys, if it has none of its own.
"""

from __future__ import annotations

import base64
import os
import subprocess
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from local.embedded.broker_jars import JARS
from local.embedded.guard import Guarded
from local.embedded.ports import answers, free_port

START_SECONDS = 60
# One node, quick to start and to clean up; transactions work as in a real cluster.
SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "share.coordinator.state.topic.num.partitions": "1",
    "group.initial.rebalance.delay.ms": "0",
    "log.initial.task.delay.ms": "1000",
    "log.retention.check.interval.ms": "1000",
    "log.segment.delete.delay.ms": "1000",
    "log.cleaner.backoff.ms": "1000",
    "log.cleaner.dedupe.buffer.size": "8388608",
    # A restarted broker may only return once its old session has ended (9 s by default).
    "broker.heartbeat.interval.ms": "500",
    "broker.session.timeout.ms": "3000",
    "num.io.threads": "4",
    "num.network.threads": "2",
    "num.recovery.threads.per.data.dir": "2",
}
LOGGING = """\
status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c{{1}} %m%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


class BrokerError(RuntimeError):
    """The broker did not start. The message names its log and quotes the end of it."""


class Broker:
    def __init__(
        self,
        folder: Path | str,
        *,
        settings: Mapping[str, str] | None = None,
        listeners: Mapping[str, int] | None = None,
        properties: Mapping[str, str] | None = None,
        joins: Broker | None = None,
        heap: str = "512m",
        jars: Path = JARS,
    ) -> None:
        self.folder = Path(folder).resolve()
        self.properties = self.folder / "server.properties"
        self.log = self.folder / "broker.log"
        self._settings = {**SETTINGS, **(settings or {})}
        self._listeners = listeners or {}
        self._java_properties = [f"-D{key}={value}" for key, value in (properties or {}).items()]
        self._heap = heap
        self._jars = jars
        self._guarded: Guarded | None = None
        self._joins = joins
        self._cluster_id: str = joins._cluster_id if joins else new_cluster_id()
        self.port, self._controller_port = stored_port(self.properties), 0

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self._guarded is not None and self._guarded.running

    @property
    def pids(self) -> list[int]:
        """The guard and the JVM; empty after the broker has stopped."""
        if self._guarded is None or not self._guarded.running:
            return []
        return [self._guarded.process.pid, *(p.pid for p in self._guarded.family())]

    def start(self) -> Self:
        """Start, and wait until it answers. A folder that is already formatted is kept."""
        if self.running:
            return self
        if not any(self._jars.glob("kafka_*.jar")):
            raise BrokerError(f"{self._jars}: no Kafka jars there. Run `make setup`.")
        if not (self.folder / "data" / "meta.properties").exists():
            self._format()
        command = [*self._java(), "kafka.Kafka", str(self.properties)]
        self._guarded = Guarded.start(command, self.folder / "stdout.log")
        try:
            self._wait()
        except BaseException:
            self.kill()
            raise
        return self

    def stop(self) -> None:
        """SIGTERM, then SIGKILL if that has no effect; a stopped broker may be started again."""
        if self._guarded is not None:
            self._guarded.stop()

    def kill(self) -> None:
        """SIGKILL: it looks like a crash of the machine."""
        if self._guarded is not None:
            self._guarded.kill()

    def restart(self) -> Self:
        """Stop and start: same topics, same offsets, same address."""
        self.stop()
        return self.start()

    def _format(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        joined = self._joins
        self._controller_port = joined._controller_port if joined else free_port(self.port)
        quorum = f"127.0.0.1:{self._controller_port}"
        ports = {"PLAINTEXT": self.port, **self._listeners}
        own = "" if self._joins else f",CONTROLLER://{quorum}"
        endpoints = ",".join(f"{name}://127.0.0.1:{port}" for name, port in ports.items()) + own
        settings = {
            **self._settings,
            **({"process.roles": "broker"} if self._joins else {}),
            "listeners": endpoints,
            "advertised.listeners": endpoints,
            "controller.quorum.bootstrap.servers": quorum,
            "log.dirs": str(self.folder / "data"),
        }
        lines = (f"{key}={value}\n" for key, value in settings.items())
        self.properties.write_text("".join(lines), encoding="utf-8")
        logging = LOGGING.format(log=self.log)
        (self.folder / "log4j2.properties").write_text(logging, encoding="utf-8")
        tool = ["kafka.tools.StorageTool", "format", *([] if self._joins else ["--standalone"])]
        cluster = [f"--cluster-id={self._cluster_id}", "--config", str(self.properties)]
        done = subprocess.run(
            [*self._java(), *tool, *cluster], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise BrokerError(f"{self.folder}: formatting failed: {done.stdout}{done.stderr}")

    def _java(self) -> list[str]:
        java = (
            str(Path(os.environ["JAVA_HOME"], "bin/java")) if "JAVA_HOME" in os.environ else "java"
        )
        # C1 alone starts faster, and C2 would compete for the same cores.
        tuning = [
            f"-Xmx{self._heap}",
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-Xshare:auto",
        ]
        logging = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"
        return [java, *tuning, *self._java_properties, logging, "-cp", str(self._jars / "*")]

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if not self.running:
                raise BrokerError(f"the broker stopped while starting; {self._tail()}")
            if answers(self.port) and self._serves():
                return
            time.sleep(0.05)
        raise BrokerError(f"the broker does not answer after {START_SECONDS} s; {self._tail()}")

    def _serves(self) -> bool:
        admin = AdminClient({"bootstrap.servers": self.bootstrap, "log_level": 0})
        try:
            return bool(admin.list_topics(timeout=2).brokers)
        except KafkaException:
            return False

    def _tail(self) -> str:
        for log in (self.log, self.folder / "stdout.log"):
            if log.exists() and (text := log.read_text(encoding="utf-8", errors="replace").strip()):
                return f"{log} ends: {text[-2000:]}"
        return f"{self.log} is empty"


def new_cluster_id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")


def stored_port(properties: Path) -> int:
    """The port of a folder that is already formatted: clients know it. 0 where it is not."""
    if not properties.exists():
        return 0
    for line in properties.read_text(encoding="utf-8").splitlines():
        if line.startswith("listeners=PLAINTEXT://"):
            return int(line.split(",")[0].rsplit(":", 1)[1])
    return 0
