"""Event parts: what a change event is read as, and the columns that are made of it.

In Scala: jobs/jvm/records/Changes.scala, which leaves of the row's two states the one that counts.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from sluice.columns.change_events import OURS, PARTS
from sluice.lake.decoding.since_1970 import since_1970

_STATES = PARTS[2:]
# The ops whose event has the row as it became.
_KEPT = ("c", "u", "r")
_SHOWN = 40


def event_struct(row: T.StructType, as_text: bool) -> T.StructType:
    """An event's parts, of which the row has these fields, or is `as_text` the one of them."""
    state = row[0].dataType if as_text else row
    states = [T.StructField(each, state, metadata={"as": each}) for each in _STATES]
    op = T.StructField("op", T.StringType(), metadata={"as": "op", "event": True})
    return T.StructType([op, T.StructField("source", T.StringType()), *states])


def row_of(read: Column, as_text: str | None) -> Column:
    """The state of the row that the event is about; `as_text` is the name of its one field."""
    state = F.coalesce(read["after"], read["before"])
    return state if as_text is None else F.struct(state.alias(as_text))


def has_row(read: Column) -> Column:
    """Whether the event is about a row that is there, and whole."""
    return read["op"].isin(*_KEPT)


def marks_of(read: Column) -> Iterator[tuple[str, Column, Column | None]]:
    """The columns beside the row's: name, value, and why there is no value."""
    source = read["source"]
    micros, millis = (F.get_json_object(source, f"$.{each}") for each in ("ts_us", "ts_ms"))
    at = F.coalesce(
        since_1970("us", micros.try_cast("bigint")), since_1970("ms", millis.try_cast("bigint"))
    )
    op, whole, time = OURS
    given = F.substring(F.coalesce(micros, millis), 1, _SHOWN)
    told = F.concat(F.lit(f"{time}: expected TIMESTAMP, found "), given)
    yield op, read["op"], None
    yield whole, source, None
    yield time, at, F.when(at.isNull(), told)
