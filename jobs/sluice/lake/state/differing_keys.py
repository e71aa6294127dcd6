"""Differing keys: those whose row in the state table is not the one that the log says."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sluice.lake.port import Difference
from sluice.lake.state.both_tables import BothTables
from sluice.lake.state.kept_rows import kept
from sluice.lake.state.newest_rows import NewestRows
from sluice.lake.state.places import Places
from sluice.lake.state.same_rows import same_values
from sluice.lake.state.truncations import truncation_of
from sluice.state_table.rules import DELETED


def differing_keys(tables: BothTables, most: int) -> Difference:
    """How many there are, and up to so many of them with what is wrong.

    A deleted key that the state lacks was collected: it does not differ. Keys whose rows have no
    order are left out.
    """
    newest = NewestRows(tables.order, tables.log_columns, truncation_of(tables))
    places = Places(tables, newest)
    found = kept(_compared(tables, newest, places).where("apart OR wrong IS NOT NULL"))
    wrong, unordered = found.where("wrong IS NOT NULL"), places.unordered(found)
    if unordered is not None:
        unordered = kept(unordered)
        wrong = wrong.join(unordered, newest.keys, "left_anti")
    some = wrong.orderBy("key").limit(most).collect()
    shown = tuple(f"{each['key']}: {each['wrong']}" for each in some)
    return Difference(wrong.count(), shown, 0 if unordered is None else unordered.count())


def _compared(tables: BothTables, newest: NewestRows, places: Places) -> DataFrame:
    """Each key of both: its columns, `key` as JSON, what is `wrong`, and `apart`: whether its rows
    are in several places.
    """
    names = [each.name for each in tables.columns]
    computed = newest.of(tables.log()).where(newest.keyed())
    row, apart = newest.filled().alias("row"), places.are_several(computed).alias("apart")
    log = computed.select(*newest.keys, row, apart).alias("log")
    stored = newest.stored(tables.state_before(), names)
    counted = stored.groupBy(*newest.keys).agg(
        F.count(F.lit(1)).alias("copies"), F.first("now_row").alias("now_row")
    )
    both = log.join(counted.alias("now"), newest.on_key("log", "now"), "full_outer")
    same = F.expr(same_values("row", "now_row", tables.columns))
    in_log, in_state = F.col("row").isNotNull(), F.col("now_row").isNotNull()
    wrong = (
        F.when(~in_log, "the log has no row of it")
        .when(~in_state & ~F.col("row")[DELETED], "the state has no row of it")
        .when(in_state & (F.col("copies") > 1), "the state has several rows of it")
        .when(in_state & ~same, "its row is another")
    )
    keys = [F.coalesce(F.col(f"log.{e}"), F.col(f"now.{e}")) for e in newest.keys]
    shown = F.struct(*(key.alias(name) for key, name in zip(keys, newest.key, strict=True)))
    return both.select(
        *(key.alias(name) for key, name in zip(keys, newest.keys, strict=True)),
        F.to_json(shown).alias("key"),
        wrong.alias("wrong"),
        F.coalesce("apart", F.lit(False)).alias("apart"),
    )
