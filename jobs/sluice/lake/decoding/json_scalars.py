"""Scalars of a JSON record: strict text → typed value, null where it does not fit."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

MICROSECOND_DIGITS = {"s": 6, "ms": 3, "us": 0}

_DATE = r"[0-9]{4}-(?:0[1-9]|1[0-2])-[0-3][0-9]"
_TIME = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_ZONE = r"(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
DATE_TEXT = rf"\A{_DATE}\z"
TIMESTAMP_TEXT = rf"\A{_DATE}[Tt ]{_TIME}(?:\.[0-9]+)?{_ZONE}?\z"
# Forms that Spark's cast reads right, and cheap to match; it refuses what is no date or time. Near
# the first and the last year an offset may lead out of the calendar.
_PLAIN_TIMESTAMP = (
    r"\A(?!0000|(?:0001|9999).*[+-]..:..\z)[0-9]{4}-[0-9]{2}-[0-9]{2}[T ]"
    r"[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]++)?+(?:Z|[+-](?:0[0-9]|1[0-7]):[0-5][0-9])?\z"
)
_TIMESTAMP_PARTS = rf"\A({_DATE})[Tt ]({_TIME})(?:\.([0-9]{{1,6}})[0-9]*+)?+({_ZONE})?\z"
BASE64_TEXT = r"\A(?:[A-Za-z0-9+/]{4})*+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?\z"
_NUMBER_PARTS = r"\A(-?)([0-9]++)(?:\.([0-9]++))?+(?:[eE]([+-]?[0-9]++))?+\z"

_FIRST_SECOND, _LAST_SECOND = -62_135_596_800, 253_402_300_799  # years 0001 to 9999, UTC


def let(value: Column, body: Callable[[Column], Column]) -> Column:
    """`body` applied to `value`, which is computed once."""
    return F.element_at(F.transform(F.array(value), body), 1)


def date_from_text(text: Column) -> Column:
    """A full-date of RFC 3339."""
    return F.when(text.rlike(DATE_TEXT) & ~text.startswith("0000"), text.try_cast("date"))


def plain_timestamp(text: Column) -> Column:
    """A date-time in a usual form; null also for some that RFC 3339 allows."""
    # The session's zone is UTC, and Spark reads a time without a zone faster than with one.
    return F.when(
        text.rlike(_PLAIN_TIMESTAMP), F.substring_index(text, "Z", 1).try_cast("timestamp")
    )


def timestamp_from_text(text: Column) -> Column:
    """A date-time of RFC 3339, UTC if it names no zone; digits beyond microseconds are cut."""
    other = F.when(text.rlike(TIMESTAMP_TEXT), _timestamp_from_parts(text))
    return F.coalesce(plain_timestamp(text), other)


def _timestamp_from_parts(text: Column) -> Column:
    """Computed, because Spark's cast refuses offsets beyond 18 hours and lower-case letters."""
    date, time, fraction, zone = (
        F.regexp_extract(text, _TIMESTAMP_PARTS, group) for group in (1, 2, 3, 4)
    )
    whole = F.unix_micros(F.concat(date, F.lit("T"), time, F.lit("Z")).try_cast("timestamp"))
    micros = whole + F.rpad(fraction, 6, "0").try_cast("bigint") - _offset_micros(zone)
    return let(F.when(~date.startswith("0000"), micros), _within_years)


def _offset_micros(zone: Column) -> Column:
    minutes = F.substring(zone, 2, 2).try_cast("bigint") * 60 + F.substring(zone, 5, 2).try_cast(
        "bigint"
    )
    sign = F.when(zone.startswith("-"), -1).otherwise(1)
    return F.when(F.length(zone) == 6, sign * minutes * 60_000_000).otherwise(F.lit(0))


def timestamp_from_integer(number: Column, unit: str) -> Column:
    """A whole number of the unit since 1970-01-01T00:00:00Z."""
    per_second = 10 ** (6 - MICROSECOND_DIGITS[unit])
    inside = number.between(_FIRST_SECOND * per_second, (_LAST_SECOND + 1) * per_second - 1)
    return F.when(inside, F.timestamp_micros(number * 10 ** MICROSECOND_DIGITS[unit]))


def timestamp_from_number(text: Column, unit: str) -> Column:
    """Any JSON number of the unit; digits beyond microseconds are cut."""

    def micros(number: Column) -> Column:
        digits, shift = number["digits"], number["exponent"] + MICROSECOND_DIGITS[unit]
        places = F.length(digits) + shift
        padded = F.concat(digits, F.repeat(F.lit("0"), F.least(shift, F.lit(20)).cast("int")))
        cut = F.substring(digits, F.lit(1), places.cast("int"))
        whole = F.when(shift >= 0, padded).when(places > 0, cut).otherwise(F.lit("0"))
        signed = F.when(digits == "", F.lit("0")).otherwise(F.concat(number["sign"], whole))
        return F.when((digits == "") | (places <= 18), signed.try_cast("bigint"))

    return let(let(_significand(text), micros), _within_years)


def _within_years(micros: Column) -> Column:
    inside = micros.between(_FIRST_SECOND * 10**6, (_LAST_SECOND + 1) * 10**6 - 1)
    return F.when(inside, F.timestamp_micros(micros))


def decimal_in_text(text: Column, name: str, declared: T.DecimalType) -> Column:
    """A field's number as written in a flat object without escapes; null where unsure.

    In such a text a quoted name is a name or a whole string, and what follows tells which.
    """
    whole, scale = declared.precision - declared.scale, declared.scale
    integer = rf"(?:0|[1-9][0-9]{{0,{whole - 1}}})" if whole else "0"
    fraction = rf"(?:\.[0-9]{{1,{scale}}})?" if scale else ""
    after = F.substring_index(text, f'"{name}"', -1)
    number = F.regexp_extract(after, rf"\A: ?(-?{integer}{fraction}) ?[,}}]", 1)
    return F.when(number != "", number.try_cast(declared))


def decimal_from_number(text: Column, declared: T.DecimalType) -> Column:
    """A JSON number that the declared type holds exactly."""
    whole, scale = declared.precision - declared.scale, declared.scale

    def exact(number: Column) -> Column:
        digits, exponent = number["digits"], number["exponent"]
        fits = (exponent >= -scale) & (F.length(digits) + exponent <= whole)
        text = F.concat(number["sign"], digits, F.lit("E"), exponent.cast("string"))
        return F.when(digits == "", F.lit("0")).when(fits, text).try_cast(declared)

    return let(_significand(text), exact)


def _significand(text: Column) -> Column:
    """Sign, digits without outer zeros, and exponent of ten, so that 0.0120e5 is ("", "12", 2)."""
    sign, whole, fraction, power = (
        F.regexp_extract(text, _NUMBER_PARTS, group) for group in (1, 2, 3, 4)
    )

    def without_zeros(parts: Column) -> Column:
        digits = F.regexp_replace(parts["leading"], r"(?<!0)0++\z", "")
        stripped = F.length(parts["leading"]) - F.length(digits)
        exponent = _power(parts["power"]) + stripped - parts["places"]
        return F.struct(parts["sign"], digits.alias("digits"), exponent.alias("exponent"))

    leading = F.regexp_replace(F.concat(whole, fraction), r"\A0++", "")
    parts = F.struct(
        sign.alias("sign"),
        leading.alias("leading"),
        F.length(fraction).alias("places"),
        power.alias("power"),
    )
    return let(F.when(text.isNotNull(), parts), without_zeros)


def _power(text: Column) -> Column:
    """Beyond twelve digits only the sign matters."""
    most = 10**12
    vast = F.when(text.startswith("-"), F.lit(-most)).otherwise(F.lit(most))
    power = F.coalesce(text.try_cast("bigint"), vast)
    bounded = F.greatest(F.least(power, F.lit(most)), F.lit(-most))
    return F.when(text == "", F.lit(0)).otherwise(bounded)


def binary_from_text(text: Column) -> Column:
    """Base64 of RFC 4648: standard alphabet, padded, nothing in between."""
    return F.when(text.rlike(BASE64_TEXT), F.unbase64(text))
