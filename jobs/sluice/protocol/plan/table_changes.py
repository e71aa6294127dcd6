"""Table changes: what the next batch would do to the data table, apart from its rows. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sluice.columns.columns import Column
from sluice.columns.names import as_compared
from sluice.columns.type_changes import new_columns, type_changes
from sluice.offsets.spec_edition import SpecEdition
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.table_properties import WIDENS_TYPES, wanted_properties
from sluice.spec_file.table_settings import TableSettings

# Behind a format's key: which schema records are read as.
_READER = ".reader"


def changes_of_table(
    spec: PipelineSpec, stored: Sequence[Column], settings: TableSettings
) -> Iterator[str]:
    """A line for each column that comes, widens, or gets no values any more, and each setting.

    Nothing where there is no table yet, or a schema registry has yet to give the columns.
    """
    if spec.formats.awaits_reader or not stored:
        return
    yield from _settings_changes(spec, settings)
    declared = (*spec.shape.columns, *spec.formats.further_columns)
    for each in new_columns(stored, declared):
        yield f"the table gets a column {each}; null in the rows that it has"
    for change in type_changes(stored, declared):
        yield f"the table's column {change.name} becomes {change.declared}, from {change.stored}"
    ours = {as_compared(each.name) for each in spec.formats.our_columns}
    theirs = [each for each in stored if as_compared(each.name) not in ours]
    for each in new_columns(declared, theirs):
        yield f"the table's column {each} gets no values any more; it stays, null in new rows"


def _settings_changes(spec: PipelineSpec, settings: TableSettings) -> Iterator[str]:
    wanted = wanted_properties(spec.evolution, spec.properties)
    for key, value in settings.lacking_properties(wanted).items():
        if key == WIDENS_TYPES:
            readers = "delta-rs and Polars can no longer read it"
            yield f"the table gets Delta's feature typeWidening: {readers}"
        else:
            before = f", from {found}" if (found := settings.properties.get(key)) else ""
            yield f"the table's property {key} becomes {value}{before}"
    for name, text in settings.lacking_comments(spec.comments).items():
        told = json.dumps(text, ensure_ascii=False)
        yield f"the comment of the table's column {name} becomes {told}"


def changed_reading(spec: PipelineSpec, newest: tuple[str, SpecEdition] | None) -> Iterator[str]:
    """A line where new rows are read otherwise than those of the newest batch.

    The quarantine's budget decides whether a batch lands, and not how a row is read.
    """
    if newest is None or spec.formats.awaits_reader:
        return
    batch, edition = newest
    keys = [each for each in spec.edition.differing(edition) if not _is_budget(each)]
    schemas = [each.removesuffix(_READER) for each in keys if each.endswith(_READER)]
    in_spec = [each for each in keys if not each.endswith(_READER)]
    told = f"the spec has changed since batch {batch}, in {', '.join(in_spec)}" if in_spec else ""
    if schemas and not in_spec:
        # The spec is as it was: a registry has a newer schema, or a file another text.
        told = f"{' and '.join(schemas)}: the schema is another one than that of batch {batch}"
    if told:
        yield (
            f"{told}: the rows that are there stay as they are, unless they are read again"
            " (sluice reprocess)"
        )


def _is_budget(key: str) -> bool:
    return key == "quarantine" or key.startswith("quarantine.")
