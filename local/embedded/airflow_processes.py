"""The embedded Airflow: api-server, scheduler, dag-processor and triggerer on one loopback port.

    with Airflow(folder, broker.bootstrap, warehouse=folder / "warehouse") as airflow:
        run = airflow.client.trigger("flights")
        airflow.client.wait_for_run(run, timeout=300)

SQLite (if the settings name no other database) and LocalExecutor, as real as on a server. (`airflow
standalone` would leave children behind when it is stopped.) A second start on the same folder keeps
its runs and its login.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import psutil

from local.embedded.airflow_client import AirflowClient
from local.embedded.airflow_home import Login, prepare_home
from local.embedded.guard import Guarded

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 120
GRACE_SECONDS = 5
# A process that ends sooner is not restarted: it cannot run here.
SETTLED_SECONDS = 10

PROCESSES = {
    "api-server": ["api-server"],
    "scheduler": ["scheduler", "--skip-serve-logs"],
    "dag-processor": ["dag-processor"],
    "triggerer": ["triggerer", "--skip-serve-logs"],
}


class AirflowError(RuntimeError):
    """Airflow did not start. The message names the process and quotes the end of its log."""


class Airflow:
    def __init__(
        self,
        folder: Path | str,
        bootstrap: str,
        *,
        warehouse: Path | str,
        pipelines: Path | str = ROOT / "dags" / "pipelines",
        environment: Mapping[str, str | None] | None = None,
        settings: Mapping[str, Mapping[str, str]] | None = None,
        schedulers: int = 1,
        python: Path | str = sys.executable,
    ) -> None:
        """`environment` (None: not set) and `settings` (section → key → value) override our own.

        `python` is the interpreter of the environment whose Airflow this is.
        """
        self.folder = Path(folder).resolve()
        self._python = str(python)
        whole: dict[str, str | None] = {
            "SLUICE_WAREHOUSE": absolute(warehouse),
            "SLUICE_PIPELINES": absolute(pipelines),
            **connections(bootstrap),
            **(environment or {}),
        }
        self._environment = {key: text for key, text in whole.items() if text is not None}
        self._settings = settings or {}
        self._commands = PROCESSES | {
            f"scheduler-{number}": PROCESSES["scheduler"] for number in range(2, schedulers + 1)
        }
        self._guarded: dict[str, Guarded] = {}
        self._login: Login | None = None
        self._client: AirflowClient | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()

    @property
    def login(self) -> Login:
        if self._login is None:
            raise AirflowError(f"{self.folder}: Airflow was not started")
        return self._login

    @property
    def url(self) -> str:
        return self.login.url

    @property
    def client(self) -> AirflowClient:
        if self._client is None:
            self._client = AirflowClient(self.url, self.login.username, self.login.password)
        return self._client

    @property
    def pids(self) -> list[int]:
        """The guards of its processes, as long as they run."""
        return [guarded.process.pid for guarded in self._guarded.values() if guarded.running]

    @property
    def schedulers(self) -> list[Guarded]:
        return [guarded for name, guarded in self._guarded.items() if "scheduler" in name]

    def family(self) -> list[psutil.Process]:
        """All processes: its own, their workers, tasks, and Spark's JVMs."""
        return [member for guarded in self._guarded.values() for member in guarded.family()]

    def start(self) -> Self:
        """Start the processes, and wait until each kind reports that it is healthy."""
        self.folder.mkdir(parents=True, exist_ok=True)
        environment = self.environment()
        self._login = prepare_home(self.folder, ROOT, environment, self._settings, self._python)
        try:
            for name, arguments in self._commands.items():
                log = self._log(name)
                command = [self._python, "-P", "-m", "airflow", *arguments]
                # With SQLite, a backfill that cannot be created can crash the scheduler.
                self._guarded[name] = Guarded.start(
                    command,
                    log,
                    grace=GRACE_SECONDS,
                    settled=SETTLED_SECONDS,
                    env=environment,
                )
            self._wait()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the processes and all that they started; returns when none of it is left."""
        if self._client is not None:
            self._client.close()
            self._client = None
        for guarded in self._guarded.values():
            guarded.ask()
        for guarded in self._guarded.values():
            guarded.stop()
        self._guarded.clear()

    def environment(self) -> dict[str, str]:
        """The processes' environment: the caller's without Airflow's own, plus ours."""
        theirs = {key: value for key, value in os.environ.items() if not key.startswith("AIRFLOW")}
        binaries = Path(self._python).parent
        return {
            **theirs,
            "AIRFLOW_HOME": str(self.folder),
            "PATH": f"{binaries}{os.pathsep}{theirs.get('PATH', os.defpath)}",
            "PYSPARK_PYTHON": self._python,
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.folder / "spark"),
            "NO_PROXY": "127.0.0.1,localhost",
            "OMP_NUM_THREADS": "1",
            **self._environment,
        }

    def _log(self, name: str) -> Path:
        return self.folder / "processes" / f"{name}.log"

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        health: dict[str, str] = {}
        while time.monotonic() < deadline:
            for name, guarded in self._guarded.items():
                if not guarded.running:
                    raise AirflowError(f"the {name} stopped while starting; {self._tail(name)}")
            health = self.client.health()
            if health and set(health.values()) == {"healthy"}:
                return
            time.sleep(0.25)
        raise AirflowError(
            f"Airflow is not healthy after {START_SECONDS} s: {health or 'no answer'}; "
            f"the logs are in {self.folder / 'processes'}"
        )

    def _tail(self, name: str) -> str:
        log = self._log(name)
        return f"{log} ends: {log.read_text(encoding='utf-8', errors='replace')[-3000:]}"


def absolute(place: Path | str) -> str:
    """A path that is valid from any folder; a URI is left unchanged."""
    return str(place) if "://" in str(place) else str(Path(place).resolve())


def connections(bootstrap: str) -> dict[str, str]:
    """The two connections, as Airflow reads them from the environment.

    If a Spark connection has no port, its host is the master URL as it is.
    """
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    spark = {"conn_type": "spark", "host": "local[2]"}
    return {
        "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(kafka),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps(spark),
    }
