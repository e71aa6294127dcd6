"""Declared types: a spec's columns fit the table's, before anything is planned or Spark starts."""

from __future__ import annotations

from sluice.columns.type_changes import type_changes
from sluice.errors import SpecError
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.delta_log import DeltaSnapshot


def require_declared_types(spec: PipelineSpec, data: DeltaSnapshot) -> None:
    """Raises SpecError where the table's rows have a declared or derived column in another type.

    A table without rows takes the spec's types (`lake.spark_lake`), one that widens types the
    wider ones. Columns that a schema registry has yet to give are not declared yet.
    """
    if spec.formats.awaits_reader:
        return
    widens = data.settings.widens_types or spec.evolution == "widen"
    changes = type_changes(data.columns, (*spec.shape.columns, *spec.formats.further_columns))
    changed = [each for each in changes if not (widens and each.widens)]
    if not changed or data.is_empty:
        return
    told = "; ".join(
        f"{_key(spec, each.name)}: expected {each.stored} as in the rows of {data.uri}, found"
        f" {each.declared}"
        for each in changed
    )
    raise SpecError(
        f"{spec.pipeline}: {told}. Give the column its type back (a registry's: in a schema_file),"
        " or choose a new `table` and `pipeline`."
    )


def _key(spec: PipelineSpec, name: str) -> str:
    """Where the spec says the type of a column."""
    return f"derived.{name}" if name in spec.derived else spec.formats.declared_at(name)
