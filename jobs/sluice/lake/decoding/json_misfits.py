"""JSON misfits: the innermost value of a record that does not fit, and where it stands.

Only built into the exact reading's errors: it reads again what did not fit.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.lake.decoding.json_exact import ExactReading
from sluice.lake.decoding.json_scalars import let
from sluice.lake.decoding.misfits import misfit, quoted


def first_misfit(
    exact: ExactReading, fields: T.StructType, texts: Column, values: Column, above: Column
) -> Column:
    """The first field with a text and no value, as an error; null where all fit.

    `above` is what precedes the fields' names in a path, such as `trip.`.
    """
    errors = [
        F.when(
            texts[each.name].isNotNull() & values[each.name].isNull(),
            _misfit(exact, F.concat(above, F.lit(each.name)), texts[each.name], each.dataType),
        )
        for each in fields
    ]
    return F.coalesce(*errors, F.lit(None).cast("string"))


def _misfit(exact: ExactReading, path: Column, text: Column, declared: T.DataType) -> Column:
    whole = misfit(path, declared, exact.json_text(text))
    match declared:
        case T.StructType():
            return F.coalesce(_in_struct(exact, path, text, declared), whole)
        case T.ArrayType():
            return F.coalesce(_in_array(exact, path, text, declared.elementType), whole)
        case T.MapType():
            return F.coalesce(_in_map(exact, path, text, declared.valueType), whole)
        case _:
            return whole


def _in_struct(exact: ExactReading, path: Column, text: Column, declared: T.StructType) -> Column:
    def first(texts: Column) -> Column:
        values = exact.fields(texts, declared)
        above = F.concat(path, F.lit("."))
        return let(values, lambda each: first_misfit(exact, declared, texts, each, above))

    return let(exact.members(text, declared), lambda texts: F.when(texts.isNotNull(), first(texts)))


def _in_array(exact: ExactReading, path: Column, text: Column, element: T.DataType) -> Column:
    def error(each: Column, place: Column) -> Column:
        return _of_part(exact, path, place.cast("string"), each, element)

    return _first(F.transform(exact.elements(text), error))


def _in_map(exact: ExactReading, path: Column, text: Column, value: T.DataType) -> Column:
    def first(members: Column) -> Column:
        def error(name: Column, each: Column) -> Column:
            return _of_part(exact, path, quoted(name), each, value)

        return _first(F.zip_with(members["names"], members["texts"], error))

    return let(exact.entries(text), first)


def _of_part(
    exact: ExactReading, path: Column, part: Column, text: Column, declared: T.DataType
) -> Column:
    lost = text.isNotNull() & exact.value(text, declared).isNull()
    within = F.concat(path, F.lit("["), part, F.lit("]"))
    return F.when(lost, _misfit(exact, within, text, declared))


def _first(errors: Column) -> Column:
    return F.get(F.filter(errors, lambda each: each.isNotNull()), F.lit(0))
