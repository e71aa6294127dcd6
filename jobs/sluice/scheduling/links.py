"""Links: from a task of a pipeline to the pages of Sluice in Airflow's own web server.

A link is stored by the task when it ends, as Airflow does with the links of all operators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from airflow.sdk import BaseOperatorLink
from airflow.sdk.configuration import conf

from sluice.offsets.batches import BatchReference

if TYPE_CHECKING:
    from airflow.sdk import BaseOperator

PAGES = "/sluice/pipelines"


class PipelineLink(BaseOperatorLink):
    """To the pipeline's page."""

    name = "Pipeline in Kafka offsets"

    def get_link(self, operator: BaseOperator, *, ti_key: Any) -> str:
        """The address of the page of this DAG's pipeline."""
        return page_of(operator.dag_id)


class BatchLink(BaseOperatorLink):
    """To the page of the run's batch: of several, the last one."""

    name = "Batch"

    def get_link(self, operator: BaseOperator, *, ti_key: Any) -> str:
        """The address of the batch's page; empty where the run has none."""
        try:
            work = BatchReference.from_dict(ti_key.xcom_pull(task_ids="plan"))
        except ValueError:
            return ""
        return page_of(work.pipeline, work.sequence.batch(work.batches[-1])) if work else ""


LINKS = (PipelineLink(), BatchLink())


def page_of(pipeline: str, batch: str | None = None) -> str:
    """A path on the web server, below the path that it is served at, if any."""
    below = urlsplit(conf.get("api", "base_url", fallback="")).path.rstrip("/")
    words = [quote(pipeline), *(["batches", quote(batch)] if batch else [])]
    return f"{below}{PAGES}/{'/'.join(words)}"
