"""The tasks around Spark: `plan` before it, `settle` after it, and what their errors mean."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airflow.sdk import Asset
from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException

from sluice.errors import SettingsError, SluiceError
from sluice.offsets.batches import BatchReference
from sluice.operations.outlook_text import lines_of
from sluice.operations.run_summary import failure_summary
from sluice.scheduling.deployment import pipeline_of, project_settings
from sluice.scheduling.metrics import count_settled, timed
from sluice.scheduling.run_notes import tell
from sluice.scheduling.run_params import BRING_BACK_ERASED, DRY_RUN, selection_of
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.warehouse import Warehouse

log = logging.getLogger(__name__)

PLAN = "plan"
# In an asset event's `extra`, and in the asset's state store.
ANNOUNCED = "announced"
# One would do; others may write events for the same asset.
NEWEST_EVENTS = 20


@contextmanager
def failing_for_good(ti: Any = None) -> Iterator[None]:
    """The one place where Sluice's errors become Airflow's: fail for good, or allow a retry.

    The note of the run of `ti` has the error's first line.
    """
    try:
        yield
    except SluiceError as error:
        if ti is not None:
            tell(ti, failure_summary(error))
        if error.retryable:
            raise
        # One traceback: the error's own text says what to do; what caused it, if known, is shown.
        raise AirflowFailException(f"{type(error).__name__}: {error}") from error.__cause__


def planned_work(ti: Any) -> BatchReference | None:
    """The work that the `plan` task of this run has found; None if it was marked as success.

    Raises SettingsError if it is not work, for example that of another version of Sluice.
    """
    found = ti.xcom_pull(task_ids=PLAN)
    try:
        return None if found is None else BatchReference.from_dict(found)
    except ValueError as problem:
        raise SettingsError(f"`{PLAN}` left no work: {problem}. Clear `{PLAN}`.") from None


def actor_of(dag_run: Any) -> str:
    """Who started the run: the user's name, otherwise the run's type."""
    return f"airflow:{dag_run.triggering_user_name or dag_run.run_type.value}"


def data_table(spec: PipelineSpec) -> Asset:
    """The pipeline's data table, as an asset that other DAGs can wait for."""
    tables = Warehouse(project_settings().warehouse)
    uri = tables.data(spec.table)
    return Asset(uri if tables.on_s3 else Path(uri).as_uri())


def plan_with(spec: PipelineSpec) -> Callable[..., dict[str, Any]]:
    """The body of `plan`."""

    def plan(dag_run: Any = None, params: Any = None, ti: Any = None) -> dict[str, Any]:
        """Record the offset ranges to read, or adopt an unfinished plan."""
        from sluice.operations.run_summary import summarize_plan

        with failing_for_good(ti):
            pipeline, selection = pipeline_of(spec), selection_of(dag_run, params)
            if params[DRY_RUN]:
                for line in lines_of(pipeline.dry_run(selection)):
                    log.info("%s", line)
                raise AirflowSkipException(f"{spec.pipeline}: a dry run; nothing was written")
            origin = (dag_run.run_id, actor_of(dag_run))
            if selection:
                work = pipeline.backfill(selection, *origin, params[BRING_BACK_ERASED]).work
            else:
                work = pipeline.plan(*origin)
            tell(ti, summarize_plan(pipeline.resources, work))
        return work.as_dict()

    return timed(spec.pipeline, PLAN)(plan)


def settle_with(spec: PipelineSpec, table: Asset) -> Callable[..., None]:
    """The body of `settle`; skipped, and so without an asset event, when there is no news."""

    def settle(
        dag_run: Any = None,
        params: Any = None,
        inlet_events: Any = None,
        outlet_events: Any = None,
        asset_state_store: Any = None,
        ti: Any = None,
    ) -> None:
        """Write receipts for what the table's log shows as committed; emit the asset event."""
        from sluice.operations.run_summary import summarize_settlement
        from sluice.protocol.settle.announce import announce, read_announced

        if params[DRY_RUN]:
            raise AirflowSkipException(f"{spec.pipeline}: a dry run; nothing was written")
        remembered = asset_state_store[table]
        with failing_for_good(ti):
            pipeline, work = pipeline_of(spec), planned_work(ti)
            told = [*_announced_by(inlet_events[table]), remembered.get(ANNOUNCED)]
            before = read_announced(pipeline.resources, told, work)
            # Before anything is settled: from here on, the next run announces the rest.
            remembered.set(ANNOUNCED, before.as_dict())
            settled = pipeline.settle(dag_run.run_id, actor_of(dag_run))
            count_settled(spec.pipeline, settled)
            summary = summarize_settlement(pipeline.resources, settled)
            tell(ti, summary)
            log.info("%s: %s", spec.pipeline, summary["said"])
            news = announce(pipeline.resources, before)
        if not news:
            raise AirflowSkipException(
                f"{spec.pipeline}: nothing to announce: every settled batch was announced before"
            )
        # Airflow stores the event together with the task's success, so never without it.
        outlet_events[table].extra = {"pipeline": spec.pipeline, **news.as_dict()}
        log.info("%s: announced %s", spec.pipeline, news)

    return timed(spec.pipeline, "settle")(settle)


def _announced_by(events: Any) -> Iterator[object]:
    """What the newest asset events say about how far they go; other writers' say nothing."""
    for event in events.ascending(False).limit(NEWEST_EVENTS):
        yield (event.extra or {}).get(ANNOUNCED)
