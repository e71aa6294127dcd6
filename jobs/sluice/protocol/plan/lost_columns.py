"""Lost columns: declared ones that others dropped from the table, or renamed there.

They would come back filled, in silence: what a person took away is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from sluice.errors import SpecError
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaSnapshot
from sluice.tables.past_columns import LostColumn, lost_columns


def require_no_lost_columns(spec: PipelineSpec, data: DeltaSnapshot) -> None:
    """Raises SpecError for each, with who took it away, unless the spec lets columns come."""
    lost = _lost(spec, data) if spec.evolution == "strict" else []
    if not lost or data.is_empty:
        return
    told = "; ".join(f"found none of {each}" for each in lost)
    ways = " ".join(_ways(data.uri, each) for each in lost)
    raise SpecError(
        f"{spec.pipeline}: expected the declared columns in {data.uri}, {told}. {ways} Or leave it"
        " out of the spec (`exclude`, or not declared), under its new name with `columns`."
    )


def returning_columns(spec: PipelineSpec, data: DeltaSnapshot) -> Iterator[str]:
    """A line for each that comes back with the next batch, as the spec lets columns come."""
    if spec.evolution != "strict" and not data.is_empty:
        for each in _lost(spec, data):
            yield f"the table gets back the column {each}; null in the rows that it has"


def _lost(spec: PipelineSpec, data: DeltaSnapshot) -> list[LostColumn]:
    if spec.formats.awaits_reader or data.version is None:
        return []
    return lost_columns(data, (*spec.shape.columns, *spec.formats.our_columns))


def _ways(uri: str, lost: LostColumn) -> str:
    table = f"ALTER TABLE delta.`{uri}`"
    if lost.now:
        return f"{table} RENAME COLUMN {lost.now} TO {lost.name} gives {lost.name} its name back."
    return f"{table} ADD COLUMN ({lost.name} {lost.kind}) lets {lost.name} begin anew."
