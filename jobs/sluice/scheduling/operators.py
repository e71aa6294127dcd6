"""Operators: the tasks that need Spark: a script of `driver`, or a server."""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowRescheduleException, AirflowSkipException

from sluice.broker.client_settings import ClientSettings
from sluice.driver import SCRIPTS
from sluice.lake.spark_place import CONNECTION, SparkServer
from sluice.offsets.batches import BatchReference
from sluice.operations.run_summary import ingest_summary, summarize_refresh
from sluice.processes import watching_parent
from sluice.scheduling.announced import NEWEST_EVENTS
from sluice.scheduling.assets import state_events, state_table
from sluice.scheduling.deployment import (
    connection,
    kafka_extra,
    pipeline_of,
    reached_settings,
    spark_place,
)
from sluice.scheduling.hooks import DriverHook, driver_environment, mask_connection
from sluice.scheduling.lineage import Landed, lineage_of, read_for_lineage
from sluice.scheduling.metrics import timed
from sluice.scheduling.run_notes import REFRESH, tell
from sluice.scheduling.run_params import PIPELINES, Asking, require_known_params
from sluice.scheduling.tasks import actor_of, failing_for_good, planned_work
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

if TYPE_CHECKING:
    from airflow.providers.openlineage.extractors import OperatorLineage
    from airflow.sdk import Connection, Context

    from sluice.operations.maintain import MaintenanceResult
    from sluice.pipeline import Pipeline

# How long a backfill steps back, so that an ingest of fresh data gets its turn.
TURN = timedelta(seconds=15)


# The provider's own way to find a lost driver again; it has none before version 6.2.
_ACCEPTED = inspect.signature(SparkSubmitOperator.__init__).parameters
NOT_DURABLE: dict[str, Any] = {"durable": False} if "durable" in _ACCEPTED else {}


class DriverOperator(SparkSubmitOperator):
    """Runs one of our jobs for one pipeline, where the connection says that Spark runs."""

    # No template is rendered: the command line is made at run time, so no secret can leak.
    template_fields = ()

    def __init__(self, *, job: str, spec: PipelineSpec, specs: Path, **kwargs: Any) -> None:
        super().__init__(
            application=str(SCRIPTS / job), conn_id=CONNECTION, **NOT_DURABLE, **kwargs
        )
        self.spec = spec
        # The folder that the job reads it from.
        self.specs = specs

    def on_kill(self) -> None:
        """End Spark; a signal handler must not create a hook."""
        if self._hook is not None:
            self._hook.on_kill()

    def run_job(
        self,
        context: Context,
        name: str,
        arguments: list[str],
        job: Callable[[Pipeline], object],
        offsets: int | None = None,
    ) -> None:
        """Submit the job with these arguments; or, if Spark is a server, do it in this task.

        `offsets` are those that it reads, if that is known.
        """
        from sluice.lake.session import spark_conf

        place = spark_place()
        if isinstance(place, SparkServer):
            self.log.info("%s: on the Spark server %s", name, place.address)
            for each in self._connections():
                mask_connection(each)
            with watching_parent(partial(os.kill, os.getpid(), signal.SIGTERM)):
                job(pipeline_of(self.spec, place))
            return
        self.name = f"sluice {name}"
        self.application_args = arguments
        on_s3 = Warehouse(reached_settings().warehouse).on_s3
        kafka = ClientSettings.from_extra(self.spec.kafka, kafka_extra(self.spec.kafka))
        aws = kafka.signs_with_aws
        self.conf = {**spark_conf(self.spec, offsets, on_s3=on_s3, signs_with_aws=aws)}
        super().execute(context)

    def _connections(self) -> list[Connection]:
        """Kafka's, and those of the schema registries."""
        return [*map(connection, (self.spec.kafka, *self.spec.formats.registries))]

    def _get_hook(self) -> SparkSubmitHook:
        return DriverHook(
            environment=driver_environment(self._connections(), self.specs),
            conf=self.conf,
            conn_id=self._conn_id,
            name=self.name,
            application_args=self.application_args,
        )


class IngestOperator(DriverOperator):
    """Read the planned batches with Spark; skipped when there are none."""

    _landed: Landed | None = None

    def __init__(self, *, spec: PipelineSpec, specs: Path, **kwargs: Any) -> None:
        super().__init__(job="ingest.py", spec=spec, specs=specs, **kwargs)

    def execute(self, context: Context) -> None:
        """Submit the planned batches that are not committed yet."""
        with failing_for_good(context["ti"]):
            work = planned_work(context["ti"])
            if work is None:
                raise AirflowSkipException(
                    f"{self.spec.pipeline}: `plan` was marked as success and left no work. The next"
                    " run reads what is new; to read it now, clear `plan`."
                )
            if not work:
                raise AirflowSkipException(f"{self.spec.pipeline}: nothing new to read")
            pipeline = pipeline_of(self.spec)
            left = pipeline.outstanding(work)
            if not left:
                self._tell(context, work.first(0), left)
                self._landed = read_for_lineage(pipeline, work)
                return
            # A long backfill takes its turns: no try may last longer than a run of fresh data.
            now = left.first(self.spec.max_batches_per_run)
            with timed(self.spec.pipeline, "ingest"):
                self.run_job(
                    context,
                    str(now),
                    job_options(now),
                    lambda opened: opened.land(now),
                    pipeline.span(now),
                )
            rest = pipeline.outstanding(left)
            self._tell(context, now.first(len(left.batches) - len(rest.batches)), rest)
            if rest:
                raise AirflowRescheduleException(datetime.now(UTC) + TURN)  # type: ignore[no-untyped-call]
            self._landed = read_for_lineage(pipeline, work)

    def get_openlineage_facets_on_complete(
        self, task_instance: object
    ) -> OperatorLineage[Any, Any]:
        """What the provider of OpenLineage reports about this task."""
        return lineage_of(self._landed)

    def _tell(self, context: Context, landed: BatchReference, left: BatchReference) -> None:
        summary = ingest_summary(landed, left)
        tell(context["ti"], summary)
        self.log.info("%s: %s", self.spec.pipeline, summary["said"])


def job_options(work: BatchReference) -> list[str]:
    """The job's command line: the reference from XCom as options."""
    return [word for name, value in work.as_dict().items() for word in (f"--{name}", str(value))]


class RefreshOperator(DriverOperator):
    """Bring the state table up to date; Spark is needed if `ingest` has left something.

    It succeeds also where nothing was left, so that what waits for the run goes on. The asset event
    of the state table is written only if rows of it have changed since the last one.
    """

    def __init__(self, *, spec: PipelineSpec, specs: Path, asking: Asking, **kwargs: Any) -> None:
        self.events = state_events(spec)
        super().__init__(
            job="refresh.py",
            spec=spec,
            specs=specs,
            inlets=[self.events],
            outlets=[self.events],
            **kwargs,
        )
        self.asking = asking

    def execute(self, context: Context) -> None:
        """Follow what changed no row here, and submit a job for the rest."""
        from sluice.protocol.refresh.refresh import left_to_spark
        from sluice.protocol.refresh.state_news import state_news

        ti, name = context["ti"], self.spec.pipeline
        with failing_for_good(ti):
            if self.asking(context["dag_run"], context["params"]).dry_run:
                raise AirflowSkipException(f"{name}: a dry run; nothing was written")
            resources = pipeline_of(self.spec).resources
            if left_to_spark(resources) is not None:
                with timed(name, REFRESH):
                    self.run_job(
                        context,
                        f"state of {name}",
                        [f"--pipeline={name}"],
                        lambda opened: opened.refresh(),
                    )
            news = state_news(resources, self._told(context))
            summary = summarize_refresh(resources, news)
            tell(ti, summary)
            self.log.info("%s: %s", name, summary["said"])
        if news is not None:
            # Airflow stores the event together with the task's success, so never without it.
            told = {"pipeline": name, "table": self.spec.table, **news.as_dict()}
            context["outlet_events"][self.events].add(state_table(self.spec), extra=told)

    def _told(self, context: Context) -> Mapping[str, Any]:
        """What the newest event says of the state table; those of other writers say nothing."""
        events = context["inlet_events"][self.events]
        newest = events.ascending(False).limit(NEWEST_EVENTS)
        ours = (each.extra for each in newest if each.extra and each.extra.get("pipeline"))
        return next(ours, None) or {}


class MaintainOperator(DriverOperator):
    """Maintain one pipeline's tables with Spark; skipped if the run does not name it."""

    def __init__(self, *, spec: PipelineSpec, specs: Path, **kwargs: Any) -> None:
        super().__init__(job="maintain.py", spec=spec, specs=specs, **kwargs)

    def execute(self, context: Context) -> None:
        """Submit the job."""
        with failing_for_good():
            require_known_params(context["params"], (PIPELINES,))
        if self.spec.pipeline not in context["params"][PIPELINES]:
            raise AirflowSkipException(f"{self.spec.pipeline}: not among the run's pipelines")
        run = context["dag_run"]
        origin = {"run_id": run.run_id, "actor": actor_of(run)}
        with failing_for_good():
            self.run_job(
                context,
                f"maintenance of {self.spec.pipeline}",
                [
                    f"--pipeline={self.spec.pipeline}",
                    f"--run-id={origin['run_id']}",
                    f"--actor={origin['actor']}",
                ],
                lambda pipeline: self._tell(pipeline.maintain(**origin)),
            )

    def _tell(self, done: MaintenanceResult) -> None:
        for line in done.summary:
            self.log.info("%s: %s", self.spec.pipeline, line)
