"""Since 1970: numbers that count from its beginning, as days and moments."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MICROS = 1_000_000
# The first and the last second, and day, of the years 1 to 9999, in seconds and days since 1970.
_SECONDS = (-62_135_596_800, 253_402_300_799)
_DAYS = (-719_162, 2_932_896)


def since_1970(unit: str, value: Column) -> Column:
    """The day or moment of a whole number, cut to microseconds; null beyond the years 1 to 9999."""
    if unit == "days":
        return F.date_from_unix_date(F.when(value.between(*_DAYS), value).cast("int"))
    per_second = _PER_SECOND[unit]
    least = max(_SECONDS[0] * per_second, -(2**63))
    most = min((_SECONDS[1] + 1) * per_second, 2**63) - 1
    number = F.when(value.between(F.lit(least), F.lit(most)), value).cast("bigint")
    if per_second <= _MICROS:
        return F.timestamp_micros(number * F.lit(_MICROS // per_second))
    finer = per_second // _MICROS
    # `div` cuts towards zero: a moment before 1970 would become a later one.
    before = F.when(number % finer < 0, 1).otherwise(0)
    return F.timestamp_micros(F.call_function("div", number, F.lit(finer)) - before)
