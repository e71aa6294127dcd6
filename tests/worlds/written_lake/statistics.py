"""Statistics: what the log says of the rows of a data file, as Delta with Spark counts it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Delta cuts text at so many of Java's characters; a cut maximum gets a character behind all others.
_LONGEST = 32
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)
# The Gregorian calendar repeats itself after 400 years.
_CYCLE = 146_097 * 24 * 3600 * 1000
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
        if pa.types.is_timestamp(values.type):
            bounds = pc.min_max(values.cast(pa.int64())).as_py()
            least[name], greatest[name] = (_moment(bounds[each]) for each in ("min", "max"))
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


def _moment(microseconds: int) -> str:
    """Java writes a year beyond 9999 with a sign, and Python has no such moment."""
    milliseconds = microseconds // 1000
    cycles = max(0, milliseconds - _LAST) // _CYCLE + (milliseconds > _LAST)
    moment = _EPOCH + timedelta(milliseconds=milliseconds - cycles * _CYCLE)
    year = moment.year + 400 * cycles
    return f"{'+' * (year > 9999)}{year:04d}-{moment:%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def _shown(value: Any, *, cut_behind: bool) -> Any:
    match value:
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
