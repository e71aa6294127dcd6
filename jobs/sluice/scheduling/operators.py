"""Operators: the two tasks of a pipeline that are a spark-submit of a file in `jobs/`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowRescheduleException, AirflowSkipException

from sluice.offsets.batches import BatchReference
from sluice.scheduling.deployment import PROJECT, connection, pipeline_of
from sluice.scheduling.hooks import DriverHook, driver_environment
from sluice.scheduling.run_params import PIPELINES, require_known_params
from sluice.scheduling.tasks import actor_of, failing_for_good, planned_work
from sluice.spec.pipeline_spec import PipelineSpec

if TYPE_CHECKING:
    from airflow.sdk import Context

JOBS = PROJECT / "jobs"
# How long a backfill steps back, so that an ingest of fresh data gets its turn.
TURN = timedelta(seconds=15)


class DriverOperator(SparkSubmitOperator):
    """Runs one of our jobs for one pipeline; the subclass makes its command line."""

    # No template is rendered: the command line is made at run time, so no secret can leak.
    template_fields = ()

    def __init__(self, *, job: str, spec: PipelineSpec, **kwargs: Any) -> None:
        super().__init__(
            application=str(JOBS / job), conn_id="spark_default", durable=False, **kwargs
        )
        self.spec = spec

    def on_kill(self) -> None:
        """End Spark; a signal handler must not create a hook."""
        if self._hook is not None:
            self._hook.on_kill()

    def tell_spark(self, name: str, arguments: list[str]) -> None:
        """Set the application's name and command line before it is submitted."""
        from sluice.lake.session import spark_conf

        self.name = f"sluice {name}"
        self.application_args = arguments
        self.conf = {**spark_conf(self.spec)}

    def _get_hook(self) -> SparkSubmitHook:
        # For a missing connection the provider uses `--master yarn`; this raises an error instead.
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
        """Submit the planned batches that are not committed yet."""
        with failing_for_good():
            work = planned_work(context["ti"])
            if work is None:
                raise AirflowSkipException(
                    f"{self.spec.pipeline}: `plan` was marked as success and left no work. The next"
                    " run reads what is new; to read it now, clear `plan`."
                )
            if not work:
                raise AirflowSkipException(f"{self.spec.pipeline}: nothing new to read")
            left = pipeline_of(self.spec).outstanding(work)
            if not left:
                self.log.info("%s: nothing is left to commit; Spark is not needed", work)
                return
            # A long backfill takes its turns: no try may last longer than a run of fresh data.
            now = left.first(self.spec.max_batches_per_run)
            self.tell_spark(str(now), arguments(now))
            super().execute(context)
            if rest := pipeline_of(self.spec).outstanding(left):
                self.log.info("Fresh data goes first; %s comes after it", rest)
                raise AirflowRescheduleException(datetime.now(UTC) + TURN)  # type: ignore[no-untyped-call]


def arguments(work: BatchReference) -> list[str]:
    """The job's command line: the reference from XCom as options."""
    return [word for name, value in work.as_dict().items() for word in (f"--{name}", str(value))]


class MaintainOperator(DriverOperator):
    """Maintain one pipeline's tables with Spark; skipped if the run does not name it."""

    def __init__(self, *, spec: PipelineSpec, **kwargs: Any) -> None:
        super().__init__(job="maintain.py", spec=spec, **kwargs)

    def execute(self, context: Context) -> None:
        """Submit the job."""
        with failing_for_good():
            require_known_params(context["params"], (PIPELINES,))
        if self.spec.pipeline not in context["params"][PIPELINES]:
            raise AirflowSkipException(f"{self.spec.pipeline}: not among the run's pipelines")
        run = context["dag_run"]
        with failing_for_good():
            self.tell_spark(
                f"maintenance of {self.spec.pipeline}",
                [
                    f"--pipeline={self.spec.pipeline}",
                    f"--run-id={run.run_id}",
                    f"--actor={actor_of(run)}",
                ],
            )
            super().execute(context)
