"""Avro columns: the columns that an Avro schema gives a table. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from sluice.columns.columns import Array, Column, ColumnType, Decimal, Map, Primitive, Struct
from sluice.columns.declared import Declared, possible
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
_MOST_DIGITS = 38
_SCALARS = {
    "boolean": "BOOLEAN",
    "int": "INT",
    "long": "BIGINT",
    "float": "FLOAT",
    "double": "DOUBLE",
    "bytes": "BINARY",
    "string": "STRING",
}
_LOGICAL = {"date": "DATE", "time-millis": "STRING", "time-micros": "STRING", "uuid": "STRING"}


def avro_declared(schema: RegisteredSchema) -> Declared:
    """The columns. Raises ValueError for what no table can hold, by its name."""
    return possible(columns_of(parse_avro(schema)))


def columns_of(schema: AvroSchema) -> tuple[Column, ...]:
    """The columns of a schema that is read. Raises ValueError, with the place."""
    root = schema.named(schema.root)
    if isinstance(root, RecordType):
        return _fields(schema, root, (), "")
    return (Column(ALONE, _type(schema, schema.root, (), ALONE)),)


def union_of(members: Iterable[Node]) -> tuple[Node, ...]:
    """The members that a column can tell apart: two numbers of one kind are read as the wider."""
    others = tuple(each for each in members if each != Scalar("null"))
    kinds = {each.name for each in others if isinstance(each, Scalar)}
    if len(others) == 2 and kinds in ({"int", "long"}, {"float", "double"}):
        return (Scalar("long" if "long" in kinds else "double"),)
    return others


def _fields(
    schema: AvroSchema, record: RecordType, above: tuple[str, ...], place: str
) -> tuple[Column, ...]:
    if record.name in above:
        raise ValueError(
            f"{place or record.name}: {record.name} holds itself; a column's type ends somewhere:"
            " leave the field out of the schema that is read"
        )
    if not record.fields and place:
        raise ValueError(f"{place}: expected fields, found a record without any")
    found, seen = [], set[str]()
    for each in record.fields:
        inner = f"{place}.{each.name}" if place else each.name
        if each.name.lower() in seen:
            raise ValueError(f"{inner}: declared twice (Delta ignores case in column names)")
        seen.add(each.name.lower())
        found.append(Column(each.name, _type(schema, each.type, (*above, record.name), inner)))
    return tuple(found)


def _type(schema: AvroSchema, node: Node, above: tuple[str, ...], place: str) -> ColumnType:
    match named := schema.named(node):
        case Scalar():
            return _scalar(named, place)
        case Fixed():
            return _converted(named.logical, place) or Primitive("BINARY")
        case Enum():
            return Primitive("STRING")
        case RecordType():
            return Struct(_fields(schema, named, above, place))
        case ArrayOf(items):
            return Array(_type(schema, items, above, f"{place}[]"))
        case MapOf(values):
            return Map(_type(schema, values, above, f"{place}[]"))
        case Union(members):
            return _union(schema, members, above, place)
    raise AssertionError(named)


def _union(
    schema: AvroSchema, members: Iterable[Node], above: tuple[str, ...], place: str
) -> ColumnType:
    told_apart = union_of(members)
    if not told_apart:
        raise ValueError(f"{place}: expected a type with values, found only null")
    if len(told_apart) == 1:
        return _type(schema, told_apart[0], above, place)
    names = [f"member{number}" for number in range(len(told_apart))]
    pairs = zip(names, told_apart, strict=True)
    return Struct(
        tuple(Column(name, _type(schema, each, above, f"{place}.{name}")) for name, each in pairs)
    )


def _scalar(found: Scalar, place: str) -> ColumnType:
    if found.name == "null":
        raise ValueError(f"{place}: expected a type with values, found only null")
    return _converted(found.logical, place) or Primitive(_SCALARS[found.name])


def _converted(logical: Logical | None, place: str) -> ColumnType | None:
    """The column of a logical type; None without one."""
    if logical is None:
        return None
    if logical.name == "decimal":
        if logical.precision > _MOST_DIGITS:
            raise ValueError(
                f"{place}: expected a decimal of at most {_MOST_DIGITS} digits, found {logical}"
            )
        return Decimal(logical.precision, logical.scale)
    if logical.name == "duration":
        return Struct(tuple(Column(each, Primitive("BIGINT")) for each in DURATION))
    return Primitive(_LOGICAL.get(logical.name, "TIMESTAMP"))
