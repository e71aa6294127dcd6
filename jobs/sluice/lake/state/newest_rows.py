"""Newest rows: of each key the row that is greatest in order, with what else is to be known.

A column whose value is unavailable has that of the next older row. Each row is one struct, so that
no name of a column is in the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from operator import or_

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.columns.columns import Column, ColumnType
from sluice.columns.names import quoted
from sluice.derived.written_values import text_of
from sluice.lake.state.order import Order
from sluice.state_table.placeholders import Placeholder, placeholders
from sluice.state_table.rules import DELETED

_PLACES = {"topics": "_topic", "partitions": "_partition", "topic_ids": "_topic_id"}


@dataclass(frozen=True)
class NewestRows:
    """How the newest rows are found in rows with these columns of the log.

    `truncation` is one row, with the order of what deletes all keys below it.
    """

    order: Order
    columns: tuple[Column, ...]
    truncation: DataFrame | None = None

    def of(self, rows: DataFrame, now: DataFrame | None = None) -> DataFrame:
        """A row for each key, and one for all without a key:

        `k0` and so on, its key; `row`, the newest row with `_deleted`, and `newest`, its order;
        `rows`, how many; `f0` and so on, see `filled`, and `oldest`, the order of the last, where
        a value may be unavailable; where the rows have no order by columns, `topics`, `partitions`
        and `topic_ids`, the least and the greatest, and `unplaced`, whether the order of one among
        other topic ids may be unknown.

        With `now`, rows of the state that are `stored`, beside it what they say of its key: to
        group both at once sorts a million rows once, where a join sorts them twice.
        """
        with_all = rows.withColumn(DELETED, F.expr(self.order.deleted))
        row = F.struct(*(F.col(quoted(name)) for name in self.names))
        order = F.expr(self.order.of()).alias("order")
        known = with_all.select(*self._key(), row.alias("row"), order)
        if now is not None:
            # Sorted only behind the shuffle: before it, there is nothing to group in the state.
            known = known.unionByName(now, allowMissingColumns=True).repartition(*self.keys)
        found = known.groupBy(*self.keys).agg(
            F.max_by("row", "order").alias("row"),
            F.count("order").alias("rows"),
            *self._places(),
            *self._available(),
            *(F.first(name, ignorenulls=True).alias(name) for name in self._now if now is not None),
        )
        found = found.where("rows > 0").withColumn("newest", F.expr(self.order.of("row")))
        if self.truncation is None:
            return found
        is_below = F.col("newest") < F.col("truncation")
        deleted = F.col("row").withField(DELETED, F.col("row")[DELETED] | is_below)
        both = found.crossJoin(F.broadcast(self.truncation))
        return both.withColumn("row", deleted).drop("truncation")

    def _places(self) -> Iterator[SparkColumn]:
        if self.order.rules.is_ordered:
            return
        for name, column in _PLACES.items():
            value = F.col("row")[column]
            yield F.struct(F.min(value).alias("least"), F.max(value).alias("most")).alias(name)
        yield F.bool_or(F.expr(self.order.may_lack_place("row._topic_id"))).alias("unplaced")

    @property
    def key(self) -> tuple[str, ...]:
        """The columns of the key."""
        return self.order.rules.key

    @property
    def names(self) -> list[str]:
        """The columns of a row."""
        return [*(each.name for each in self.columns), DELETED]

    @property
    def fillable(self) -> list[Column]:
        """The columns whose values may be unavailable."""
        told = self.order.rules.unavailable
        if told is None:
            return []
        kept = {*self.key, "_topic", "_topic_id", "_key"}
        return [e for e in self.columns if e.name not in kept and placeholders(e.type, told)]

    def _available(self) -> Iterator[SparkColumn]:
        """The newest value of each such column that is available, in a struct; null for none."""
        if self.fillable:
            yield F.min("order").alias("oldest")
        for at, each in enumerate(self.fillable):
            value = F.col("row")[each.name]
            is_there = F.when(~self._is_unavailable(each, value), F.col("order"))
            yield F.max_by(F.struct(value.alias("value")), is_there).alias(f"f{at}")

    def _is_unavailable(self, column: Column, value: SparkColumn) -> SparkColumn:
        there = placeholders(column.type, self.order.rules.unavailable or "")
        found = (_is_placeholder(value, each, column.type) for each in there)
        return F.coalesce(reduce(or_, found), F.lit(False))

    def filled(self, before: str | None = None) -> SparkColumn:
        """The newest row, with what is unavailable in it from the next older row.

        `before` is the column with the row of the state, which is older than all; without one,
        there is no older row, and the value is null.
        """
        if not self.fillable:
            return F.col("row")
        at = {each.name: (number, each) for number, each in enumerate(self.fillable)}
        values = [self._value(name, at.get(name), before).alias(name) for name in self.names]
        return F.struct(*values)

    def _value(
        self, name: str, fillable: tuple[int, Column] | None, before: str | None
    ) -> SparkColumn:
        value = F.col("row")[name]
        if fillable is None:
            return value
        number, column = fillable
        older = F.lit(None) if before is None else F.col(before)[name]
        found = F.when(F.col(f"f{number}").isNotNull(), F.col(f"f{number}.value")).otherwise(older)
        return F.when(self._is_unavailable(column, value), found).otherwise(value)

    @property
    def fillable_names(self) -> list[str]:
        """Their names."""
        return [each.name for each in self.fillable]

    @property
    def keys(self) -> list[str]:
        """What the columns of the key are called here."""
        return [f"k{at}" for at in range(len(self.key))]

    def keys_in(self, rows: DataFrame) -> DataFrame:
        """The keys of rows of the log, as they are called here, as often as they are there."""
        return rows.select(*self._key())

    def _key(self) -> list[SparkColumn]:
        return [F.col(quoted(e)).alias(key) for key, e in zip(self.keys, self.key, strict=True)]

    def keyed(self) -> SparkColumn:
        """Whether no part of the key is null."""
        return _all_there(self.keys)

    def keyed_rows(self) -> SparkColumn:
        """The same of a row of the log."""
        return _all_there(map(quoted, self.key))

    def on_key(self, one: str, other: str) -> SparkColumn:
        """Whether the rows of both have one key."""
        return F.expr(" AND ".join(f"{one}.{name} = {other}.{name}" for name in self.keys))

    def stored(self, state: DataFrame, names: list[str]) -> DataFrame:
        """The rows of a state table: their keys; `now_order`; `now_row`, these columns of them,
        null where the table lacks one; and, where rows have no order by columns, `now_at`: topic,
        partition and topic id.
        """
        there, types = {*state.columns}, {each.name: each.type for each in self.columns}
        values = [
            F.col(quoted(name)) if name in there else F.lit(None).cast(str(types[name])).alias(name)
            for name in names
        ]
        return state.select(
            *self._key(),
            F.expr(self.order.of()).alias("now_order"),
            (F.struct(*values) if values else F.lit(None)).alias("now_row"),
            F.struct(*_PLACES.values()).alias("now_at"),
        ).select(*self.keys, *self._now)

    @property
    def _now(self) -> list[str]:
        places = [] if self.order.rules.is_ordered else ["now_at"]
        return ["now_order", "now_row", *places]

    def beside(self, table: str) -> list[str]:
        """What is kept of a row of the state table beside the newest row of its key."""
        return [f"{table}.{name}" for name in self._now]

    def is_in_several_places(self, judged: DataFrame) -> SparkColumn:
        """Whether the rows of a key, with that in the state if it is known, have several places.

        Several topic ids are one place where the order of their rows is known.
        """
        with_now = "now_at" in judged.columns
        several = {name: self._several(name, column, with_now) for name, column in _PLACES.items()}
        unplaced = F.col("unplaced")
        if with_now:
            unplaced = unplaced | F.expr(self.order.may_lack_place("now_at._topic_id"))
        return several["topics"] | several["partitions"] | (several["topic_ids"] & unplaced)

    def _several(self, name: str, column: str, with_now: bool) -> SparkColumn:
        least, most = F.col(name)["least"], F.col(name)["most"]
        found = F.coalesce(least != most, F.lit(False))
        if with_now:
            found = found | F.coalesce(F.col("now_at")[column] != most, F.lit(False))
        return found


def _is_placeholder(value: SparkColumn, wanted: Placeholder, column: ColumnType) -> SparkColumn:
    if isinstance(wanted, Mapping):
        # Maps cannot be compared.
        both = (
            F.struct(_literal(k).alias("key"), _literal(v).alias("value"))
            for k, v in wanted.items()
        )
        return F.map_entries(value) == F.array(*both)
    return value == _literal(wanted).cast(str(column))


def _literal(value: Placeholder | int) -> SparkColumn:
    if isinstance(value, list):
        return F.array(*map(_literal, value))
    if isinstance(value, bytes):
        return F.expr(f"X'{value.hex()}'")
    return F.expr(text_of(value).sql) if isinstance(value, str) else F.lit(value)


def _all_there(names: Iterable[str]) -> SparkColumn:
    found = F.lit(True)
    for name in names:
        found = found & F.col(name).isNotNull()
    return found
