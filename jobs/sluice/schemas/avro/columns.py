"""Avro columns: the columns that an Avro schema gives a table. Pure.

What no column can be is STRING: the JSON text of the value, as its writer has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from sluice.columns.columns import (
    MOST_DIGITS,
    Array,
    Column,
    ColumnType,
    Decimal,
    Map,
    Primitive,
    Struct,
)
from sluice.columns.declared import ELEMENT, Declared, Note, Place, possible
from sluice.schemas.avro.parsing import parse_avro
from sluice.schemas.avro.schema import (
    ArrayOf,
    AvroSchema,
    Enum,
    Fixed,
    Logical,
    MapOf,
    Node,
    RecordType,
    Scalar,
    Union,
)
from sluice.schemas.registered import RegisteredSchema

# The one column of a schema whose outermost type is not a record.
ALONE = "value"
DURATION = ("months", "days", "milliseconds")
Above = tuple[str, ...]
"""The names of the records that hold a type."""
# Records that hold each other could make as many columns as there are orders of them.
_MOST_FIELDS = 10_000
_SCALARS = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BINARY",
    "string": "STRING",
}
_LOGICAL = {
    **dict.fromkeys(("date", "sluice-date-text"), "DATE"),
    **dict.fromkeys(("time-millis", "time-micros", "sluice-time-nanos", "uuid"), "STRING"),
    "sluice-decimal-text": "STRING",
}


def avro_declared(schema: RegisteredSchema) -> Declared:
    """The columns, and what they do not hold. Raises ValueError where it cannot be read."""
    reading = _Reading(parse_avro(schema))
    found = possible(reading.columns())
    lost = [each.place for each in found.unread]
    held = [x for x in reading.as_text if not any(x.place[: len(each)] == each for each in lost)]
    return replace(found, as_text=tuple(held))


def union_of(members: Iterable[Node]) -> tuple[Node, ...]:
    """The members that a column can tell apart: two numbers of one kind are read as the wider."""
    others = tuple(each for each in members if each != Scalar("null"))
    kinds = {each.name for each in others if isinstance(each, Scalar)}
    if len(others) == 2 and kinds in ({"int", "long"}, {"float", "double"}):
        return (Scalar("long" if "long" in kinds else "double"),)
    return others


class _Reading:
    """One reading of a schema: it remembers what is held as text."""

    def __init__(self, schema: AvroSchema) -> None:
        self._schema = schema
        self._fields = 0
        self.as_text: list[Note] = []

    def columns(self) -> tuple[Column, ...]:
        """The fields of a record; of any other type, the one column."""
        root = self._schema.named(self._schema.root)
        if isinstance(root, RecordType):
            return self._columns(root, (), ())
        return (Column(ALONE, self._type(self._schema.root, (), (ALONE,))),)

    def _columns(self, record: RecordType, above: Above, place: Place) -> tuple[Column, ...]:
        self._fields += len(record.fields)
        if self._fields > _MOST_FIELDS:
            raise ValueError(f"expected at most {_MOST_FIELDS} fields, found more")
        within = (*above, record.name)
        return tuple(
            Column(each.name, self._type(each.type, within, (*place, each.name)))
            for each in record.fields
        )

    def _type(self, node: Node, above: Above, place: Place) -> ColumnType:
        match named := self._schema.named(node):
            case Scalar("null"):
                return self._text(place, "a type with only null")
            case Scalar(name, logical):
                return self._converted(logical, place) or Primitive(_SCALARS[name])
            case Fixed(logical=logical):
                return self._converted(logical, place) or Primitive("BINARY")
            case Enum():
                return Primitive("STRING")
            case RecordType(logical=Logical() as logical):
                return self._converted(logical, place) or Primitive("STRING")
            case RecordType(name) if name in above:
                return self._text(place, "the schema holds itself")
            case RecordType(fields=()):
                return self._text(place, "a record without fields")
            case RecordType():
                return Struct(self._columns(named, above, place))
            case ArrayOf(items):
                return Array(self._type(items, above, (*place, ELEMENT)))
            case MapOf(values):
                return Map(self._type(values, above, (*place, ELEMENT)))
            case Union(members):
                return self._union(union_of(members), above, place)
        raise AssertionError(named)

    def _union(self, told_apart: Sequence[Node], above: Above, place: Place) -> ColumnType:
        if not told_apart:
            return self._text(place, "a type with only null")
        if len(told_apart) == 1:
            return self._type(told_apart[0], above, place)
        named = ((f"member{number}", each) for number, each in enumerate(told_apart))
        return Struct(
            tuple(Column(name, self._type(each, above, (*place, name))) for name, each in named)
        )

    def _converted(self, logical: Logical | None, place: Place) -> ColumnType | None:
        """The column of a logical type; None without one."""
        if logical is None:
            return None
        if logical.name == "decimal":
            if logical.scale > MOST_DIGITS:
                return self._text(place, f"more than {MOST_DIGITS} digits after the point")
            return Decimal(min(logical.precision, MOST_DIGITS), logical.scale)
        if logical.name == "duration":
            return Struct(tuple(Column(each, Primitive("BIGINT")) for each in DURATION))
        return Primitive(_LOGICAL.get(logical.name, "TIMESTAMP"))

    def _text(self, place: Place, why: str) -> ColumnType:
        self.as_text.append(Note(place, why))
        return Primitive("STRING")
