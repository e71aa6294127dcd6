"""The maintenance task of a pipeline: a spark-submit of `jobs/maintain.py`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from airflow.sdk import Param
from airflow.sdk.exceptions import AirflowSkipException
from sluice.spec import PipelineSpec
from sluice_params import require_known
from sluice_spark import DriverOperator
from sluice_tasks import actor_of, failing_for_good

if TYPE_CHECKING:
    from airflow.sdk import Context

PIPELINES = "pipelines"


def maintenance_params(pipelines: Iterable[str]) -> dict[str, Param]:
    """What the trigger form offers."""
    names = sorted(pipelines)
    return {
        PIPELINES: Param(
            names,
            type="array",
            items={"type": "string", "enum": names},
            examples=names,
            uniqueItems=True,
            minItems=1,
            maxItems=len(names),
            title="Pipelines",
            description="Whose tables are maintained. Scheduled runs take all of them.",
        )
    }


class MaintainOperator(DriverOperator):
    """Maintain one pipeline's tables with Spark; skipped when the run is about others."""

    def __init__(self, *, spec: PipelineSpec, **kwargs: Any) -> None:
        super().__init__(job="maintain.py", spec=spec, **kwargs)

    def execute(self, context: Context) -> None:
        """Submit the job."""
        with failing_for_good():
            require_known(context["params"], (PIPELINES,))
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
