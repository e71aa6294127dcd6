"""What excuses a row that is not there, played by hand: no more than its own cause."""

from __future__ import annotations

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sluice.errors import TableRefused
from sluice.moves import Move
from sluice.offsets.ranges import TopicPartition

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.commands import Command
from tests.simulation.restores import copy_rows
from tests.simulation.settings import LOOSE, STRICT
from tests.worlds.memory_log import Record

PARTITION = TopicPartition("t", 0)


def test_a_copy_from_before_a_replacement_lacks_it_though_that_left_no_row(hand: Hand) -> None:
    """Offset 1 is a row in the copy; the batch that set it aside had no rows."""
    world = hand.world
    world.keys = {**world.keys, "format": LOOSE}
    hand.produce(0, json.dumps({"id": 1, "extra": "text"}).encode())
    hand.does("run")
    shutil.copytree(world.table("trips"), world.folder / "before")
    world.keys = {**world.keys, "format": STRICT}
    hand.does("reprocess", "--range", "t[0] [1, 2)")
    assert hand.rows() == [0]
    shutil.rmtree(world.table("trips"))
    shutil.copytree(world.folder / "before", world.table("trips"))
    copy_rows(world.table("trips"))
    hand.refused()
    hand.does("recover")
    hand.is_exact()
    assert hand.rows() == [0, 1]


def test_an_offset_given_up_twice_excuses_no_other_row(hand: Hand) -> None:
    """Kafka has let go of all of them when row 0 vanishes from its file."""
    hand.world.left_out += [2] * 6
    hand.produce(0, 1, 2, 3)
    hand.refused()
    hand.does("verify", "--accept-gap", "t[0] [2, 3)")
    hand.world.left_out[:] = [2] * 12
    hand.does("reprocess", "--range", "t[0] [2, 3)")
    hand.world.left_out.clear()
    hand.is_exact(2)
    hand.world.kafka.delete_records(PARTITION, 4)
    for name in hand.table().file_uris():
        rows = pq.ParquetFile(name).read()
        pq.write_table(rows.filter(pa.array([e != 0 for e in rows["_offset"].to_pylist()])), name)
    verdict = hand.world.pipeline().verify(lambda *_: None)
    assert {each.invariant for each in verdict.violations} == {"accounted"}


@pytest.mark.parametrize("ends", ["commit", "abort"])
def test_a_marker_stands_for_no_quarantined_record_behind_the_end(hand: Hand, ends: str) -> None:
    kafka, now = hand.world.kafka, int(hand.world.clock.now().timestamp() * 1000)
    transaction = kafka.begin()
    kafka.produce("t", 0, [Record(b'{"id": 0}', b"k", now, ())], transaction)
    getattr(kafka, ends)(transaction)
    end = kafka.log("t", 0).end
    hand.produce(BROKEN)
    hand.does("run")
    hand.does("reset", "--to-earliest")
    shutil.rmtree(hand.world.table("trips__quarantine"))
    hand.does("quarantine", "recover")
    kafka.truncate(PARTITION, end)
    problem = hand.refused()
    assert isinstance(problem, TableRefused)
    assert problem.moves == (Move("quarantine recover", ("trips",)),)
    hand.does("quarantine", "recover")
    hand.is_exact(end)


def test_a_batch_in_flight_hides_none_that_has_no_receipt_yet(hand: Hand) -> None:
    """Batch 2 landed; a copy from before it is put back; batch 3, in flight, lands in that."""
    world = hand.world
    world.keys = {**world.keys, "max_records_per_batch": 1}
    hand.produce(0)
    hand.does("run")
    shutil.copytree(world.table("trips"), world.folder / "before")
    hand.produce(1, 2)
    process = hand.stops_at("reading", nth=2)
    shutil.rmtree(world.table("trips"))
    shutil.copytree(world.folder / "before", world.table("trips"))
    done = world.go_on(process, None)
    assert done is not None
    assert isinstance(done.problem, TableRefused)
    assert "expected forward-1-2 before forward-1-3" in str(done.problem)
    assert world.carry_out(Command(("reset", "--to-table"))).green
    hand.is_exact()
    assert hand.rows() == [0, 1, 2]
