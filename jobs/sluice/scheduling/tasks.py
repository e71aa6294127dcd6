"""The tasks around Spark: `plan` before it, `settle` after it, and what their errors mean."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from airflow.sdk import Asset
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowSkipException,
)

from sluice.errors import SettingsError, SluiceError
from sluice.offsets.batches import BatchReference
from sluice.operations.outlook_text import lines_of
from sluice.operations.run_summary import failure_summary
from sluice.scheduling.announced import Remembered
from sluice.scheduling.deployment import pipeline_of
from sluice.scheduling.metrics import count_settled, timed
from sluice.scheduling.run_notes import PLAN, plan_beside, tell
from sluice.scheduling.run_params import Asking
from sluice.spec_file.pipeline_spec import PipelineSpec

log = logging.getLogger(__name__)


@contextmanager
def failing_for_good(ti: Any = None) -> Iterator[None]:
    """The one place where Sluice's errors become Airflow's: fail for good, or allow a retry.

    The note of the run of `ti` has the error's first line, also that of an error of others.
    """
    try:
        yield
    except AirflowException:
        # How a task ends: skipped, put off, or failed with a text of its own.
        raise
    except SluiceError as error:
        tell(ti, failure_summary(error))
        if error.retryable:
            raise
        # One traceback: the error's own text says what to do; what caused it, if known, is shown.
        raise AirflowFailException(f"{type(error).__name__}: {error}") from error.__cause__
    except Exception as error:
        tell(ti, failure_summary(error))
        raise


def planned_work(ti: Any) -> BatchReference | None:
    """The work that the `plan` task beside this one has found; None if it was marked as success.

    Raises SettingsError if it is not work, for example that of another version of Sluice.
    """
    plan = plan_beside(ti.task_id)
    found = ti.xcom_pull(task_ids=plan)
    try:
        return None if found is None else BatchReference.from_dict(found)
    except ValueError as problem:
        raise SettingsError(f"`{plan}` left no work: {problem}. Clear `{plan}`.") from None


def actor_of(dag_run: Any) -> str:
    """Who started the run: the user's name, otherwise the run's type."""
    return f"airflow:{dag_run.triggering_user_name or dag_run.run_type.value}"


def plan_with(spec: PipelineSpec, asking: Asking) -> Callable[..., dict[str, Any]]:
    """The body of `plan`."""

    def plan(dag_run: Any = None, params: Any = None, ti: Any = None) -> dict[str, Any]:
        """Record the offset ranges to read, or adopt an unfinished plan."""
        from sluice.operations.run_summary import summarize_plan

        with failing_for_good(ti):
            pipeline, asked = pipeline_of(spec), asking(dag_run, params)
            if asked.dry_run:
                for line in lines_of(pipeline.dry_run(asked.selection)):
                    log.info("%s", line)
                raise AirflowSkipException(f"{spec.pipeline}: a dry run; nothing was written")
            origin = (dag_run.run_id, actor_of(dag_run))
            if asked.selection:
                work = pipeline.backfill(asked.selection, *origin, asked.bring_back_erased).work
            else:
                work = pipeline.plan(*origin)
            tell(ti, summarize_plan(pipeline.resources, work))
        return work.as_dict()

    return timed(spec.pipeline, PLAN)(plan)


def settle_with(spec: PipelineSpec, table: Asset, asking: Asking) -> Callable[..., None]:
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

        remembered = Remembered.of(table, inlet_events, asset_state_store)
        with failing_for_good(ti):
            if asking(dag_run, params).dry_run:
                raise AirflowSkipException(f"{spec.pipeline}: a dry run; nothing was written")
            pipeline, work = pipeline_of(spec), planned_work(ti)
            before = read_announced(pipeline.resources, remembered.told(), work)
            # Before anything is settled: from here on, the next run announces the rest.
            remembered.keep(before)
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
