"""Table changes: what the next batch would do to the columns of the data table. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sluice.spec.columns import Column
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.spec.type_changes import new_columns, type_changes


def changes_of_table(
    spec: PipelineSpec, stored: Sequence[Column], widens_types: bool = False
) -> Iterator[str]:
    """A line for each column that comes, widens, or gets no values any more.

    Nothing where there is no table yet, or a schema registry has yet to give the columns.
    `widens_types` says whether the table has Delta's feature for it: if not, that comes as well.
    """
    if spec.formats.awaits_reader or not stored:
        return
    if spec.evolution == "widen" and not widens_types:
        yield "the table gets Delta's feature typeWidening: delta-rs and Polars read it no more"
    declared = (*spec.shape.columns, *spec.formats.further_columns)
    for each in new_columns(stored, declared):
        yield f"the table gets a column {each}; null in the rows that it has"
    for change in type_changes(stored, declared):
        yield f"the table's column {change.name} becomes {change.declared}, from {change.stored}"
    ours = {each.name.lower() for each in spec.formats.our_columns}
    theirs = [each for each in stored if each.name.lower() not in ours]
    for each in new_columns(declared, theirs):
        yield f"the table's column {each} gets no values any more; it stays, null in new rows"
