"""Avro values: what was read, as the declared columns hold it, and what does not fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.avro_scalars import Convert, converted
from sluice.lake.decoding.misfits import misfit, quoted
from sluice.schemas.avro.columns import union_of
from sluice.schemas.avro.schema import (
    ArrayOf,
    AvroSchema,
    Fixed,
    MapOf,
    Node,
    Record,
    Scalar,
    Union,
)


class Conversion(Protocol):
    """Of one type. Types that are read as their columns hold them have none."""

    def value(self, read: Column) -> Column:
        """The column's value; each part that does not fit is null."""

    def misfit(self, read: Column, value: Column, path: Column) -> Column:
        """The error of the first part that was read and has no value; null if all fit."""


@dataclass(frozen=True)
class _OfScalar:
    convert: Convert
    expected: T.DataType | str

    def value(self, read: Column) -> Column:
        return self.convert(read)

    def misfit(self, read: Column, value: Column, path: Column) -> Column:
        shown = misfit(path, self.expected, read.cast("string"))
        return F.when(read.isNotNull() & value.isNull(), shown)


@dataclass(frozen=True)
class _OfStruct:
    fields: tuple[tuple[str, Conversion | None], ...]

    def value(self, read: Column) -> Column:
        fields = [
            (read[name] if each is None else each.value(read[name])).alias(name)
            for name, each in self.fields
        ]
        return F.when(read.isNotNull(), F.struct(*fields))

    def misfit(self, read: Column, value: Column, path: Column) -> Column:
        errors = [
            each.misfit(read[name], value[name], F.concat(path, F.lit(f".{name}")))
            for name, each in self.fields
            if each is not None
        ]
        return F.coalesce(*errors)


@dataclass(frozen=True)
class _OfArray:
    inner: Conversion

    def value(self, read: Column) -> Column:
        return F.transform(read, self.inner.value)

    def misfit(self, read: Column, value: Column, path: Column) -> Column:
        def error(pair: Column, place: Column) -> Column:
            return self.inner.misfit(pair["read"], pair["value"], _within(path, place))

        return _first(F.transform(_pairs(read, value), error))


@dataclass(frozen=True)
class _OfMap:
    inner: Conversion

    def value(self, read: Column) -> Column:
        return F.transform_values(read, lambda _, each: self.inner.value(each))

    def misfit(self, read: Column, value: Column, path: Column) -> Column:
        def error(pair: Column, name: Column) -> Column:
            return self.inner.misfit(pair["read"], pair["value"], _within(path, quoted(name)))

        pairs = _pairs(F.map_values(read), F.map_values(value))
        return _first(F.zip_with(pairs, F.map_keys(read), error))


def _pairs(read: Column, value: Column) -> Column:
    return F.zip_with(read, value, lambda r, v: F.struct(r.alias("read"), v.alias("value")))


def _within(path: Column, place: Column) -> Column:
    return F.concat(path, F.lit("["), place.cast("string"), F.lit("]"))


def _first(errors: Column) -> Column:
    return F.get(F.filter(errors, lambda each: each.isNotNull()), F.lit(0))


@dataclass(frozen=True)
class Conversions:
    """The conversions of a schema."""

    schema: AvroSchema

    def of(self, node: Node, declared: T.DataType) -> Conversion | None:
        """None where the type needs none."""
        match found := self.schema.named(node):
            case Scalar() | Fixed():
                return self._of_scalar(found, declared)
            case Record(fields=fields):
                return self._of_fields([each.type for each in fields], declared)
            case ArrayOf(items) if isinstance(declared, T.ArrayType):
                inner = self.of(items, declared.elementType)
                return None if inner is None else _OfArray(inner)
            case MapOf(values) if isinstance(declared, T.MapType):
                inner = self.of(values, declared.valueType)
                return None if inner is None else _OfMap(inner)
            case Union(members):
                return self._of_union(union_of(members), declared)
        return None

    def _of_scalar(self, found: Scalar | Fixed, declared: T.DataType) -> Conversion | None:
        if found.logical is not None:
            convert = converted(found.logical, isinstance(found, Fixed))
            if convert is not None:
                in_words = found.logical.name.startswith("time-")
                return _OfScalar(convert, "a time of day" if in_words else declared)
        return None

    def _of_union(self, members: tuple[Node, ...], declared: T.DataType) -> Conversion | None:
        if len(members) == 1:
            return self.of(members[0], declared)
        return self._of_fields(list(members), declared)

    def _of_fields(self, nodes: list[Node], declared: T.DataType) -> Conversion | None:
        assert isinstance(declared, T.StructType)
        pairs = zip(nodes, declared, strict=True)
        fields = tuple((each.name, self.of(node, each.dataType)) for node, each in pairs)
        return _OfStruct(fields) if any(each for _, each in fields) else None
