"""Written types: what a CAST of an expression names. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from sluice.columns.columns import ColumnType, Decimal
from sluice.derived.casts import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    WHOLE,
)

# The grammar has a second word for Spark's TIMESTAMP, and one of its own for STRING.
_SIMPLE: Mapping[exp.DType, ColumnType] = {
    exp.DType.BOOLEAN: BOOLEAN,
    exp.DType.TINYINT: WHOLE[0],
    exp.DType.SMALLINT: WHOLE[1],
    exp.DType.INT: INT,
    exp.DType.BIGINT: BIGINT,
    exp.DType.FLOAT: FLOAT,
    exp.DType.DOUBLE: DOUBLE,
    exp.DType.TEXT: STRING,
    exp.DType.BINARY: BINARY,
    exp.DType.DATE: DATE,
    exp.DType.TIMESTAMP: TIMESTAMP,
    exp.DType.TIMESTAMPTZ: TIMESTAMP,
}


def written_type(named: exp.DataType) -> ColumnType:
    """The type. Raises ValueError with what was found and what is allowed."""
    simple = _SIMPLE.get(named.this)
    if simple is not None and not named.expressions:
        return simple
    if named.this == exp.DType.DECIMAL:
        precision, scale = [*(int(each.name) for each in named.expressions), 10, 0][:2]
        return Decimal(precision, scale if len(named.expressions) != 1 else 0)
    if named.this == exp.DType.VARIANT:
        raise ValueError("found CAST(… AS VARIANT); write try_parse_json(text)")
    allowed = ", ".join(dict.fromkeys(map(str, _SIMPLE.values())))
    raise ValueError(
        f"found CAST(… AS {named.sql(dialect='spark')}); allowed: {allowed}, DECIMAL(p,s)"
    )
