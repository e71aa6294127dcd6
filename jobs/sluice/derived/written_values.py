"""Written values: the texts, numbers, days and moments in an expression. Pure."""

from __future__ import annotations

import decimal
import re
from datetime import UTC, date, datetime

from sluice.columns.columns import ColumnType, Decimal
from sluice.derived.casts import BIGINT, DATE, DOUBLE, INT, STRING, TIMESTAMP
from sluice.derived.typed import Typed

_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?")


def text_of(text: str) -> Typed:
    """A text. What a backslash means is pinned: spark_keys.EXACT_CONF, escapedStringLiterals."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return Typed(f"'{escaped}'", STRING, text)


def number_of(digits: str, negative: bool) -> Typed:
    """A number: INT or BIGINT, with a point DECIMAL, with an exponent DOUBLE."""
    if not _NUMBER.fullmatch(digits):
        raise ValueError(f"found {digits}; expected a number such as 12, 1.5 or 1e3")
    written = f"-{digits}" if negative else digits
    if "e" in digits.lower():
        if decimal.Decimal(digits) > decimal.Decimal("1e308"):
            raise ValueError(f"found {digits}; expected at most 1e308")
        return Typed(written, DOUBLE)
    if "." in digits:
        _, figures, exponent = decimal.Decimal(digits).as_tuple()
        scale = -int(exponent)
        return Typed(written, Decimal(max(len(figures), scale), scale))
    number = int(written)
    if not -(2**63) < number < 2**63:
        raise ValueError(f"found {written}; expected a BIGINT")
    small = -(2**31) < number < 2**31
    return Typed(written, INT if small else BIGINT, number)


def day_of(text: str) -> Typed:
    """A day such as `DATE '2026-01-31'`."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"found the date {text!r}; expected one such as '2026-01-31'") from None
    return Typed(f"DATE '{found.isoformat()}'", DATE)


def moment_of(text: str) -> Typed:
    """A moment such as `TIMESTAMP '2026-01-31T06:00:00Z'`; without a zone in UTC."""
    try:
        found = datetime.fromisoformat(text)
        moment = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(
            f"found the timestamp {text!r}; expected one such as '2026-01-31T06:00:00Z'"
        ) from None
    return Typed(f"TIMESTAMP '{moment.isoformat()}'", TIMESTAMP)


FIRST_AND_LAST = {
    DATE: (day_of("0001-01-01").sql, day_of("9999-12-31").sql),
    TIMESTAMP: (
        moment_of("0001-01-01T00:00:00Z").sql,
        moment_of("9999-12-31T23:59:59.999999Z").sql,
    ),
}


def within_years(sql: str, kind: ColumnType) -> str:
    """The same days or moments; NULL outside of the years 0001 to 9999, which no column holds."""
    if kind not in FIRST_AND_LAST:
        return sql
    first, last = FIRST_AND_LAST[kind]
    return f"(CASE WHEN ({sql} BETWEEN {first} AND {last}) THEN {sql} END)"
