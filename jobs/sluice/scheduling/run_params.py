"""Run parameters: the trigger forms of pipelines and maintenance, and how they are parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow.sdk import Param

from sluice.errors import SettingsError
from sluice.offsets import notation

if TYPE_CHECKING:
    from sluice.operations.backfill.selection import Selection

PIPELINES = "pipelines"


def maintenance_params(pipelines: Iterable[str]) -> dict[str, Param]:
    """The trigger form's fields."""
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
            description="Pipelines to maintain. Scheduled runs take all of them.",
        )
    }


BACKFILL = "backfill"
DRY_RUN = "dry_run"
BRING_BACK_ERASED = "bring_back_erased"
REPROCESS = ("reprocess_from", "reprocess_to", "reprocess_ranges", "reprocess_batches")
_READ_AGAIN = "Read again, below the cursor (manual runs only)"
# A form marks a field as required unless it may be null.
SWITCH: Mapping[str, Any] = {"type": ["null", "boolean"]}
MOMENT: Mapping[str, Any] = {
    "type": ["null", "string"],
    # The format selects the form's field; Airflow does not check it.
    "format": "date-time",
    "pattern": notation.MOMENT,
    "maxLength": 64,
}
# Bounded here, and read by the task, whose errors say what was found and show an example; the form
# would only quote a pattern.
LINES: Mapping[str, Any] = {
    "type": ["null", "array"],
    "maxItems": 1000,
    "items": {"type": "string", "maxLength": 512},
}


def run_params(topic: str) -> dict[str, Param]:
    """Typed and bounded; a run without any of them reads new records.

    `topic` is one of the pipeline's, for examples.
    """
    return {
        DRY_RUN: Param(
            False,
            **SWITCH,
            title="Dry run",
            description="Show what the run would read in the log of `plan`, and write nothing.",
        ),
        "reprocess_from": _again(
            MOMENT,
            "From (UTC)",
            "Read a time window again: the records whose time is at or after this moment.",
        ),
        "reprocess_to": _again(
            MOMENT, "To (UTC)", "The end of the window: records whose time is before this moment."
        ),
        "reprocess_ranges": _again(
            LINES,
            "Offset ranges",
            f"Or read offsets again, one range per line: `{topic}[0] [120, 180)`. The end is the"
            " first offset that is not read.",
        ),
        "reprocess_batches": _again(
            LINES,
            "Batches",
            "Or read whole batches again, one name per line: `forward-1-42`.",
        ),
        BRING_BACK_ERASED: bring_back_erased(_READ_AGAIN),
    }


def _again(schema: Mapping[str, Any], title: str, description: str) -> Param:
    return Param(None, **schema, section=_READ_AGAIN, title=title, description=description)


def bring_back_erased(section: str) -> Param:
    """The field that lets rows come back which others deleted or changed."""
    return Param(
        False,
        **SWITCH,
        section=section,
        title="Bring back erased rows",
        description="Allow this to bring back rows that others deleted, or to undo what they"
        " changed.",
    )


@dataclass(frozen=True)
class Asked:
    """What a run asks for: `selection` is what it reads again, None if it reads new records."""

    selection: Selection | None
    dry_run: bool = False
    bring_back_erased: bool = False


# From a run and its parameters. Raises SettingsError.
Asking = Callable[[Any, Mapping[str, Any]], Asked]


def asked_in_form(dag_run: Any, params: Mapping[str, Any]) -> Asked:
    """By the parameters of a pipeline's own DAG; a backfill run asks for its interval.

    Raises SettingsError.
    """
    return Asked(
        selection_of(dag_run, params), bool(params[DRY_RUN]), bool(params[BRING_BACK_ERASED])
    )


def asked_by_interval(dag_run: Any, params: Mapping[str, Any]) -> Asked:
    """In a DAG of a team's own: a backfill run asks for its interval, if that has a length.

    Any other run reads new records. The parameters are the team's, and mean nothing here.
    """
    start, end = dag_run.data_interval_start, dag_run.data_interval_end
    if not _is_backfill(dag_run) or not start or not end or start >= end:
        return Asked(None)
    from sluice.operations.backfill.selection import time_window

    return Asked(time_window(start, end))


def selection_of(dag_run: Any, params: Mapping[str, Any]) -> Selection | None:
    """What a run of a pipeline's own DAG reads again; None if it reads new records.

    Raises SettingsError.
    """
    from sluice.operations.backfill.selection import parse_selection, time_window

    require_known_params(params, (DRY_RUN, *REPROCESS, BRING_BACK_ERASED))
    given = {name: params[name] for name in REPROCESS if params[name]}
    if _is_backfill(dag_run):
        if given:
            raise SettingsError(
                f"a backfill run reads its own interval; found also {', '.join(given)}."
                " Leave these out, or trigger a manual run."
            )
        return time_window(dag_run.data_interval_start, dag_run.data_interval_end)
    if not given:
        return None
    start, end, ranges, batches = (given.get(name) for name in REPROCESS)
    return parse_selection(start, end, ranges or (), batches or ())


def _is_backfill(dag_run: Any) -> bool:
    return bool(dag_run.run_type.value == BACKFILL)


def require_known_params(params: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """Refuse unknown parameters: Airflow accepts them, so a mistyped name would have no effect.

    Raises SettingsError.
    """
    allowed = list(allowed)
    unknown = sorted(params.keys() - set(allowed))
    if unknown:
        raise SettingsError(
            f"params: found {', '.join(unknown)}, allowed: {', '.join(allowed)}. Nothing was done."
        )
