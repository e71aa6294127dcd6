"""Table fit: whether a batch of the spec fits the data table as others have left it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sluice.columns.columns import Decimal, Primitive
from sluice.columns.names import written
from sluice.columns.type_changes import TypeChange, type_changes
from sluice.errors import SpecError
from sluice.protocol.plan.foreign_settings import foreign_settings, require_usable_settings
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.past_columns import LostColumn, lost_columns


def require_fitting_table(spec: PipelineSpec, data: DeltaSnapshot) -> None:
    """Raises SpecError or TableRefused, with whose doing it is and what to do, unless it fits."""
    _require_declared_types(spec, data)
    _require_no_lost_columns(spec, data)
    require_usable_settings(spec, data)


def told_of_table(spec: PipelineSpec, data: DeltaSnapshot) -> tuple[str, ...]:
    """A line for each thing that others did to the table, and with which a batch lands."""
    return (*_returning_columns(spec, data), *foreign_settings(spec, data))


def _require_declared_types(spec: PipelineSpec, data: DeltaSnapshot) -> None:
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
    where = " (a registry's: in a schema_file)" if spec.formats.registered else ""
    as_text = list(_as_text(spec, changed))
    begin = "Otherwise give" if as_text else "Give"
    back = f"{begin} the column its type back{where}, or choose a new `table` and `pipeline`."
    raise SpecError(" ".join([f"{spec.pipeline}: {told}.", *as_text, back]))


def _as_text(spec: PipelineSpec, changed: Iterable[TypeChange]) -> Iterator[str]:
    """For each field that is to be read as text, what keeps the table's column beside it."""
    fields = {each.name for each in spec.columns}
    if spec.format.type != "json" or spec.formats.registered:
        return
    for each in changed:
        is_text = each.declared == Primitive("STRING") and each.name in fields
        if (
            is_text
            and isinstance(each.stored, Primitive | Decimal)
            and written(each.name) == each.name
        ):
            text = f"{each.name}_text"
            yield (
                f"To read text and keep the column, leave {each.name} out of the schema, and write"
                f" `columns: {{{text}: {{from: {each.name}, type: STRING}}}}` and `derived:"
                f' {{{each.name}: "try_cast({text} AS {each.stored})"}}` (docs/operations.md,'
                ' "A number became text").'
            )


def _key(spec: PipelineSpec, name: str) -> str:
    """Where the spec says the type of a column."""
    for key, columns in (("derived", spec.derived), ("columns", spec.column_sources)):
        if name in columns:
            return f"{key}.{name}"
    return spec.formats.declared_at(name)


def _require_no_lost_columns(spec: PipelineSpec, data: DeltaSnapshot) -> None:
    """Raises SpecError for each that others dropped or renamed, unless the spec lets columns come.

    They would come back filled, in silence: what a person took away is theirs.
    """
    lost = _lost(spec, data) if spec.evolution == "strict" else []
    if not lost or data.is_empty:
        return
    told = "; ".join(f"found none of {each}" for each in lost)
    ways = " ".join(_ways(data.uri, each) for each in lost)
    raise SpecError(
        f"{spec.pipeline}: expected the declared columns in {data.uri}, {told}. {ways} Or leave it"
        " out of the spec (`exclude`, or not declared), under its new name with `columns`."
    )


def _returning_columns(spec: PipelineSpec, data: DeltaSnapshot) -> Iterator[str]:
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
