"""One type system: values as JSON text, the column they are for, and what lands there.

Every format's tests may take the rows that its encoding can express: whatever brings the value,
the same one lands, or the record is undecodable (NO).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from tests.decoding.decoding_table import NO


class Row(NamedTuple):
    """A column's type, a value as JSON text, and the value in the table: naive UTC for times."""

    type: str
    text: str
    value: Any


def _integers() -> Iterator[Row]:
    for name, bits in (("TINYINT", 8), ("SMALLINT", 16), ("INT", 32), ("BIGINT", 64)):
        top = 2 ** (bits - 1)
        yield from (Row(name, str(each), each) for each in (0, 1, -1, top - 1, -top))
        yield from (Row(name, str(each), NO) for each in (top, -top - 1, 2 * top - 1))
        yield from (Row(name, each, NO) for each in ("1.0", "1e0", '"1"', "true"))


_TIMES = {
    "1970-01-01T00:00:00Z": datetime(1970, 1, 1),
    "1969-12-31T23:59:59.999999Z": datetime(1969, 12, 31, 23, 59, 59, 999999),
    "0001-01-01T00:00:00Z": datetime(1, 1, 1),
    "9999-12-31T23:59:59.999999Z": datetime(9999, 12, 31, 23, 59, 59, 999999),
    "2013-01-01T05:00:00+05:30": datetime(2012, 12, 31, 23, 30),
    "2013-01-01T05:00:00.123456789Z": datetime(2013, 1, 1, 5, 0, 0, 123456),
    "0000-12-31T23:59:59Z": NO,
    "2013-02-30T05:00:00Z": NO,
}
_DATES = {
    "1970-01-01": date(1970, 1, 1),
    "0001-01-01": date(1, 1, 1),
    "1582-10-10": date(1582, 10, 10),
    "2012-02-29": date(2012, 2, 29),
    "9999-12-31": date(9999, 12, 31),
    "0000-01-01": NO,
    "2013-02-29": NO,
}
_OTHER = [
    Row("BOOLEAN", "true", True),
    Row("BOOLEAN", "false", False),
    Row("BOOLEAN", "1", NO),
    Row("FLOAT", "1.5", 1.5),
    Row("FLOAT", "-0.0", -0.0),
    Row("FLOAT", "16777217", 16777216.0),
    Row("FLOAT", "3.4028235e38", 3.4028234663852886e38),
    Row("FLOAT", "3.5e38", NO),
    Row("DOUBLE", "0.1", 0.1),
    Row("DOUBLE", "4.9e-324", 5e-324),
    Row("DOUBLE", "1.7976931348623157e308", 1.7976931348623157e308),
    Row("DOUBLE", "1e400", NO),
    Row("DOUBLE", '"NaN"', NO),
    Row("DECIMAL(5,2)", "1.5", Decimal("1.50")),
    Row("DECIMAL(5,2)", "-999.99", Decimal("-999.99")),
    Row("DECIMAL(5,2)", "1000", NO),
    Row("DECIMAL(5,2)", "1.505", NO),
    Row("DECIMAL(38,0)", "9" * 38, Decimal("9" * 38)),
    Row("DECIMAL(38,0)", "9" * 39, NO),
    Row("DECIMAL(20,0)", "18446744073709551615", Decimal(2**64 - 1)),
    Row("STRING", '""', ""),
    Row("STRING", '"\\u0000"', "\0"),
    Row("STRING", '"\\ud83d\\ude00"', "\U0001f600"),
    Row("STRING", '"e\u0301\u00e9"', "e\u0301\u00e9"),
    Row("STRING", '"\\ud800"', NO),
    Row("BINARY", '""', b""),
    Row("BINARY", '"AP8="', b"\0\xff"),
    Row("BINARY", '"AP8"', NO),
    Row("ARRAY<INT>", "[]", []),
    Row("ARRAY<INT>", "[1,null]", [1, None]),
    Row("ARRAY<INT>", "[1,2147483648]", NO),
    Row("MAP<STRING, INT>", "{}", {}),
    Row("MAP<STRING, INT>", '{"a":1,"":null}', {"a": 1, "": None}),
    Row("MAP<STRING, INT>", '{"a":2147483648}', NO),
    Row("STRUCT<a: INT, b: STRING>", '{"a":1,"b":"x"}', {"a": 1, "b": "x"}),
    Row("STRUCT<a: INT, b: STRING>", '{"b":"x"}', {"a": None, "b": "x"}),
    Row("STRUCT<a: INT, b: STRING>", '{"a":2147483648}', NO),
]

ROWS = [
    *_integers(),
    *(Row("TIMESTAMP", json.dumps(text), each) for text, each in _TIMES.items()),
    *(Row("DATE", json.dumps(text), each) for text, each in _DATES.items()),
    *_OTHER,
]
NULLS = [Row(each, "null", None) for each in dict.fromkeys(row.type for row in ROWS)]
