"""What an idle run costs, where others commit to the data table all the time."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from deltalake import CommitProperties, DeltaTable

from tests.simulation.by_hand import BROKEN, Hand
from tests.simulation.commands import Command
from tests.simulation.history import History, Step
from tests.simulation.judge import Judge
from tests.simulation.play import a_world, act
from tests.simulation.restores import restore
from tests.simulation.world import World

_COMMITS, _BYTES = 120, 100_000


def test_an_idle_run_reads_each_commit_of_others_once() -> None:
    """Beside delta-rs, which reads each four times where it opens the table and is asked."""
    with a_world(History("idle", 0)) as world:
        judge = Judge(world)
        for step in (Step("produce", (0, 3, 1, 0)), Step("run")):
            assert act(judge, world, step) is None
        before = _read_by(world)
        table = DeltaTable(world.table("trips"))
        words = CommitProperties(custom_metadata={"words": "w" * _BYTES})
        for number in range(_COMMITS):
            interval = {"delta.checkpointInterval": str(1000 + number)}
            table.alter.set_table_properties(interval, commit_properties=words)
        times = (_read_by(world) - before) / (_COMMITS * _BYTES)
        assert times < 6, f"each commit was read {times:.1f} times"


@pytest.mark.parametrize("behind", ["a receipt", "a reset"])
@pytest.mark.parametrize("table", ["trips", "trips__quarantine"])
def test_an_idle_run_reads_few_of_the_commits_that_an_earlier_one_has_judged(
    table: str, behind: str
) -> None:
    with a_world(History("idle", 0)) as world:
        hand = Hand(world)
        hand.produce(0, BROKEN)
        hand.does("run")
        if behind == "a reset":
            # Its quarantine is compared while there is a RESTORE and no receipt.
            restore(world, "trips", hand.others_commit(1) - 1)
            hand.does("reset", "--shift-by", "0")
        hand.does("catch up")
        before = _read_by(world)
        for _ in range(3):
            hand.others_commit(_COMMITS, table, "DELETE", _BYTES)
            hand.table(table).create_checkpoint()
            all_of_them = _read_by(world) - before
            assert all_of_them > _COMMITS * _BYTES
        times = (_read_by(world) - before) / _BYTES
        assert times < 10, f"as much was read as {times:.1f} commits of others hold"


def _read_by(world: World) -> int:
    """The bytes that an idle run reads, from whatever file."""
    before = _read_so_far()
    assert world.carry_out(Command(("catch up",), "idle")).green
    return _read_so_far() - before


def _read_so_far() -> int:
    (found,) = re.findall(r"rchar: (\d+)", Path("/proc/self/io").read_text())
    return int(found)
