"""Table fit: whether a batch of the spec fits the data table as others have left it."""

from __future__ import annotations

from sluice.protocol.plan.declared_types import require_declared_types
from sluice.protocol.plan.foreign_settings import foreign_settings, require_usable_settings
from sluice.protocol.plan.lost_columns import require_no_lost_columns, returning_columns
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaSnapshot


def require_fitting_table(spec: PipelineSpec, data: DeltaSnapshot) -> None:
    """Raises SpecError or TableRefused, with whose doing it is and what to do, unless it fits."""
    require_declared_types(spec, data)
    require_no_lost_columns(spec, data)
    require_usable_settings(spec, data)


def told_of_table(spec: PipelineSpec, data: DeltaSnapshot) -> tuple[str, ...]:
    """A line for each thing that others did to the table, and with which a batch lands."""
    return (*returning_columns(spec, data), *foreign_settings(spec, data))
