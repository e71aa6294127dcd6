"""The steps: `plan`, `ingest`, `settle` and `refresh` of one pipeline, in the DAG that is open."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

from airflow.sdk import Asset, BaseOperator, TriggerRule

from sluice.airflow.python_task import python_task
from sluice.scheduling.assets import data_table
from sluice.scheduling.links import links_of
from sluice.scheduling.operators import IngestOperator, RefreshOperator
from sluice.scheduling.priority import FreshFirst
from sluice.scheduling.run_notes import PLAN, REFRESH
from sluice.scheduling.run_params import Asking
from sluice.scheduling.tasks import plan_with, settle_with
from sluice.scheduling.time_limits import SHORT, settle_limit
from sluice.settings import LONGEST_RUN
from sluice.spec_file.pipeline_spec import PipelineSpec

RETRIES = MappingProxyType(
    {
        "retries": 3,
        "retry_delay": timedelta(seconds=30),
        "retry_exponential_backoff": 2,
        "max_retry_delay": timedelta(minutes=15),
    }
)

# A DAG's `default_args` must not change these: `ingest` gets its work from `plan`, if that is done.
_HANDED_ON = MappingProxyType({"do_xcom_push": True, "trigger_rule": TriggerRule.ALL_SUCCESS})


def default_args(spec: PipelineSpec) -> dict[str, Any]:
    """What a pipeline's tasks are created with unless the DAG decides otherwise."""
    return {"owner": spec.owner, **RETRIES}


def add_steps(spec: PipelineSpec, specs: Path, asking: Asking) -> None:
    """Add the three tasks, in their order; behind `ingest` a fourth, if there is a state table.

    `specs` is the folder that the Spark job reads the spec from; `asking` says how a run asks for
    something other than new records.
    """
    links = links_of(spec.pipeline)
    plan = python_task(
        plan_with(spec, asking),
        task_id=PLAN,
        multiple_outputs=False,
        execution_timeout=SHORT,
        **_HANDED_ON,
    )
    ingest = IngestOperator(
        task_id="ingest",
        spec=spec,
        specs=specs,
        execution_timeout=LONGEST_RUN,
        # One at a time over all runs: max_active_runs does not count backfill runs (AIP-78).
        max_active_tis_per_dag=1,
        weight_rule=FreshFirst(),
        **_HANDED_ON,
    )
    last = [_settle(spec, data_table(spec), asking)]
    if spec.state is not None:
        last.append(_refresh(spec, specs, asking))
    for each in (plan, ingest, *last):
        each.operator_extra_links = links
    plan >> ingest >> last


def _refresh(spec: PipelineSpec, specs: Path, asking: Asking) -> BaseOperator:
    """Beside `settle`: what keeps the state table from following holds no receipt back."""
    return RefreshOperator(
        task_id=REFRESH,
        spec=spec,
        specs=specs,
        asking=asking,
        execution_timeout=LONGEST_RUN,
        max_active_tis_per_dag=1,
        # Even if ingest was skipped: an earlier run, or others' DELETE, may have left it behind.
        trigger_rule=TriggerRule.NONE_FAILED,
    )


def _settle(spec: PipelineSpec, table: Asset, asking: Asking) -> BaseOperator:
    """The last task. One at a time, it reads what was announced before, and announces the rest."""
    return python_task(
        settle_with(spec, table, asking),
        task_id="settle",
        execution_timeout=settle_limit(spec),
        max_active_tis_per_dag=1,
        # By reference: Airflow would keep the asset of a removed DAG for an inlet's sake.
        inlets=[Asset.ref(uri=table.uri)],
        outlets=[table],
        # Even if ingest was skipped: an earlier run may have died before its receipts.
        trigger_rule=TriggerRule.NONE_FAILED,
    )
