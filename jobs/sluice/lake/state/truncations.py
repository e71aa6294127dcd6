"""Truncations: events that delete all keys below them, and the greatest of them in the log.

Their greatest decides alone. Where a span adds or removes some, all rows are computed anew, and the
commit says where it is; any other span reads that one row by its place.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.derived.written_values import text_of
from sluice.lake.state.both_tables import BothTables
from sluice.lake.state.same_rows import without_equal
from sluice.state_table.commits import RowPlace


def with_truncations(tables: BothTables) -> BothTables:
    """The same with the attempt that the span's truncations ask for."""
    attempt = tables.attempt
    if not attempt.rules.of_events:
        return tables
    only = replace(tables, truncations=True)
    if attempt.span.kind != "everything" and not _changed(only):
        return tables
    return replace(tables, attempt=attempt.from_everything(_greatest(only)))


def truncation_of(tables: BothTables) -> DataFrame | None:
    """One row, with the order of the greatest truncation in `truncation`; None if there is none."""
    place = tables.attempt.commit.truncation
    if place is None:
        return None
    here = (
        f"_topic_id = {text_of(place.topic_id).sql} AND _partition = {place.partition}"
        f" AND _offset = {place.offset}"
    )
    order = F.expr(tables.order.of()).alias("truncation")
    return replace(tables, truncations=True).log().where(here).select(order).limit(1)


def _changed(truncations: BothTables) -> bool:
    """Whether the span added some or removed some; those that were written anew stay."""
    before, after = truncations.removed(), truncations.added()
    if not truncations.attempt.span.removed:
        return not after.isEmpty()
    columns = truncations.log_columns
    gone, come = without_equal(before, after, columns), without_equal(after, before, columns)
    return not (gone.isEmpty() and come.isEmpty())


def _greatest(truncations: BothTables) -> RowPlace | None:
    place = F.struct("_topic_id", "_partition", "_offset")
    order = F.expr(truncations.order.of())
    (found,) = truncations.log().agg(F.max_by(place, order).alias("place")).collect()
    return None if found["place"] is None else RowPlace(*found["place"])
