"""The Spark driver of a task: its environment and errors; it ends together with the task."""

from __future__ import annotations

import os
import re
import sys
import uuid
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.exceptions import AirflowException
from airflow.sdk.log import mask_secret, redact  # type: ignore[attr-defined]

from sluice.errors import SparkFailed
from sluice.lake.job_errors import REFUSED, WORD, LineLevels, ReportedError
from sluice.lake.spark_place import cluster_mode_refused, kubernetes_missing
from sluice.processes import die_with_parent, end_family, watching_parent
from sluice.scheduling.deployment import project_settings
from sluice.spec_file.spark_keys import looks_secret

if TYPE_CHECKING:
    from airflow.sdk import Connection


_LOGIN_IN_URL = re.compile(r"://([^/\s@]+)@")
# Lines of output of a job that dies without reporting an error.
_LAST_LINES = 40


class JobRefused(SparkFailed):
    """The job reported that another attempt would fail the same way."""

    retryable = False


class DriverHook(SparkSubmitHook):
    """spark-submit in client mode, with its own environment and a readable error at its end."""

    def __init__(self, *, environment: Mapping[str, str], **kwargs: Any) -> None:
        try:
            super().__init__(**kwargs)
        except NameError as missing:
            # The provider leaves this name out where the package is not installed.
            if missing.name != "kube_client":
                raise
            raise kubernetes_missing(str(kwargs["conn_id"])) from None
        word = uuid.uuid4().hex
        self._environment = {**environment, WORD: word}
        self._reported = ReportedError(word)
        self._last_lines = deque[str](maxlen=_LAST_LINES)
        self._ended = False
        self._refuse_cluster_mode()
        mask_secrets(self._conf)

    def _refuse_cluster_mode(self) -> None:
        modes = (self._connection["deploy_mode"], self._conf.get("spark.submit.deployMode"))
        if "cluster" in modes:
            # There the provider passes environment variables as --conf: secrets would be in argv.
            raise cluster_mode_refused(self._conn_id)

    def submit(self, application: str = "", **kwargs: Any) -> None:
        """Run the application. Raises SparkFailed, or JobRefused if a retry is of no use."""
        if self._ended:
            raise SparkFailed("The task was stopped before Spark was started.")
        try:
            super().submit(application, env=self._environment, preexec_fn=die_with_parent, **kwargs)
        except AirflowException:
            if self._submit_sp is None:
                raise
            # The provider's text repeats the command, which the log already shows.
            raise self._failure() from None
        finally:
            if self._submit_sp is not None:
                self._submit_sp.stdout.close()
        if self._ended:
            raise self._failure()

    def on_kill(self) -> None:
        """End the JVM and its Python driver; both are gone when this returns."""
        self._ended = True
        if self._submit_sp is not None:
            end_family(self._submit_sp)
            self.log.info("Ended spark-submit (pid %s) and all below it", self._submit_sp.pid)

    def _failure(self) -> SparkFailed:
        code = self._submit_sp.returncode if self._submit_sp is not None else None
        if self._ended:
            return SparkFailed("Spark was stopped because its task was. The next try continues.")
        last = "\n".join(["see the driver's last lines:", *self._last_lines])
        # A notifier sends this text as it is: only log lines are masked by Airflow itself.
        said = redact(str(self._reported or last))
        kind = JobRefused if code == REFUSED else SparkFailed
        return kind(f"The Spark job ended with {_ending(code)}: {said}")

    def _process_spark_submit_log(self, itr: Iterator[Any]) -> None:
        """Log each line of the driver at its own level; note the error that it reports.

        Instead of the provider's, which logs every line as INFO. In client mode it has no other
        use, except for Kubernetes, where it says that the exit code is the process's own.
        """
        if self._is_kubernetes:
            self._spark_exit_code = 0
        levels = LineLevels()
        with watching_parent(self.on_kill):
            for line in map(str.rstrip, itr):
                self._reported.read(line)
                self._last_lines.append(line)
                self.log.log(levels.of(line), "%s", line)


def driver_environment(connections: Sequence[Connection], specs: Path) -> dict[str, str]:
    """This process's environment without Airflow's own secrets, plus these connections.

    The driver reads the spec from the folder `specs`.
    """
    given = {f"AIRFLOW_CONN_{each.conn_id.upper()}": each.as_json() for each in connections}
    for each in connections:
        mask_connection(each)
    settings = project_settings()
    ours = {name: text for name, text in os.environ.items() if not _is_airflows(name)}
    return {
        **ours,
        **given,
        "SLUICE_WAREHOUSE": settings.warehouse,
        "SLUICE_PIPELINES": str(specs),
        # Not the folder of the script, which is inside the package.
        "PYTHONSAFEPATH": "1",
        # The task's own interpreter: spark-submit is beside it, and the driver runs in it.
        "PATH": _first(str(Path(sys.executable).parent), ours.get("PATH")),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def mask_connection(found: Connection) -> None:
    """Have Airflow hide what a connection of Kafka or of a schema registry may hold of secrets."""
    extra = found.extra_dejson
    mask_secrets({**extra, "password": found.password})
    # A schema registry's login, as `user:password`, or in its address.
    logins = [
        str(extra.get("basic.auth.user.info", "")),
        *_LOGIN_IN_URL.findall(str(extra.get("url"))),
    ]
    for login in logins:
        _, _, password = login.partition(":")
        if password:
            mask_secret(login)
            mask_secret(password)


def mask_secrets(configuration: Mapping[str, Any]) -> None:
    """Have Airflow hide values that its own list of names does not know, such as ssl.key.pem."""
    for key, value in configuration.items():
        if isinstance(value, str) and (looks_secret(key) or "\n" in value):
            mask_secret(value)


def _is_airflows(name: str) -> bool:
    return name.startswith(("AIRFLOW_", "_AIRFLOW_"))


def _first(folder: str, others: str | None) -> str:
    return os.pathsep.join([folder, *([others] if others else [])])


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {-code}"
    return f"exit code {code}"
