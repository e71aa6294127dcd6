"""Scalar keys: the bytes of Kafka's own serializers as one number or text, by Spark's functions.

Each function is total: what a length, a text or a UUID is not is asked before it is read.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from sluice.lake.decoding.decoded_fields import ERROR, VALUE
from sluice.spec_file.formats import Source
from sluice.spec_file.key_formats import Scalar

_UUID = r"\A[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\z"
_UUID_BYTES = 36
_UNSHOWN = "[^ -~]"


def scalar_struct(scalar: Scalar, source: Source) -> Column:
    """The column and its error; null where the source is."""
    given = F.col(source)
    match scalar:
        case "long":
            read, error = _whole(given, 8)
        case "int":
            read, error = _whole(given, 4)
        case "text":
            read, error = _text(given)
        case "uuid":
            read, error = _uuid(given)
    struct = F.struct(F.when(error.isNull(), read).alias(VALUE), error.alias(ERROR))
    return F.when(given.isNotNull(), struct)


def _whole(given: Column, length: int) -> tuple[Column, Column]:
    """A number of so many bytes, the highest first, in two's complement."""
    digits, name = F.hex(given), {8: "bigint", 4: "int"}[length]
    # Eight bytes wrap as Java's do; fewer have their sign repeated before them.
    sign = F.when(digits >= "8", F.lit("F" * (16 - 2 * length))).otherwise("")
    number = F.conv(F.concat(sign, digits), 16, -10).cast(name)
    fits = F.length(given) == length
    return F.when(fits, number), F.when(~fits, _wrong_length(given, f"{length} bytes"))


def _text(given: Column) -> tuple[Column, Column]:
    text = given.cast("string")
    return text, F.when(~F.is_valid_utf8(text), F.lit("not strict UTF-8"))


def _uuid(given: Column) -> tuple[Column, Column]:
    text = given.cast("string")
    shown = F.regexp_replace(text, _UNSHOWN, "?")
    other = F.concat(F.lit('expected a UUID, found "'), shown, F.lit('"'))
    long = F.length(given) != _UUID_BYTES
    wrong = F.when(long, _wrong_length(given, f"a UUID of {_UUID_BYTES} bytes"))
    return text, F.coalesce(wrong, F.when(~text.rlike(_UUID), other))


def _wrong_length(given: Column, expected: str) -> Column:
    return F.concat(F.lit(f"expected {expected}, found "), F.length(given).cast("string"))
