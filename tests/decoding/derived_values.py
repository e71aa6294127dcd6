"""What Spark gives for expressions of derived columns, each with a value of its own."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sluice.columns.columns import parse_columns
from sluice.derived.casts import TIMESTAMP
from sluice.derived.derived_columns import DerivedColumn, derived_columns
from sluice.lake.decoding.column_types import struct_type

# An expression over x, the type of x, its value, and what the expression gives.
Value = tuple[str, str, Any, Any]


def given(spark: SparkSession, values: list[Value]) -> list[Any]:
    """What Spark answers: each value is a column of its own, in one row."""
    columns = parse_columns(", ".join(f"x{n} {value[1]}" for n, value in enumerate(values)))
    texts = {
        f"y{n}": re.sub(r"\bx\b", f"x{n}", text, count=1) for n, (text, *_) in enumerate(values)
    }
    rows = spark.createDataFrame([tuple(value[2] for value in values)], struct_type(columns))
    found = derived_columns(texts, columns)
    (row,) = rows.localCheckpoint().select(*map(plain, found)).collect()
    return [bytes(each) if isinstance(each, bytearray) else each for each in row]


def plain(column: DerivedColumn) -> Any:
    """Python has no local time for the first moment of all."""
    found = F.expr(column.sql)
    return F.unix_micros(found) if column.type == TIMESTAMP else found


def micros(value: Any) -> Any:
    since = value - datetime(1970, 1, 1, tzinfo=UTC) if isinstance(value, datetime) else None
    return value if since is None else since // timedelta(microseconds=1)
