"""Erased means erased: what others deleted or changed comes back only if somebody says so."""

from __future__ import annotations

import json

import pytest
from deltalake import DeltaTable
from sluice.errors import RowsErased, SparkFailed
from sluice.failpoints import reaching
from sluice.moves import Move
from sluice.operations.backfill.selection import Selection, offset_ranges, whole_batches
from sluice.operations.reset.targets import shift_by, to_earliest, to_latest

from tests.worlds.next_run import refused_alike
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

WHO = ("test", "pytest")
# The version of the deletion, for the oracle: table, two batches, deletion.
ERASED = frozenset({3})


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two batches of ten; then an analyst has erased offsets 3 and 12."""
    made = landed(pipeline(topic(retention_ms=-1)))
    DeltaTable(made.data).delete("_offset IN (3, 12)")
    return made


def some(trips: Installed, start: int, end: int) -> Selection:
    return offset_ranges([f"{trips.topics[0]}[0] [{start}, {end})"])


def stored(trips: Installed) -> list[int]:
    return sorted(row["_offset"] for row in trips.rows())


def again(trips: Installed, asked: Selection, *bring_back: bool) -> None:
    trips.ingest(trips.open().backfill(asked, *WHO, *bring_back).work)
    trips.settle()


def test_a_backfill_over_erased_rows_is_refused_and_says_how_many(trips: Installed) -> None:
    place = f"{trips.topics[0]}[0]"
    with pytest.raises(RowsErased) as refused:
        again(trips, whole_batches(["forward-1-1", "forward-1-2"]))
    assert f"{place} [3, 13): 2 rows that others deleted would come back" in str(refused.value)
    assert trips.offsets("planned")[-1]["lane"] == "forward"
    foreseen = trips.sluice("reprocess", "--batch=forward-1-1", "--dry-run")
    assert f"{place} [3, 4): 1 row that others deleted" in foreseen.stdout
    # Nobody erased anything of these.
    again(trips, some(trips, 4, 12))
    assert stored(trips) == [each for each in range(20) if each not in (3, 12)]
    again(trips, some(trips, 0, 5), True)
    assert stored(trips) == [each for each in range(20) if each != 12]
    # It is there again: there is nothing left to say.
    again(trips, some(trips, 0, 5))
    again(trips, some(trips, 10, 15), True)
    assert trips.judge(altered=ERASED).facts.rows == 20


def test_a_reset_that_would_read_erased_rows_again_is_refused(trips: Installed) -> None:
    preview = trips.open().preview_reset(to_earliest)
    assert preview.erased.rows == 2
    assert "[0] [3, 13): 2 rows that others deleted would come back" in preview.summary
    shown = json.loads(trips.sluice("reset", "--shift-by=-10", "--json").stdout)
    assert shown["erased_rows"] == 1
    with pytest.raises(RowsErased, match=r"\[3, 13\): 2 rows"):
        trips.open().reset(to_earliest, "a test", *WHO)
    assert not trips.offsets("reset_intended")
    trips.open().reset(shift_by(-5), "nothing was erased there", *WHO)
    trips.run()
    assert stored(trips) == [each for each in range(20) if each not in (3, 12)]
    trips.open().reset(to_latest, "nothing is read again", *WHO)
    done = trips.sluice(
        "reset", "--to-earliest", "--execute", "--reason=lawful", "--bring-back-erased"
    )
    assert done.returncode == 0, done.stderr
    trips.run()
    assert trips.judge(altered=ERASED).facts.rows == 20


def keys(trips: Installed) -> dict[int, bytes | None]:
    return {row["_offset"]: row["_key"] for row in trips.rows()}


def test_what_others_erase_before_an_interrupted_reset_is_finished_stays_erased(
    trips: Installed,
) -> None:
    """It was asked for 2 rows to come back; a third one is deleted before the fence stands."""

    def dies(point: str) -> None:
        if point == "reset intended":
            raise SparkFailed("the process dies")

    with reaching(dies), pytest.raises(SparkFailed):
        trips.open().reset(to_earliest, "lawful", *WHO, bring_back_erased=True)
    (note,) = trips.open().status().notes
    assert note.startswith("the reset to generation 2 (lawful) was interrupted: the next run")
    DeltaTable(trips.data).delete("_offset = 7")
    for _ in range(2):
        with pytest.raises(RowsErased, match=r"\(lawful\) cannot be finished") as refused:
            trips.plan()
    assert "[7, 8): 1 row that others deleted would come back" in str(refused.value)
    assert refused.value.moves == (Move("reset", ("trips", "--shift-by", "0")),)
    assert trips.open().status().notes == (f"The next run is refused: {refused.value}",)
    assert str(refused_alike(trips)) == str(refused.value)
    for selection in (None, some(trips, 4, 8)):
        with pytest.raises(RowsErased, match=r"\(lawful\) cannot be finished"):
            trips.open().dry_run(selection)
    trips.open().reset(shift_by(0), "given up", *WHO)
    trips.run()
    assert stored(trips) == [each for each in range(20) if each not in (3, 7, 12)]
    trips.open().reset(to_earliest, "all of them", *WHO, bring_back_erased=True)
    trips.run()
    assert trips.judge(altered=ERASED | {4}).facts.rows == 20


def test_a_row_that_others_masked_stays_masked_unless_somebody_says_so(trips: Installed) -> None:
    """Its neighbours, which the UPDATE only moved, are anybody's."""
    before = keys(trips)
    DeltaTable(trips.data).update(updates={"_key": "NULL"}, predicate="_offset IN (5, 15)")
    with pytest.raises(RowsErased) as refused:
        again(trips, some(trips, 4, 8))
    assert "[5, 6): 1 row that others changed would be again as" in str(refused.value)
    with pytest.raises(RowsErased, match=r"\[5, 16\): 2 rows that others changed"):
        trips.open().reset(shift_by(-16), "a test", *WHO, bring_back_erased=False)
    shown = json.loads(trips.sluice("reset", "--shift-by=-6", "--json").stdout)
    assert (shown["erased_rows"], shown["changed_rows"]) == (0, 1)
    again(trips, some(trips, 6, 12))
    again(trips, some(trips, 13, 15))
    assert keys(trips) == before | {5: None, 15: None}
    again(trips, some(trips, 4, 8), True)
    # It is as it was read: there is nothing left to say.
    again(trips, some(trips, 4, 8))
    assert keys(trips) == before | {15: None}


def test_where_the_files_are_gone_the_deletion_is_named(trips: Installed) -> None:
    """Statistics still tell which offsets it cannot have touched."""
    more(trips, 5, first=20)
    trips.run()
    table = DeltaTable(trips.data)
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    with pytest.raises(RowsErased, match=r"version \d+ of the data table is a DELETE by others"):
        again(trips, some(trips, 4, 6))
    again(trips, some(trips, 20, 25))
    again(trips, some(trips, 0, 20), True)
    assert trips.judge(altered=ERASED).facts.rows == 25


@pytest.mark.spark
def test_rows_that_a_deletion_vector_hides_are_erased_rows(trips: Installed) -> None:
    """The file is still there, and has them."""
    session, table = trips.session(), f"delta.`{trips.data}`"
    enabled = "'delta.enableDeletionVectors' = 'true'"
    session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ({enabled})")
    session.sql(f"DELETE FROM {table} WHERE _offset = 17")
    hidden = r"\[17, 18\): 1 row that others deleted would come back"
    with pytest.raises(RowsErased, match=hidden):
        again(trips, some(trips, 14, 18))
    with pytest.raises(RowsErased, match=hidden):
        trips.open().reset(shift_by(-5), "a test", *WHO)
    again(trips, some(trips, 14, 16))
    left = session.sql(f"SELECT _offset FROM {table} ORDER BY _offset").collect()
    assert [row["_offset"] for row in left] == [n for n in range(20) if n not in (3, 12, 17)]
