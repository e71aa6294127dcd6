"""State rows: what a span makes of a state table: the rows to write, and how many of each kind."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.port import RowWithoutKey
from sluice.lake.state.both_tables import BothTables
from sluice.lake.state.kept_rows import kept
from sluice.lake.state.newest_rows import NewestRows
from sluice.lake.state.order import place
from sluice.lake.state.places import Places
from sluice.lake.state.same_rows import same_values, without_equal
from sluice.lake.state.truncations import truncation_of
from sluice.state_table.counts import StateCounts
from sluice.state_table.rules import DELETED

_KINDS = ("inserted", "updated", "deleted", "stale")
_SHOWN = 5
# So many rows are sent to each task rather than sorted with those of a table.
FEW = 200_000
Made = tuple[DataFrame, StateCounts]
"""Rows for the state table, one for each key; one whose `_deleted` is null takes its key away."""


@dataclass(frozen=True)
class StateRows:
    """What a span makes of the state table.

    Raises RowWithoutKey and NoOrder.
    """

    tables: BothTables

    @cached_property
    def newest(self) -> NewestRows:
        """How the newest rows are found."""
        tables = self.tables
        return NewestRows(tables.order, tables.log_columns, truncation_of(tables))

    def appended(self) -> Made:
        """The newest rows of what was added, where they are newer than the state's."""
        newest, added = self.newest, self.tables.added()
        now = self._now(newest.fillable_names, newest.keys_in(added), self.tables.attempt.span.rows)
        found = newest.of(added, now)
        is_known = F.col("now_order").isNotNull()
        is_newer = ~is_known | (F.col("newest") > F.col("now_order"))
        # The state does not say which of its values were filled; the log does.
        is_late = F.expr("coalesce(oldest < now_order, false)" if newest.fillable else "false")
        kind = F.when(~is_newer & ~is_late, "stale").when(F.col("row")[DELETED], "deleted")
        kind = kind.when(is_known, "updated").otherwise("inserted")
        found = found.withColumns({"kind": kind, "late": is_late})
        judged = kept(found.drop("newest", "oldest", "now_order"))
        counts = self._counts(judged, added)
        Places(self.tables, newest).require_order(judged)
        if counts.changed <= FEW:
            # One file is written, and not one for each task that read: every later look opens it.
            judged = F.broadcast(judged.coalesce(1))
        newer = judged.where(newest.keyed() & (F.col("kind") != "stale"))
        if not newest.fillable:
            return newer.select("row.*"), counts
        late = judged.where(newest.keyed() & F.col("late")).select(*newest.keys)
        from_log = newest.of(self._rows_of(late)).select(newest.filled().alias("row"))
        filled = newer.where(~F.col("late")).select(newest.filled("now_row").alias("row"))
        return filled.unionAll(from_log).select("row.*"), counts

    def rewritten(self) -> Made:
        """The rows of the keys of what was removed or added, from the whole log."""
        newest, columns = self.newest, self.tables.log_columns
        before, after = self.tables.removed(), self.tables.added()
        gone, come = without_equal(before, after, columns), without_equal(after, before, columns)
        touched = newest.keys_in(gone).unionAll(newest.keys_in(come))
        keys = kept(touched.where(newest.keyed()).distinct())
        found = newest.of(self._rows_of(keys)).withColumn("row", newest.filled()).alias("found")
        now = self._now([each.name for each in self.tables.columns], keys, keys.count())
        now = now.alias("now")
        each_key = keys.alias("key").join(found, newest.on_key("key", "found"), "left")
        joined = each_key.join(now, newest.on_key("key", "now"), "left")
        others = (f"found.{name}" for name in found.columns if name not in newest.keys)
        judged = joined.select("key.*", *others, *newest.beside("now"))
        judged = kept(judged.withColumn("kind", self._kind()))
        counts = self._counts(judged, come)
        Places(self.tables, newest).require_order(judged)
        return self._with_those_gone(judged.where(F.col("kind") != "stale")), counts

    def everything(self) -> Made:
        """All rows, from the whole log."""
        newest, log = self.newest, self.tables.log()
        kind = F.when(F.col("row")[DELETED], "deleted").otherwise("inserted")
        judged = kept(newest.of(log).withColumn("kind", kind))
        counts = self._counts(judged, log)
        Places(self.tables, newest).require_order(judged)
        filled = judged.where(newest.keyed()).select(newest.filled().alias("row"))
        return filled.select("row.*"), counts

    def _now(self, names: list[str], of: DataFrame, count: int | None) -> DataFrame:
        """The state's rows of these keys: the key, `now_order`, and in `now_row` these columns.

        They are those of the version that the span was judged by: a later one may lack keys that
        were collected since. Where the keys are many, those of others are among them: to find out
        which would cost as much as what is asked of them.
        """
        stored = self.newest.stored(self.tables.state_before(), names)
        if count is None or count > FEW:
            return stored
        return stored.join(F.broadcast(of), self.newest.keys, "left_semi")

    def _rows_of(self, keys: DataFrame) -> DataFrame:
        """The rows of the whole log that have one of the keys."""
        log = self.tables.log().alias("log")
        on = F.expr(" AND ".join(self.newest.order.key_is("log", "key")))
        return log.join(keys.alias("key"), on, "left_semi")

    def _kind(self) -> SparkColumn:
        """What becomes of a key that was computed anew."""
        row, now = F.col("row"), F.col("now_row")
        same = F.expr(same_values("row", "now_row", self.tables.columns))
        return (
            F.when(row.isNull(), F.when(now.isNull(), "stale").otherwise("deleted"))
            .when(now.isNotNull() & same, "stale")
            .when(row[DELETED], "deleted")
            .when(now.isNull(), "inserted")
            .otherwise("updated")
        )

    def _with_those_gone(self, judged: DataFrame) -> DataFrame:
        """The rows to write; for a key that is gone, one with nothing but the key."""
        newest = self.newest
        at = {name: key for key, name in zip(newest.keys, newest.key, strict=True)}
        values = [
            F.when(F.col("row").isNotNull(), F.col("row")[each.name])
            .otherwise(F.col(at[each.name]) if each.name in at else F.lit(None))
            .alias(each.name)
            for each in self.tables.columns
        ]
        return judged.select(*values)

    def _counts(self, judged: DataFrame, source: DataFrame) -> StateCounts:
        """What the rows are. Raises RowWithoutKey, with some places of the source's rows."""
        keyed, rewritten = self.newest.keyed(), self.tables.attempt.span.kind == "rewritten"
        told = (
            judged.agg(
                *(_sum(F.when(keyed & (F.col("kind") == name), 1)).alias(name) for name in _KINDS),
                _sum(F.when(keyed, F.col("rows") - 1)).alias("superseded"),
                _sum(F.when(~keyed, F.col("rows"))).alias("unkeyed"),
            )
            .collect()[0]
            .asDict()
        )
        if rewritten:
            unkeyed = source.where(~self.newest.keyed_rows())
            told |= {"superseded": 0, "unkeyed": unkeyed.count()}
        if told["unkeyed"] and not self.tables.attempt.rules.ignores_unkeyed:
            where = F.expr(place()).alias("place")
            some = source.where(~self.newest.keyed_rows()).select(where).limit(_SHOWN).collect()
            shown = ", ".join(sorted(str(each["place"]) for each in some))
            raise RowWithoutKey(f"{told['unkeyed']:,} rows, such as {shown}")
        return StateCounts(**told)


def _sum(column: SparkColumn) -> SparkColumn:
    return F.coalesce(F.sum(column), F.lit(0)).cast("long")
