"""Avro scalars: a number or bytes as what its logical type says, null where that is no value."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from sluice.lake.decoding.frames import hyphenated
from sluice.schemas.avro.columns import DURATION
from sluice.schemas.avro.schema import Logical

Convert = Callable[[Column], Column]
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
# The first and the last second of the years 0001 to 9999.
_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799
_A_DAY = 86_400
_PER_SECOND = {"millis": 1_000, "micros": 1_000_000}


def converted(logical: Logical, fixed: bool) -> Convert | None:
    """The conversion; None where the value is already the column's."""
    match logical.name:
        case "decimal":
            return None
        case "date":
            return _date
        case "duration":
            return _duration
        case "uuid":
            return _uuid if fixed else None
        case "time-millis" | "time-micros":
            return lambda number: _time_of_day(number, _per_second(logical))
        case "timestamp-nanos" | "local-timestamp-nanos":
            return _of_nanos
        case _:
            return lambda number: _timestamp(number, _per_second(logical))


def _per_second(logical: Logical) -> int:
    return _PER_SECOND[logical.name.rpartition("-")[2]]


def _date(days: Column) -> Column:
    return F.when(days.between(_FIRST_DAY, _LAST_DAY), F.date_from_unix_date(days))


def _timestamp(number: Column, per_second: int) -> Column:
    first, last = _FIRST_SECOND * per_second, (_LAST_SECOND + 1) * per_second - 1
    made = F.timestamp_millis(number) if per_second == 1_000 else F.timestamp_micros(number)
    return F.when(number.between(first, last), made)


def _of_nanos(number: Column) -> Column:
    """Digits beyond microseconds are cut; every long is in years that a column holds."""
    whole = F.floor(number.cast("decimal(20,0)") / F.lit(1_000).cast("decimal(4,0)"))
    return F.timestamp_micros(whole.cast("bigint"))


def _time_of_day(number: Column, per_second: int) -> Column:
    moment = _timestamp(number.cast("bigint"), per_second)
    text = F.when(number % per_second == 0, F.date_format(moment, "HH:mm:ss")).otherwise(
        F.date_format(moment, "HH:mm:ss.SSSSSS")
    )
    return F.when(number.between(0, _A_DAY * per_second - 1), text)


def _duration(data: Column) -> Column:
    parts = [_unsigned(data, 4 * place).alias(name) for place, name in enumerate(DURATION)]
    return F.when(data.isNotNull(), F.struct(*parts))


def _unsigned(data: Column, start: int) -> Column:
    """Four bytes from there, the lowest first."""
    turned = [F.substring(data, start + place, 1) for place in (4, 3, 2, 1)]
    return F.conv(F.hex(F.concat(*turned)), 16, 10).cast("bigint")


def _uuid(data: Column) -> Column:
    return hyphenated(F.lower(F.hex(data)))
