"""Tasks that are a spark-submit of a file in `jobs/`, with a driver that ends with its task."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowRescheduleException,
    AirflowSkipException,
)
from airflow.sdk.log import mask_secret
from sluice.errors import SettingsError, SparkFailed
from sluice.spec import PipelineSpec
from sluice.work import Work
from sluice_family import die_with_parent, end_family, watching_parent
from sluice_specs import PROJECT, project_settings
from sluice_tasks import connection, failing_for_good, pipeline_of, planned_work

if TYPE_CHECKING:
    from airflow.sdk import Connection, Context

JOBS = PROJECT / "jobs"
REFUSED = 3
# How long a backfill stands back, so that an ingest of fresh data gets the turn.
TURN = timedelta(seconds=15)
_ERROR = re.compile(r"SLUICE-ERROR (?P<kind>\w+): (?P<text>.*)")


class JobRefused(SparkFailed):
    """The job said that another attempt would fail the same way."""

    retryable = False


class DriverHook(SparkSubmitHook):
    """spark-submit in client mode, with an environment of its own and an end that can be read."""

    def __init__(self, *, environment: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._environment = dict(environment)
        self._reported: str | None = None
        self._ended = False
        self._refuse_cluster_mode()

    def _refuse_cluster_mode(self) -> None:
        modes = (self._connection["deploy_mode"], self._conf.get("spark.submit.deployMode"))
        if "cluster" in modes:
            # There the provider hands environment variables on as --conf: secrets would be in argv.
            raise SettingsError(
                f"{self._conn_id}: deploy-mode: found 'cluster', allowed: 'client' (or absent)."
                " The driver takes the Kafka secrets from the environment of its task."
            )

    def submit(self, application: str = "", **kwargs: Any) -> None:
        """Run the application. Raises SparkFailed, or JobRefused when a retry is of no use."""
        if self._ended:
            raise SparkFailed("The task was told to stop before Spark was started.")
        try:
            super().submit(application, env=self._environment, preexec_fn=die_with_parent, **kwargs)
        except AirflowException:
            if self._submit_sp is None:
                raise
            # The provider's text repeats the command, which the log shows already.
            raise self._failure() from None
        finally:
            if self._submit_sp is not None:
                self._submit_sp.stdout.close()
        if self._ended:
            raise self._failure()

    def on_kill(self) -> None:
        """End the JVM and its Python driver; nothing of them is left when this returns."""
        self._ended = True
        if self._submit_sp is not None:
            end_family(self._submit_sp)
            self.log.info("Ended spark-submit (pid %s) and all below it", self._submit_sp.pid)

    def _failure(self) -> SparkFailed:
        code = self._submit_sp.returncode if self._submit_sp is not None else None
        if self._ended:
            return SparkFailed("Spark was stopped because its task was. The next attempt goes on.")
        said = self._reported or f"see the driver's lines above{self._submit_log_tail}"
        kind = JobRefused if code == REFUSED else SparkFailed
        return kind(f"The Spark job ended with {_ending(code)}: {said}")

    def _process_spark_submit_log(self, itr: Iterator[Any]) -> None:
        with watching_parent(self.on_kill):
            super()._process_spark_submit_log(self._noting_errors(itr))

    def _noting_errors(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if found := _ERROR.search(line):
                self._reported = f"{found['kind']}: {found['text']}"
            yield line


class DriverOperator(SparkSubmitOperator):
    """Runs a job of ours for one pipeline; what is told to it is the subclass's to say."""

    # Nothing is rendered: what the job is told, it is told at run time, and nothing can leak.
    template_fields = ()

    def __init__(self, *, job: str, spec: PipelineSpec, **kwargs: Any) -> None:
        super().__init__(
            application=str(JOBS / job), conn_id="spark_default", durable=False, **kwargs
        )
        self.spec = spec

    def on_kill(self) -> None:
        """End Spark; a hook must not be made here, in the middle of a signal."""
        if self._hook is not None:
            self._hook.on_kill()

    def tell_spark(self, name: str, arguments: list[str]) -> None:
        """Name the application and its command line, before it is submitted."""
        from sluice.lake.session import spark_conf

        self.name = f"sluice {name}"
        self.application_args = arguments
        self.conf = {**spark_conf(self.spec)}

    def _get_hook(self) -> SparkSubmitHook:
        # The provider takes a missing connection for `--master yarn`; this names it instead.
        connection(self._conn_id)
        return DriverHook(
            environment=driver_environment(connection(self.spec.kafka)),
            conf=self.conf,
            conn_id=self._conn_id,
            name=self.name,
            application_args=self.application_args,
        )


class IngestOperator(DriverOperator):
    """Read the planned batches with Spark; skipped when there are none."""

    def __init__(self, *, spec: PipelineSpec, **kwargs: Any) -> None:
        super().__init__(job="ingest.py", spec=spec, **kwargs)

    def execute(self, context: Context) -> None:
        """Submit what is still to do of the planned batches."""
        with failing_for_good():
            work = planned_work(context["ti"])
            if not work:
                raise AirflowSkipException(f"{self.spec.pipeline}: nothing new to read")
            left = pipeline_of(self.spec).outstanding(work)
            if not left:
                self.log.info("%s: nothing is left to commit; Spark is not needed", work)
                return
            self.tell_spark(str(left), arguments(left))
            super().execute(context)
            if pipeline_of(self.spec).outstanding(left):
                self.log.info("Fresh data goes first; the rest of the backfill comes after it")
                raise AirflowRescheduleException(datetime.now(UTC) + TURN)


def arguments(work: Work) -> list[str]:
    """The job's command line: the reference that XCom carries, spelled out."""
    reference = work.as_dict()
    batches = ",".join(str(number) for number in reference["batches"])
    return [
        *("--pipeline", str(reference["pipeline"])),
        *("--lane", str(reference["lane"])),
        *("--generation", str(reference["generation"])),
        *("--batches", batches),
    ]


def driver_environment(kafka: Connection) -> dict[str, str]:
    """This process's environment without Airflow's own secrets, and with one connection."""
    for value in kafka.extra_dejson.values():
        # A librdkafka name such as ssl.key.pem does not look secret to Airflow's masker.
        if isinstance(value, str) and "\n" in value:
            mask_secret(value)
    settings = project_settings()
    ours = {name: text for name, text in os.environ.items() if not _is_airflows(name)}
    return {
        **ours,
        f"AIRFLOW_CONN_{kafka.conn_id.upper()}": kafka.as_json(),
        "SLUICE_WAREHOUSE": settings.warehouse,
        "SLUICE_PIPELINES": str(settings.pipelines),
        "PYTHONPATH": _first(str(PROJECT / "jobs"), ours.get("PYTHONPATH")),
        # The task's own interpreter: spark-submit is beside it, and the driver runs in it.
        "PATH": _first(str(Path(sys.executable).parent), ours.get("PATH")),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
    }


def _is_airflows(name: str) -> bool:
    return name.startswith(("AIRFLOW_", "_AIRFLOW_"))


def _first(folder: str, others: str | None) -> str:
    return os.pathsep.join([folder, *([others] if others else [])])


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {-code}"
    return f"exit code {code}"
