"""JSON decoding: each record's bytes as the declared columns, in one strict pass on the JVM.

Spark's `from_json` accepts invalid UTF-8, trailing content, wrapped integers, infinities and
re-rendered numbers, and reports only that a record has a value that does not fit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, TypeGuard

from pyspark.sql import Column
from pyspark.sql import types as T

from sluice.columns.envelopes import Envelope
from sluice.lake.decoding.frames import BARE, frames_of
from sluice.lake.decoding.record_reads import read_by
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.formats import JsonFormat, Source
from sluice.spec_file.key_formats import KeyFormat
from sluice.spec_file.places import place_of

# Ours (jobs/jvm/json/JsonRecord.scala, JsonConverted.scala, JsonChange.scala, JsonValue.scala).
READ_JSON: Mapping[Envelope | None, str] = {
    None: "sluice_json",
    "connect": "sluice_json_converted",
    "debezium": "sluice_json_change",
}
"""By the envelope."""
READ_JSON_VALUE = "sluice_json_value"

Unmatched = Literal["lands", "fails", "apart"]
"""What becomes of a record without any of the fields; `apart`: it is a row beside what it lacks."""


def json_frames(form: JsonFormat, source: Source, writers: Mapping[str, RegisteredSchema]) -> str:
    """With a registry, each record names the schema that it was written with, one of `writers`."""

    def known(writer: RegisteredSchema) -> str | bool:
        why = form.other_record(writer)
        return f"schema {writer.key}: {why}" if why else True

    return BARE if form.registry is None else frames_of(source, writers, "JSON", known)


def tells_unmatched(form: KeyFormat) -> TypeGuard[JsonFormat]:
    """Whether a record of the format has to have one of the fields."""
    return isinstance(form, JsonFormat) and form.has_fields and not form.allow_unmatched


def json_struct(
    fields: T.StructType,
    source: Source,
    frames: str = BARE,
    at: str | None = None,
    timestamp_unit: str | None = None,
    rescue: bool = False,
    unmatched: Unmatched = "fails",
    envelope: Envelope | None = None,
) -> Column:
    """A record's columns and its error; of an event those of its parts.

    `at` is where it is in its value. `timestamp_unit` says what a TIMESTAMP's numbers count. With
    `rescue`, the members that are not declared are kept.
    """
    given = (_place(at), timestamp_unit or "", rescue, unmatched)
    return read_by(READ_JSON[envelope], source, fields, frames, *given)


def json_value_struct(
    fields: T.StructType,
    source: Source,
    frames: str = BARE,
    at: str | None = None,
    rescue: bool = False,
) -> Column:
    """The one column of a record that may be any JSON value, and its error."""
    return read_by(READ_JSON_VALUE, source, fields, frames, _place(at), rescue)


def _place(at: str | None) -> str:
    """As jobs/jvm/json/JsonPlace.scala has it; empty where a record is all of its value."""
    return "" if at is None else json.dumps(place_of(at))
