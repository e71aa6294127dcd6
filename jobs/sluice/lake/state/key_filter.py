"""Key filter: which rows of a state table cannot have one of a few keys, so that no join sees them.

A MERGE that may insert joins every row of its table with its source, from the outside: Spark then
sorts and sends the whole state for a few changes, unless a condition on the table alone leaves most
of its rows out.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from sluice.columns.names import quoted

# Values of these are equal if, and only if, their bytes are: equal keys have one hash.
_EXACT = (
    *("boolean", "tinyint", "smallint", "int", "bigint"),
    *("string", "binary", "date", "timestamp", "timestamp_ntz"),
)


def key_filter(rows: DataFrame, key: Sequence[str], count: int, table: str) -> str:
    """A condition, in SQL, that rows of the table with a key of these rows meet, and few others do.

    `count` is about how many the rows are; `table` is the name of the table. It looks at those
    columns of the key alone whose equality is that of bytes; `true` without one, or without rows.
    """
    types = {each.name: each.dataType.simpleString() for each in rows.schema.fields}
    exact = {name: types[name] for name in key if _is_exact(types[name])}
    if not exact:
        return "true"
    made = rows.selectExpr(f"sluice_key_filter({_hash(exact)}, {max(count, 1)}L) AS made")
    filter_ = made.collect()[0]["made"]
    if filter_ is None:
        return "true"
    return f"sluice_may_hold(X'{bytes(filter_).hex()}', {_hash(exact, f'{table}.')})"


def _hash(exact: dict[str, str], table: str = "") -> str:
    # The same value as INT and as BIGINT has two hashes: a type may have been widened since.
    cast = (f"CAST({table}{quoted(name)} AS {type_})" for name, type_ in exact.items())
    return f"xxhash64({', '.join(cast)})"


def _is_exact(type_: str) -> bool:
    return type_ in _EXACT or type_.startswith("decimal(")
