"""Places: whether rows of one key are in places that offsets do not order.

Offsets order the rows of a partition, and ranks the topics that had one name, as far as they are
known. Between two partitions of one topic, or two topics, there is no order but one that the spec
names.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.port import NoOrder, TruncationWithoutOrder
from sluice.lake.state.both_tables import BothTables
from sluice.lake.state.newest_rows import NewestRows

_SHOWN = 3


@dataclass(frozen=True)
class Places:
    """Where the rows of keys are in the log."""

    tables: BothTables
    newest: NewestRows

    def require_order(self, judged: DataFrame) -> None:
        """Raises NoOrder, with both places, where rows of a key have none.

        Raises TruncationWithoutOrder where keys have rows and there is a truncation, too.

        Only of keys whose rows, or whose row in the state, are in several places the log is asked.
        """
        if self.newest.order.rules.is_ordered:
            return
        self._require_no_truncation(judged)
        unordered = self.unordered(judged.withColumn("apart", self.are_several(judged)))
        if unordered is not None and (found := unordered.limit(_SHOWN).collect()):
            shown = "; ".join(f"one in {each['low']} and {each['high']}" for each in found)
            raise NoOrder(shown)

    def are_several(self, judged: DataFrame) -> SparkColumn:
        """Whether the rows of a key are in several places, of which the log must tell the order."""
        if self.newest.order.rules.is_ordered:
            return F.lit(False)
        return self.newest.keyed() & self.newest.is_in_several_places(judged)

    def unordered(self, judged: DataFrame) -> DataFrame | None:
        """The keys whose rows have no order, each with two places; None if none is `apart`."""
        keys = judged.where("apart").select(*self.newest.keys)
        return None if keys.isEmpty() else self._without_order(keys)

    def _require_no_truncation(self, judged: DataFrame) -> None:
        place = self.tables.attempt.commit.truncation
        if place is None or judged.where(self.newest.keyed() & F.col("row").isNotNull()).isEmpty():
            return
        of_it = self.tables.log().where(F.col("_topic_id") == place.topic_id)
        found = of_it.select("_topic").limit(1).collect()
        topic = found[0]["_topic"] if found else "?"
        raise TruncationWithoutOrder(
            f"{topic}[{place.partition}]@{place.offset} (topic id {place.topic_id})"
        )

    def _without_order(self, keys: DataFrame) -> DataFrame:
        """The keys that have two partitions of one topic id, two topics, or a row whose topic id
        has no known order among others.
        """
        log, order = self.tables.log().alias("log"), self.newest.order
        on = F.expr(" AND ".join(order.key_is("log", "key")))
        place = "format_string('%s[%d]@%d (topic id %s)', _topic, _partition, _offset, _topic_id)"
        partition = "struct(_topic, _topic_id, _partition)"
        row = "struct(_topic, _topic_id, _partition, _offset)"
        counted = (
            log.join(keys.alias("key"), on)
            .groupBy(*(f"key.{name}" for name in self.newest.keys))
            .agg(
                F.expr("count(DISTINCT _topic)").alias("topics"),
                F.expr("count(DISTINCT _topic_id)").alias("ids"),
                F.expr(f"count(DISTINCT {partition})").alias("partitions"),
                F.expr(f"bool_or({order.place} IS NULL)").alias("unplaced"),
                F.expr(f"collect_set({order.place})").alias("places"),
                F.expr("max(_topic)").alias("topic"),
                F.expr(f"min_by({place}, {row})").alias("low"),
                F.expr(f"max_by({place}, {row})").alias("high"),
            )
        )
        apart = f"unplaced OR {order.clash('topic', 'places')}"
        return counted.where(f"topics > 1 OR partitions > ids OR (ids > 1 AND ({apart}))")
