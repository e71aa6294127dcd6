"""A data table is trusted only while its id, version, fences and batches are the known ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import TableRefused
from sluice.offsets.batches import BatchSequence
from sluice.offsets.receipts import receipt_without_gaps
from sluice.progress.trust import KnownTable, LaneEnds, known_table
from sluice.tables.delta_log import DeltaLog
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.fence import FENCE
from sluice.tables.ownership import OWNER

from tests.unit.builders import batch, history, offsets, sequence

FORWARD, BACKFILL = sequence(), sequence(lane="backfill")
CLOSED = (FORWARD, BACKFILL)
OPEN = (sequence(generation=2), sequence(lane="backfill", generation=2))
SCHEMA = pa.schema([("value", pa.int64())])


def table(folder: Path) -> Path:
    where = folder / "flights"
    DeltaTable.create(
        where, SCHEMA, configuration={OWNER: "flights"}, raise_if_key_not_exists=False
    )
    return where


def commit(where: Path, **numbers: int) -> None:
    """One commit with these transaction versions; the names are lanes of generation 2."""
    named = {"forward": OPEN[0], "backfill": OPEN[1]}
    written = {named[lane].app_id: number for lane, number in numbers.items()}
    append(where, written)


def append(where: Path, versions: dict[str, int]) -> None:
    write_deltalake(
        where,
        pa.table({"value": [1]}, schema=SCHEMA),
        mode="append",
        commit_properties=CommitProperties(
            app_transactions=[Transaction(*each) for each in versions.items()]
        ),
    )


def fence(where: Path, sequences: tuple[BatchSequence, ...] = CLOSED) -> None:
    append(where, {each.app_id: FENCE for each in sequences})


def found(where: Path) -> DeltaSnapshot:
    return DeltaLog(str(where)).snapshot()


def known(where: Path, settled: int = 2, planned: int = 3) -> KnownTable:
    """What the rows say of the table as it is now."""
    now = found(where)
    assert now.version is not None
    lanes = (LaneEnds(OPEN[0], settled, planned), LaneEnds(OPEN[1], 0, 0))
    return KnownTable((str(now.table_id),), now.version, lanes, CLOSED)


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    where = table(tmp_path)
    fence(where)
    commit(where, forward=2)
    return where


def refusal(known: KnownTable, where: Path) -> str:
    with pytest.raises(TableRefused) as refused:
        known.require(found(where))
    return str(refused.value)


def test_the_known_table_is_trusted_and_may_have_grown(flights: Path) -> None:
    before = known(flights)
    before.require(found(flights))
    commit(flights, forward=3)
    DeltaTable(flights).optimize.compact()
    before.require(found(flights))


def test_a_dropped_table_is_refused(flights: Path, tmp_path: Path) -> None:
    before, dropped = known(flights), flights.rename(tmp_path / "dropped")
    text = refusal(before, flights)
    assert f"expected Delta table {DeltaTable(dropped).metadata().id}, found no table" in text
    assert "`sluice recover flights`" in text


def test_another_table_in_its_place_is_refused(flights: Path, tmp_path: Path) -> None:
    before = known(flights)
    flights.rename(tmp_path / "dropped")
    other = table(tmp_path)
    fence(other)
    commit(other, forward=2)
    assert f"found {DeltaTable(other).metadata().id}" in refusal(before, flights)


def test_an_older_copy_is_refused_even_if_it_holds_every_batch_with_a_receipt(
    flights: Path,
) -> None:
    append(flights, {})
    newer = replace(known(flights), version=known(flights).version + 1)
    text = refusal(newer, flights)
    assert "expected version 4 or later, found 3" in text
    assert "`sluice reset flights --to-table`" in text


def test_a_batch_that_landed_in_an_older_copy_does_not_hide_that_the_one_before_it_is_gone(
    flights: Path,
) -> None:
    """Version 3 is some other commit than that of forward-2-2, which the receipt names."""
    mine = known(flights)
    receipt = receipt_without_gaps(replace(batch(offsets(0, 5), number=2), sequence=OPEN[0]), 3)
    before = replace(mine, lanes=(replace(mine.lanes[0], newest=receipt), mine.lanes[1]))
    before.require(found(flights))
    commit(flights, forward=3)
    assert "expected forward-2-2 in version 3, as its receipt says" in refusal(before, flights)
    elsewhere = replace(receipt, batch=replace(receipt.batch, data_table_id="another"))
    replace(mine, lanes=(replace(mine.lanes[0], newest=elsewhere), mine.lanes[1])).require(
        found(flights)
    )


def test_a_lost_fence_is_refused(tmp_path: Path) -> None:
    where = table(tmp_path)
    fence(where, (BACKFILL,))
    commit(where, forward=2)
    text = refusal(known(where), where)
    assert "expected the fences of forward-1, which resets have closed" in text
    assert "backfill-1" not in text


@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 6), st.integers(0, 4))
def test_a_lane_agrees_between_its_last_receipt_and_its_last_plan(
    settled: int, more: int, committed: int, closed: int
) -> None:
    """And it has landed what is closed in quarantine."""
    planned = settled + more
    lane = LaneEnds(FORWARD, settled, planned, closed)
    expected = KnownTable(("known",), 0, (lane,), ())
    if max(settled, closed if planned else 0) <= committed <= planned:
        expected.require(Committed(committed, "known"))
        return
    with pytest.raises(TableRefused) as refused:
        expected.require(Committed(committed, "known"))
    text = str(refused.value)
    if settled <= committed < closed and planned:
        assert f"expected forward-1-{closed}, as its quarantine is closed" in text
        assert "--to-table" in text
    if settled <= committed <= planned:
        return
    assert f"found {f'forward-1-{committed}' if committed else 'no batch'}" in text
    assert f"between {settled} (last receipt) and {planned} (last plan)" in text
    assert ("--to-table" if committed < settled else "sluice recover") in text


class Committed(DeltaSnapshot):
    """A table of which only the last committed batch is known."""

    def __init__(self, number: int, table_id: str | None = None) -> None:
        super().__init__("/w/flights", None)
        self._number, self._id = number, table_id

    @property
    def table_id(self) -> str | None:
        return self._id

    @property
    def version(self) -> int:
        return 0

    def committed(self, sequence: BatchSequence) -> int:
        return self._number


def test_rows_name_the_table_and_the_highest_version() -> None:
    planned = replace(batch(offsets(0, 5)), data_table_id="one")
    receipts = [receipt_without_gaps(planned, version) for version in (7, 4)]
    lanes = [LaneEnds(FORWARD, 1, 1)]
    assert known_table(lanes, history(planned), receipts, ()) == KnownTable(
        ("one",), 7, tuple(lanes), ()
    )
    assert known_table(lanes, history(batch(offsets(0, 5))), [], ()).table_ids == ()


def test_rows_that_name_several_tables_are_refused() -> None:
    planned = replace(batch(offsets(0, 5)), data_table_id="one")
    receipt = receipt_without_gaps(replace(planned, data_table_id="two"), 7)
    known = known_table([LaneEnds(FORWARD, 1, 1)], history(planned), [receipt], ())
    with pytest.raises(TableRefused, match="expected Delta table one or two, found no table"):
        known.require_known(Committed(1))
