"""Reader growth: which reader a pipeline has after it has seen further schemas. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sluice.columns.columns import Column
from sluice.columns.names import KEY_PREFIX, is_ours
from sluice.columns.type_changes import new_columns
from sluice.errors import SpecError
from sluice.registry.noted import Noted
from sluice.registry.reader_choice import are_numbers, choose_reader, clashes_of, is_newer
from sluice.registry.taken_fields import changed_fields
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import Source
from sluice.spec_file.pipeline_spec import PipelineSpec


def growing(spec: PipelineSpec) -> PipelineSpec:
    """The spec as it is before there is a reader: the schemas of several topics become one."""
    return spec.model_copy(update={"evolution": "add_columns", "rescue": False})


def newer(reader: RegisteredSchema, found: Iterable[RegisteredSchema]) -> list[RegisteredSchema]:
    """Those of the schemas that a registry has not given before the reader.

    An older one could bring back a field that was dropped on purpose, and would then stop newer
    schemas.
    """
    later = [x for x in found if is_newer(x, reader) or not are_numbers(x, reader)]
    return sorted(later, key=lambda each: each.age)


def grown(
    spec: PipelineSpec,
    source: Source,
    reader: RegisteredSchema,
    found: Iterable[RegisteredSchema],
    stored: Sequence[Column],
) -> Noted[RegisteredSchema]:
    """The reader after these schemas, oldest first; why one did not become it is noted."""
    form, notes = spec.formats.registered[source], list[str]()
    for each in found:
        choice = choose_reader(form, reader, each, spec.evolution)
        why = choice.kept_for
        if choice.reader != reader:
            why = _unfit(spec, source, choice.reader, stored)
            if not why:
                changed = changed_fields(form, reader, choice.reader)
                notes += (f"{spec.pipeline}: {line}" for line in changed)
                reader = choice.reader
        if why and not _is_left_out(spec, source, each):
            notes.append(_kept_text(spec, reader, each.key, why))
    return Noted(reader, tuple(notes))


def _is_left_out(spec: PipelineSpec, source: Source, found: RegisteredSchema) -> bool:
    """Whether the spec lands no record of a schema."""
    form = spec.formats.registered[source]
    if spec.only is None or source != "value" or found.kind != form.kind:
        return False
    try:
        return spec.only.leaves_out(form.kind, found)
    except ValueError:
        return False


def _unfit(
    spec: PipelineSpec, source: Source, reader: RegisteredSchema, stored: Sequence[Column]
) -> str:
    """Why neither spec nor table can have a reader; empty where they can."""
    try:
        read = spec.with_readers({source: reader})
    except ValueError as problem:
        return str(problem)
    if read.formats.awaits_reader:
        return ""
    declared = (*read.shape.columns, *read.formats.key_columns)
    return clashes_of(stored, declared, spec.evolution)


def require_every_column(spec: PipelineSpec, source: Source, stored: Sequence[Column]) -> None:
    """Raises SpecError where a first reader leaves a column of its table without a field.

    Such as that of another connection or record: what each further reader has to hold, it has to,
    too. The columns that it adds, the spec has asked for.
    """
    keys = [each for each in stored if each.name.startswith(KEY_PREFIX)]
    rest = [each for each in stored if not is_ours(each.name)]
    fields = (*spec.columns, *spec.shape.columns)
    gone = (
        new_columns(fields, rest)
        if source == "value"
        else new_columns(spec.formats.key_columns, keys)
    )
    if gone:
        form = spec.formats.registered[source]
        reader = form.reader
        raise SpecError(
            f"{spec.pipeline}: {form.registry}: schema {reader.key if reader else ''}: expected a"
            f" field for each column of table {spec.table}, found none for {', '.join(gone)}: new"
            " rows would have null there. Name the connection and record that the table was"
            " written with; or a schema_file, beside registry, that has all the fields:"
            ' docs/tables.md, "When the schema changes". Nothing was changed.'
        )


def _kept_text(spec: PipelineSpec, reader: RegisteredSchema, key: str, why: str) -> str:
    return (
        f"{spec.pipeline}: records are still read as schema {reader.key}, and not as {key}: {why}."
        ' What can be done: docs/tables.md, "When the schema changes"'
    )
