"""Statistics: what the log says of the rows of a data file, as Delta with Spark counts it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Delta cuts text at so many of Java's characters; a cut maximum gets a character behind all others.
_LONGEST = 32
_BEHIND_ASCII, _BEHIND_ALL = "\x7f", "\U0010ffff"


def statistics(rows: pa.Table, columns: Iterable[str]) -> str:
    """The `stats` of a file with these rows, of these columns."""
    least: dict[str, Any] = {}
    greatest: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    wanted = set(columns)
    for name in (each for each in rows.column_names if each in wanted):
        values = rows[name]
        nulls[name] = values.null_count
        if values.null_count == len(values) or not _is_compared(values.type):
            continue
        found = pc.min_max(values).as_py()
        if pa.types.is_float32(values.type):
            found = {key: float(str(np.float32(each))) for key, each in found.items()}
        least[name] = _shown(found["min"], cut_behind=False)
        greatest[name] = _shown(found["max"], cut_behind=True)
    told = {"numRecords": len(rows), "minValues": least, "maxValues": greatest, "nullCount": nulls}
    return json.dumps(told, separators=(",", ":"), ensure_ascii=False)


def _is_compared(kind: pa.DataType) -> bool:
    return not (pa.types.is_boolean(kind) or pa.types.is_binary(kind) or pa.types.is_nested(kind))


def _shown(value: Any, *, cut_behind: bool) -> Any:
    match value:
        case datetime():
            return f"{value:%Y-%m-%dT%H:%M:%S}.{value.microsecond // 1000:03d}Z"
        case date():
            return value.isoformat()
        case Decimal():
            return float(value)
        case str():
            return _cut(value, cut_behind)
    return value


def _cut(text: str, behind: bool) -> str:
    units = text.encode("utf-16-le")
    if len(units) // 2 <= _LONGEST:
        return text
    kept = units[: 2 * _LONGEST].decode("utf-16-le", errors="ignore")
    if not behind:
        return kept
    following = text[len(kept)]
    return kept + (_BEHIND_ASCII if following <= _BEHIND_ASCII else _BEHIND_ALL)
