"""The embedded Spark server: Spark Connect in one JVM, which stays warm from run to run.

    with SparkServer(folder) as server:
        server.warm(broker.bootstrap)
        os.environ["AIRFLOW_CONN_SPARK_DEFAULT"] = server.connection

All its ports are on loopback only, and clients must know its token. If it dies it is started again.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import psutil
import pyspark
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from sluice.lake.session import server_conf

from local.embedded.airflow_home import write_private
from local.embedded.guard import Guarded, spark_jvms
from local.embedded.ports import answers, free_port
from local.embedded.topics import create_topic

CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
START_SECONDS = 120
# A server that ends sooner is not started again: it cannot run here.
SETTLED_SECONDS = 20
WARM_UP = "sluice-warm-up"
# From the third batch on nothing new is compiled; the JIT goes on for longer.
WARM_BATCHES = 3
SETTINGS = {
    "spark.master": "local[*]",
    "spark.driver.memory": "2g",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    # A pipeline that runs once a day finds its session again.
    "spark.connect.session.manager.defaultSessionTimeout": "25h",
    # Frozen for two minutes, a Spark in one JVM would take itself for dead, and never recover.
    "spark.storage.blockManagerHeartbeatTimeoutMs": "25h",
}
# Out of memory, some threads of a JVM are dead and others go on: better a new one.
JAVA_OPTIONS = "-XX:+ExitOnOutOfMemoryError"


class SparkServerError(RuntimeError):
    """The server did not start. The message names its log and quotes the end of it."""


class SparkServer:
    def __init__(
        self,
        folder: Path | str,
        *,
        settings: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`settings` (Spark's) and `environment` override our own."""
        self.folder = Path(folder).resolve()
        self.log = self.folder / "server.log"
        self.port = free_port()
        self.token = _token(self.folder)
        self._settings = {**embedded_settings(), **(settings or {})}
        self._environment = {**os.environ, **(environment or {})}
        self._guarded: Guarded | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()

    @property
    def connection(self) -> str:
        """The Airflow connection `spark_default`, in JSON form."""
        place = {"host": "127.0.0.1", "port": self.port, "password": self.token}
        return json.dumps({"conn_type": "spark_connect", **place})

    @property
    def running(self) -> bool:
        return self._guarded is not None and self._guarded.running

    @property
    def pids(self) -> list[int]:
        """The guard and what it guards; empty after the server has stopped."""
        if self._guarded is None or not self._guarded.running:
            return []
        return [self._guarded.process.pid, *(p.pid for p in self._guarded.family())]

    def jvm(self) -> psutil.Process:
        """Its JVM, which the guard starts again when it dies."""
        (found,) = spark_jvms(self.pids)
        return found

    def start(self) -> Self:
        """Start, and wait until it answers."""
        settings = {**self._settings, "spark.connect.grpc.binding.port": str(self.port)}
        # One that was killed has left its blocks.
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
        pairs = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
        # The class is Spark's own: there is no application to load.
        command = [submit, "--class", CLASS, *pairs, "spark-internal"]
        self._guarded = Guarded.start(
            command,
            self.log,
            settled=SETTLED_SECONDS,
            # The token is in no argument and in no setting that a client could read.
            env={
                **self._environment,
                "SPARK_CONNECT_AUTHENTICATE_TOKEN": self.token,
                "SPARK_LOCAL_DIRS": str(scratch),
            },
            cwd=self.folder,
        )
        try:
            self.wait()
        except BaseException:
            self.kill()
            raise
        return self

    def wait(self) -> None:
        """Wait until it listens, as after a restart."""
        deadline = time.monotonic() + START_SECONDS
        while not answers(self.port):
            if not self.running or time.monotonic() > deadline:
                said = self.log.read_text(encoding="utf-8", errors="replace")[-3000:]
                raise SparkServerError(f"the Spark server does not answer; {self.log} ends: {said}")
            time.sleep(0.1)

    def stop(self) -> None:
        """SIGTERM, then SIGKILL if that has no effect."""
        if self._guarded is not None:
            self._guarded.stop()

    def kill(self) -> None:
        """SIGKILL to it and its guard: it is not started again."""
        if self._guarded is not None:
            self._guarded.kill()

    def warm(self, bootstrap: str) -> None:
        """Land small batches from a topic of its own into a table of its own, and remove both."""
        folder = self.folder / "warm-up"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "warm_up.yaml").write_text(
            f"version: 1\npipeline: warm_up\ntable: warm_up\ntopics: [{WARM_UP}]\n"
            "format: {type: json, schema: 'id BIGINT, name STRING, at TIMESTAMP'}\n"
            "consumer_group: null\n",
            encoding="utf-8",
        )
        kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
        environment = {
            **os.environ,
            "SLUICE_WAREHOUSE": str(folder),
            "SLUICE_PIPELINES": str(folder),
            "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(kafka),
            "AIRFLOW_CONN_SPARK_DEFAULT": self.connection,
        }
        _remove_topic(bootstrap)
        create_topic(bootstrap, WARM_UP, 2, {})
        for _ in range(WARM_BATCHES):
            _produce(bootstrap, 200)
            done = subprocess.run(
                [Path(sys.executable).with_name("sluice"), "run", "warm_up"],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise SparkServerError(f"the Spark server landed no batch: {done.stderr[-3000:]}")
        _remove_topic(bootstrap)
        shutil.rmtree(folder)


def embedded_settings(*, on_s3: bool = False) -> dict[str, str]:
    """The product's settings for a server, and those of this one; `on_s3`: with S3's jars."""
    settings = server_conf(on_s3=on_s3)
    key = "spark.driver.extraJavaOptions"
    return {**settings, key: f"{settings[key]} {JAVA_OPTIONS}", **SETTINGS}


def _token(folder: Path) -> str:
    """The same for every start in this folder: clients that know it need no new one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "token"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text(encoding="utf-8")


def _produce(bootstrap: str, records: int) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 0})
    for number in range(records):
        value = {"id": number, "name": f"n{number}", "at": "2013-01-01T00:00:00Z"}
        producer.produce(WARM_UP, json.dumps(value), str(number), partition=number % 2)
    producer.flush(30)


def _remove_topic(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    if WARM_UP in admin.list_topics(timeout=10).topics:
        admin.delete_topics([WARM_UP], operation_timeout=15)[WARM_UP].result(timeout=20)
