"""What a data table tells of its batches: commits name their ranges, rows where they end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.offsets.batches import Batch, Lane
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.operations.recover.found_history import FoundHistory, find_history
from sluice.operations.recover.holes import find_holes
from sluice.operations.recover.opening import Opening
from sluice.progress.lane_state import lane_state
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.delta_log import DeltaLog
from sluice.tables.fence import FENCE
from sluice.tables.offsets_snapshot import OffsetsSnapshot
from sluice.tables.ownership import OWNER

from tests.unit.builders import TOPIC_ID, batch, log, offsets, partition, sequence, state

SCHEMA = pa.schema(
    [
        ("_topic", pa.string()),
        ("_topic_id", pa.string()),
        ("_partition", pa.int32()),
        ("_offset", pa.int64()),
        ("_batch", pa.string()),
    ]
)
KAFKA = state(log(0, 90), log(5, 40))


@pytest.fixture
def flights(tmp_path: Path) -> Path:
    where = tmp_path / "flights"
    DeltaTable.create(
        where, SCHEMA, configuration={OWNER: "flights"}, raise_if_key_not_exists=False
    )
    return where


def numbered(
    number: int, *ranges: OffsetRange, lane: Lane = "forward", generation: int = 1
) -> Batch:
    where = sequence(lane=lane, generation=generation)
    return replace(batch(*ranges, number=number), sequence=where)


def land(where: Path, landed: Batch, records: int | None = None, told: bool = True) -> None:
    """One commit with the batch's rows, or the first few of each range."""
    rows = [
        {
            "_topic": each.offsets.partition.topic,
            "_topic_id": each.topic_id,
            "_partition": each.offsets.partition.partition,
            "_offset": offset,
            "_batch": str(landed),
        }
        for each in landed.ranges
        for offset in list(range(each.offsets.start, each.offsets.end))[:records]
    ]
    metadata = {"userMetadata": batch_metadata(landed, "an attempt")} if told else {}
    write_deltalake(
        where,
        pa.Table.from_pylist(rows, schema=SCHEMA),
        mode="append",
        commit_properties=CommitProperties(
            custom_metadata=metadata,
            app_transactions=[Transaction(landed.sequence.app_id, landed.number)],
        ),
    )


def fence(where: Path, generation: int) -> None:
    both = [sequence(lane=lane, generation=generation) for lane in ("forward", "backfill")]
    write_deltalake(
        where,
        SCHEMA.empty_table(),
        mode="append",
        commit_properties=CommitProperties(
            app_transactions=[Transaction(each.app_id, FENCE) for each in both]
        ),
    )


def found(where: Path) -> FoundHistory:
    """Beside an offsets table that is lost."""
    data = DeltaLog(str(where)).snapshot()
    return find_history(lane_state("flights", OffsetsSnapshot("flights", None), data), KAFKA)


def goes_on(history: FoundHistory) -> dict[int, int]:
    cursor = Opening(history, KAFKA).reset("lost").cursor
    return {each.partition.partition: each.after.offsets.start for each in cursor}


def test_the_last_commit_tells_the_cursor_to_the_offset(flights: Path) -> None:
    """Also behind the last record, where the range ends with markers, and where nothing came."""
    land(flights, numbered(1, offsets(0, 10), offsets(5, 5, 1)))
    land(flights, numbered(2, offsets(10, 20), offsets(5, 5, 1)), records=8)
    history = found(flights)
    assert goes_on(history) == {0: 20, 1: 5}
    opening = Opening(history, KAFKA).reset("lost")
    assert (opening.generation, opening.closed_at) == (2, {"forward": 2, "backfill": 0})
    assert opening.done
    assert not opening.earlier
    assert [str(each.batch) for each in history.lacking()] == ["forward-1-1", "forward-1-2"]


def test_a_replay_is_found_with_the_offsets_that_it_may_change(flights: Path) -> None:
    """Of rows between them it took over what others had set: those are not as Kafka has them."""
    land(flights, numbered(1, offsets(0, 10)))
    meant = (offsets(3, 4), offsets(5, 6))
    replay = replace(numbered(1, offsets(3, 6), lane="backfill"), only=meant)
    land(flights, replay)
    assert [each.batch.only for each in found(flights).lacking()] == [None, meant]


def test_every_generation_is_closed_where_it_ended(flights: Path) -> None:
    land(flights, numbered(1, offsets(0, 10)))
    land(flights, numbered(1, offsets(2, 4), lane="backfill"))
    fence(flights, 1)
    fence(flights, 2)
    land(flights, numbered(1, offsets(10, 20), generation=3))
    opening = Opening(found(flights), KAFKA).reset("lost")
    closed = {each.generation: each.closed_at for each in (*opening.earlier, opening)}
    assert closed == {
        2: {"forward": 1, "backfill": 1},
        3: {"forward": 0, "backfill": 0},
        4: {"forward": 1, "backfill": 0},
    }
    began = {each.generation: each.cursor[0].after.offsets.start for each in opening.earlier}
    assert began == {2: 20, 3: 10}


def test_an_open_generation_without_a_batch_is_closed_too(flights: Path) -> None:
    """Its plans are lost, and a process may still hold one."""
    land(flights, numbered(1, offsets(0, 10)))
    fence(flights, 1)
    history = found(flights)
    assert (history.open, Opening(history, KAFKA).reset("lost").generation) == (2, 3)
    assert goes_on(history) == {0: 10}


def test_without_commits_the_rows_tell_where_they_end(flights: Path) -> None:
    """What has no rows is read from its log start."""
    land(flights, numbered(41, offsets(0, 10)), told=False)
    land(flights, numbered(42, offsets(10, 20)), told=False, records=8)
    history = found(flights)
    assert goes_on(history) == {0: 18, 1: 5}
    assert Opening(history, KAFKA).reset("lost").closed_at["forward"] == 42
    assert list(history.lacking()) == []
    assert history.unlisted([]) == 18


def test_older_batches_are_summed_up_by_the_number_of_the_last(flights: Path) -> None:
    land(flights, numbered(1, offsets(0, 10)), told=False)
    land(flights, numbered(2, offsets(10, 20)), told=False)
    land(flights, numbered(3, offsets(20, 30)))
    land(flights, numbered(4, offsets(30, 40)))
    history = found(flights)
    lacking = [each.batch for each in history.lacking()]
    assert [each.number for each in lacking] == [3, 4]
    assert history.unlisted(lacking) == 20
    assert goes_on(history) == {0: 40}


def test_what_landed_behind_a_missing_batch_is_read_again(flights: Path) -> None:
    """A process that was at work while the table was put back."""
    land(flights, numbered(1, offsets(0, 10)))
    land(flights, numbered(3, offsets(20, 30)))
    history = found(flights)
    assert [each.batch.number for each in history.lacking()] == [1]
    assert Opening(history, KAFKA).reset("lost").closed_at["forward"] == 1
    assert goes_on(history) == {0: 10}


def test_a_batch_that_a_restore_has_undone_is_none(flights: Path) -> None:
    land(flights, numbered(1, offsets(0, 10)))
    land(flights, numbered(2, offsets(10, 20)))
    DeltaTable(flights).restore(1)
    history = found(flights)
    assert [each.batch.number for each in history.lacking()] == [1]
    assert goes_on(history) == {0: 10}


def test_rows_of_a_topic_made_anew_do_not_move_the_cursor_of_the_new_one(flights: Path) -> None:
    old = numbered(1, offsets(0, 70))
    old = replace(old, ranges=tuple(replace(each, topic_id="old") for each in old.ranges))
    land(flights, old, told=False)
    land(flights, numbered(2, offsets(0, 10)), told=False)
    opening = Opening(found(flights), KAFKA).reset("lost")
    place = {each.partition: each.after for each in opening.cursor}[partition()]
    assert (place.offsets.start, place.topic_id) == (10, TOPIC_ID)


def test_what_others_wrote_names_no_batch(flights: Path) -> None:
    land(flights, numbered(1, offsets(0, 10)))
    row = {"_topic": "flights", "_topic_id": TOPIC_ID, "_partition": 0, "_offset": 3}
    strange = pa.Table.from_pylist([{**row, "_batch": "by hand"}], schema=SCHEMA)
    write_deltalake(flights, strange, mode="append")
    history = found(flights)
    assert history.unlisted([each.batch for each in history.lacking()]) == 1
    assert TopicPartition("flights", 0) in Opening(history, KAFKA).cursor()


def test_without_rows_it_begins_where_its_first_batch_did(flights: Path) -> None:
    """A RESTORE has undone that batch; where its commit is gone, the pipeline's start counts."""
    land(flights, numbered(1, offsets(3, 10)))
    DeltaTable(flights).restore(0)
    assert goes_on(found(flights)) == {0: 3}
    nowhere = replace(found(flights), first=None)
    assert goes_on(nowhere) == {}
    opening = Opening(nowhere, KAFKA).reset("lost", {partition(): 7})
    assert {e.partition: e.after.offsets.start for e in opening.cursor} == {partition(): 7}
    assert opening.closed_at["forward"] == 0


def test_what_no_batch_has_read_is_told_as_gone_or_skipped(flights: Path) -> None:
    land(flights, numbered(1, offsets(0, 10), offsets(1, 1, 1)))
    land(flights, numbered(2, offsets(12, 20), offsets(8, 8, 1)))
    holes = list(find_holes(found(flights), KAFKA, ("ana", "lost")))
    assert [(str(each.loss.offsets), str(each.loss.cause)) for each in holes] == [
        ("flights[0] [10, 12)", "skipped by ana: before a recovery: lost"),
        ("flights[1] [1, 5)", str(LossKind.BEFORE_RECOVERY)),
        ("flights[1] [5, 8)", "skipped by ana: before a recovery: lost"),
    ]
    assert {str(each.sequence) for each in holes} == {"forward-1"}


def test_between_topics_of_the_same_name_is_no_hole(flights: Path) -> None:
    old = numbered(1, offsets(0, 10))
    land(flights, replace(old, ranges=tuple(replace(e, topic_id="old") for e in old.ranges)))
    land(flights, numbered(2, offsets(30, 40)))
    assert list(find_holes(found(flights), KAFKA, ("ana", "lost"))) == []
