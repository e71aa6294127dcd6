"""Decoded records: the fields of a record's value, or why there are none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sluice.schemas.inference import parse_object
from sluice.spec_file.formats import JsonFormat
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.decoding.reference_json import Undecodable, decode
from tests.decoding.reference_json_text import Misfit, json_text, one_object
from tests.worlds.written_lake.records import Record

_MOST_SHOWN = 100


@dataclass(frozen=True)
class Decoded:
    """A record with its fields by name; `error` where it is undecodable."""

    record: Record
    fields: Mapping[str, Any]
    error: str | None = None


def decoded(record: Record, spec: PipelineSpec) -> Decoded:
    """The record, decoded as the spec says."""
    form = spec.format
    if not isinstance(form, JsonFormat):
        return Decoded(record, {"value": record.value})
    found = decode(
        record.value,
        str(form.schema_text),
        timestamp_unit=form.timestamp_unit,
        allow_unmatched=form.allow_unmatched,
    )
    if isinstance(found, Undecodable):
        return Decoded(record, {}, _error(record.value or b"", found.reason, spec))
    return Decoded(record, found)


def _error(value: bytes, reason: str, spec: PipelineSpec) -> str:
    """The reason as Spark's lake words it: what the value is, or where, expected, found."""
    try:
        parse_object(value)
    except ValueError as flaw:
        return str(flaw)
    name, column, _ = reason.partition(": ")
    kinds = {each.name: str(each.type) for each in spec.columns}
    if not column or name not in kinds:
        return reason
    try:
        found = json_text(one_object(value).last()[name])
    except (Misfit, KeyError):
        return reason
    return f"{name}: expected {kinds[name]}, found {_shortened(found)}"


def _shortened(found: str) -> str:
    if len(found) <= _MOST_SHOWN + 2:
        return found
    return found[:_MOST_SHOWN] + ('…"' if found.startswith('"') else "…")
