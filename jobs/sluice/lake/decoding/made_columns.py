"""Made columns: those that a spec takes from fields of the records, and which a record must have.

What a record holds of the wrong kind is its error, and then there are no columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.columns import columns as declared
from sluice.columns.connect_types import ConnectType
from sluice.columns.taking import Field, Reading, Taken
from sluice.lake.decoding.column_types import spark_type, struct_type
from sluice.lake.decoding.decoded_fields import ERROR, LACKING, RESCUED
from sluice.lake.decoding.event_parts import event_struct, has_row, marks_of, row_of
from sluice.lake.decoding.json_records import tells_unmatched
from sluice.lake.decoding.since_1970 import since_1970
from sluice.spec_file.formats import RegisteredFormat, Source
from sluice.spec_file.key_formats import KeyFormat

# Ours (jobs/jvm/records/ConnectDecimal.scala).
_CONNECT_DECIMAL = "sluice_connect_decimal"
# Ours (jobs/jvm/json/VariantOfText.scala).
_VARIANT = "sluice_variant"
_SHOWN = 100


def fields_of(form: KeyFormat) -> T.StructType:
    """What the records are read as: the columns, or the fields from which some are taken."""
    if not isinstance(form, RegisteredFormat):
        return struct_type(form.columns)
    reading = form.reading
    found = struct_type(form.columns) if reading is None else _struct(reading.fields)
    row = _named(found, form.connect_types)
    return event_struct(row, form.has_text_rows) if _is_event(form) else row


def _named(row: T.StructType, types: Mapping[str, ConnectType]) -> T.StructType:
    """With what the schema names the types of the fields."""
    for each in row:
        if (known := types.get(each.name)) and not isinstance(each.dataType, T.StructType):
            each.metadata |= {"connect": known.name, "scale": known.scale}
    return row


def _is_event(form: KeyFormat) -> TypeGuard[RegisteredFormat]:
    return isinstance(form, RegisteredFormat) and form.envelope == "debezium"


def made_columns(
    read: Column,
    form: KeyFormat,
    source: Source,
    required: Sequence[str],
    rescue: bool,
    apart: bool = False,
) -> Column | None:
    """The struct of the columns, `_rescued` where there is one, and `(error)`, from what was read.

    In the order of the format's columns. With `apart`, what a record lacks is `(lacking)`, and the
    columns are there all the same. None where that is what was read.
    """
    reading = form.reading if isinstance(form, RegisteredFormat) else None
    if reading is None and not required and not apart:
        return None
    parts = _parts_of(form, reading, read)
    values = {each.name: each.value for each in parts}
    misfits = [each.misfit for each in parts if each.misfit is not None]
    lacking = [_lacking(name, values[name]) for name in required]
    if _is_event(form):
        lacking = [F.when(has_row(read), each) for each in lacking]
    if apart and tells_unmatched(form):
        lacking = [read[LACKING], *lacking]
    error = F.coalesce(read[ERROR], *misfits, *([] if apart else lacking))
    names = [each.name for each in form.columns]
    if rescue:
        names, values[RESCUED] = [*names, RESCUED], read[RESCUED]
    kept = [F.when(error.isNull(), values[name]).alias(name) for name in names]
    told = [_first(lacking).alias(LACKING)] if apart else []
    made = F.struct(*kept, error.alias(ERROR), *told)
    # A tombstone has no fields, and lands; a null key has not what is required of it.
    given = F.col(source).isNotNull() & read.isNotNull()
    there = F.lit(True) if source == "key" and required else given
    return F.when(there, made)


def _first(found: Sequence[Column]) -> Column:
    return F.coalesce(F.lit(None).cast("string"), *found)


def _lacking(name: str, value: Column) -> Column:
    return F.when(value.isNull(), F.lit(f"{name}: expected a value, as it is required, found none"))


def _struct(fields: Iterable[Field]) -> T.StructType:
    """With what the names are called within Spark, as two may differ only in case."""
    return T.StructType([_struct_field(place, each) for place, each in enumerate(fields)])


def _struct_field(place: int, field: Field) -> T.StructField:
    known: dict[str, Any] = {"as": _name(place)}
    if field.within:
        # Else the field has no column, and is only on the way to others.
        only_way = isinstance(field.type, declared.Struct) and not field.type.fields
        return T.StructField(
            field.name, _struct(field.within), metadata=known | ({"way": True} if only_way else {})
        )
    if field.taken and field.taken.unit:
        known["unit"] = field.taken.unit
    return T.StructField(field.name, spark_type(field.type), metadata=known)


def _name(place: int) -> str:
    return f"f{place}"


class _Part(NamedTuple):
    """A column, or what is left of a struct; why its field has no such value, null if it has."""

    name: str
    value: Column
    misfit: Column | None = None
    taken: bool = False


def _parts_of(form: KeyFormat, reading: Reading | None, read: Column) -> list[_Part]:
    if reading is None:
        return [_Part(each.name, read[each.name]) for each in form.columns]
    if not _is_event(form):
        return list(_parts(reading.fields, read))
    row = row_of(read, _name(0) if form.has_text_rows else None)
    return [*_parts(reading.fields, row), *(_Part(*each) for each in marks_of(read))]


def _parts(fields: Iterable[Field], read: Column) -> Iterator[_Part]:
    for place, field in enumerate(fields):
        value = read[_name(place)]
        if field.taken and field.column:
            yield _taken(field.type, field.taken, field.column, value)
        elif not field.within:
            yield _Part(field.name, value)
        else:
            within = list(_parts(field.within, value))
            if left := [each.value.alias(each.name) for each in within if not each.taken]:
                yield _Part(field.name, F.when(value.isNotNull(), F.struct(*left)))
            yield from (each for each in within if each.taken)


def _taken(
    read_as: declared.ColumnType, taken: Taken, column: declared.Column, value: Column
) -> _Part:
    if read_as == column.type:
        return _Part(column.name, value, taken=True)
    made = _converted(taken, column.type, value)
    shown = F.concat(F.octet_length(value).cast("string"), F.lit(" bytes"))
    if read_as != declared.Primitive("BINARY"):
        shown = F.substring(value.cast("string"), 1, _SHOWN)
    told = F.concat(F.lit(f"{column.name}: expected {column.type}, found "), shown)
    return _Part(column.name, made, F.when(value.isNotNull() & made.isNull(), told), taken=True)


def _converted(taken: Taken, wanted: declared.ColumnType, value: Column) -> Column:
    """The column's value; null for one that it cannot hold."""
    if taken.unit is not None:
        return since_1970(taken.unit, value)
    if isinstance(wanted, declared.Decimal):
        digits = (F.lit(wanted.precision), F.lit(wanted.scale))
        return F.call_function(_CONNECT_DECIMAL, value, *digits)
    if wanted == declared.Primitive("VARIANT"):
        return F.call_function(_VARIANT, value)
    return F.try_to_binary(value, F.lit("base64"))
