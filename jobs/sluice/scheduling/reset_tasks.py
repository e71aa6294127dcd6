"""Resets from the Airflow UI: the two tasks, `preview` and `execute`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk.exceptions import AirflowSkipException

from sluice.errors import SettingsError
from sluice.operations.run_summary import brief_summary
from sluice.scheduling.deployment import pipeline_of
from sluice.scheduling.reset_form import where_to
from sluice.scheduling.run_notes import PREVIEW, tell
from sluice.scheduling.run_params import BRING_BACK_ERASED
from sluice.scheduling.tasks import actor_of, failing_for_good
from sluice.spec_folder import read_specs

if TYPE_CHECKING:
    from sluice.pipeline import Pipeline

log = logging.getLogger(__name__)


def preview_in(specs: Path) -> Callable[..., dict[str, str]]:
    """The body of `preview`, for the pipelines whose specs are in this folder."""

    def preview(params: Any = None, dag_run: Any = None, ti: Any = None) -> dict[str, str]:
        """Show what the reset would do; return its id, which stands for the whole decision."""
        return _preview(specs, params, dag_run, ti)

    return preview


def execute_in(specs: Path) -> Callable[..., None]:
    """The body of `execute`, for the pipelines whose specs are in this folder."""

    def execute(params: Any = None, dag_run: Any = None, ti: Any = None) -> None:
        """Do what the preview has shown; skipped unless the run has `execute` set."""
        _execute(specs, params, dag_run, ti)

    return execute


def _preview(specs: Path, params: Any, dag_run: Any, ti: Any) -> dict[str, str]:
    with failing_for_good(ti):
        pipeline, where = _chosen_pipeline(specs, params), where_to(params)
        if isinstance(where, Mapping):
            found = pipeline.preview_skip(where, params["reason"] or "", actor_of(dag_run))
            shown, told = found.preview, found.summary
        else:
            would_do = pipeline.preview_reset(where)
            shown, told = would_do.reset.preview, would_do.summary
    for line in told.splitlines():
        log.info("%s", line)
    end = f"{params['pipeline']}: preview {shown}; nothing was changed"
    log.info("%s", end)
    tell(ti, brief_summary(told.splitlines(), end))
    return {"pipeline": params["pipeline"], "preview": shown}


def _execute(specs: Path, params: Any, dag_run: Any, ti: Any) -> None:
    if not params["execute"]:
        raise AirflowSkipException("only a preview; nothing was changed")
    reason, origin = (params["reason"] or "").strip(), (dag_run.run_id, actor_of(dag_run))
    with failing_for_good(ti):
        shown = params["as_previewed"] or _shown(ti)
        if not reason:
            raise SettingsError("reason: needed to execute, and recorded with the reset.")
        pipeline, where = _chosen_pipeline(specs, params), where_to(params)
        if isinstance(where, Mapping):
            pipeline.skip(where, reason, *origin, as_previewed=shown)
        else:
            pipeline.reset(where, reason, *origin, shown, params[BRING_BACK_ERASED])
    end = f"{params['pipeline']}: done, as preview {shown} has shown: {reason}"
    log.info("%s", end)
    tell(ti, brief_summary((), end))


def _shown(ti: Any) -> str:
    """The id that this run's `preview` has returned. Raises SettingsError without one."""
    match ti.xcom_pull(task_ids=PREVIEW):
        case {"preview": str(shown)}:
            return shown
    raise SettingsError(
        "`preview` was marked as success and has shown nothing: clear it, and `execute` with it."
    )


def _chosen_pipeline(folder: Path, params: Mapping[str, Any]) -> Pipeline:
    """The chosen pipeline. Raises SettingsError if its spec no longer exists."""
    specs = read_specs(folder).by_pipeline
    if params["pipeline"] not in specs:
        raise SettingsError(
            f"pipeline: expected one of {', '.join(sorted(specs))}, found {params['pipeline']!r}:"
            " its spec no longer exists, or is refused."
        )
    return pipeline_of(specs[params["pipeline"]])
