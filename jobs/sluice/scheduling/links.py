"""Links: from a task of a pipeline to the pages of Sluice in Airflow's own web server.

A link is stored by the task when it ends, as Airflow does with the links of all operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from airflow.sdk import BaseOperatorLink
from airflow.sdk.configuration import conf

from sluice.offsets.batches import BatchReference
from sluice.scheduling.page.links import Links
from sluice.scheduling.run_notes import plan_beside

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator


class PipelineLink(BaseOperatorLink):
    """To the pipeline's page; without a pipeline, to that of the DAG's name."""

    name = "Pipeline in Kafka offsets"

    def __init__(self, pipeline: str = "") -> None:
        self.pipeline = pipeline

    def get_link(self, operator: BaseOperator, *, ti_key: Any) -> str:
        """The address of the page of the pipeline."""
        return web_links().pipeline(self.pipeline or operator.dag_id)


class BatchLink(BaseOperatorLink):
    """To the page of the run's batch: of several, the last one."""

    name = "Batch"

    def get_link(self, operator: BaseOperator, *, ti_key: Any) -> str:
        """The address of the batch's page; empty where the run has none."""
        try:
            work = BatchReference.from_dict(
                ti_key.xcom_pull(task_ids=plan_beside(operator.task_id))
            )
        except ValueError:
            return ""
        last = work.batches[-1] if work else None
        return web_links().batch(work.pipeline, work.sequence.batch(last)) if last else ""


def links_of(pipeline: str) -> tuple[BaseOperatorLink, ...]:
    """The links of a pipeline's tasks."""
    return PipelineLink(pipeline), BatchLink()


def web_links() -> Links:
    """Below the path that Airflow is served at, if any."""
    return Links(urlsplit(conf.get("api", "base_url", fallback="")).path.rstrip("/"))
