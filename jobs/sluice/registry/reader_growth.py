"""Reader growth: which reader a pipeline has after it has seen further schemas. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sluice.registry.reader_choice import choose_reader, clashes_of
from sluice.spec.columns import Column
from sluice.spec.formats import Source
from sluice.spec.pipeline_spec import PipelineSpec
from sluice.spec.registered import RegisteredSchema


def growing(spec: PipelineSpec) -> PipelineSpec:
    """The spec as it is before there is a reader: the schemas of several topics become one."""
    return spec.model_copy(update={"evolution": "add_columns", "rescue": False})


def grown(
    spec: PipelineSpec,
    source: Source,
    reader: RegisteredSchema,
    found: Iterable[RegisteredSchema],
    stored: Sequence[Column],
    told: list[str],
) -> RegisteredSchema:
    """The reader after these schemas, oldest first; why one did not become it is told."""
    form = spec.formats.registered[source]
    for each in found:
        choice = choose_reader(form, reader, each, spec.evolution)
        why = choice.kept_for
        if choice.reader != reader:
            why = _unfit(spec, source, choice.reader, stored)
            reader = reader if why else choice.reader
        if why:
            told.append(_kept_text(spec, reader, each.key, why))
    return reader


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


def _kept_text(spec: PipelineSpec, reader: RegisteredSchema, key: str, why: str) -> str:
    return (
        f"{spec.pipeline}: records are still read as schema {reader.key}, and not as {key}: {why}."
        ' What can be done: docs/tables.md, "When the schema changes"'
    )
