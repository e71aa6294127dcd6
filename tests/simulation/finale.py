"""The finale: faults stop, and whoever follows the product's messages gets on."""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake
from sluice.errors import SluiceError

from tests.simulation.commands import Command
from tests.simulation.judge import Judge
from tests.simulation.operator import follow
from tests.simulation.oracle import Finding
from tests.simulation.state_finale import state_finale
from tests.simulation.told import read_tables, stored, waiting
from tests.simulation.world import World

_ROUNDS = 16
FAR_AWAY = 10**6


def finale(judge: Judge, world: World) -> Finding | None:
    """End what is open, and go on until a run ends well. A dead end is a finding."""
    if finding := _faults_stop(judge, world):
        return finding
    said: list[str] = []
    met: Counter[str] = Counter()
    for number in range(_ROUNDS):
        world.done = None
        judge.before()
        world.tell("the next run")
        done = world.carry_out(Command(("catch up",), f"finale {number}"))
        if finding := judge.after():
            return finding
        if done.green and not _waits(world):
            return _idle(judge, world)
        if done.green:
            judge.before()
            world.tell("a backfill lands what waits")
            done = world.carry_out(Command(("quarantine", "recover"), f"finale {number} waits"))
            if finding := judge.after():
                return finding
        if done.green:
            continue
        problem = done.problem
        assert isinstance(problem, SluiceError)
        said.append(f"{type(problem).__name__}: {problem}")
        if problem.retryable:
            continue
        for _ in range(3):
            world.done = None
            judge.before()
            # Where the first advice leads back here, the next one counts.
            text = str(world.refusal)
            followed = follow(world, met[text])
            met[text] += 1
            if finding := judge.after():
                return finding
            if followed is None or followed.green:
                break
        if followed is None:
            return Finding(f"dead end, {type(problem).__name__}", said[-1])
    return Finding(f"no way out, {said[-1].partition(':')[0]}", "\n".join(said[-4:]))


def _waits(world: World) -> bool:
    """Whether something is in neither table that a backfill has planned to read again."""
    tables = read_tables(world)
    return bool(waiting(tables) - stored(tables))


def _idle(judge: Judge, world: World) -> Finding | None:
    """The same run once more does nothing."""
    world.done = None
    judge.before()
    world.carry_out(Command(("catch up",), "idle"))
    return judge.after() or state_finale(judge, world) or _sees(world)


def _sees(world: World) -> Finding | None:
    """Of a table that is right the proof says so; of one row too many it says that as well.

    The row is a second one of a record, or of an offset that no batch has read: if anything but
    rows tells of its topic.
    """
    rows = world.reader.read(world.table("trips")).rows
    if not rows:
        return None
    table = DeltaTable(world.table("trips"))
    row = pa.Table.from_pylist([rows[0]], schema=pa.schema(table.schema().to_arrow()))
    what = "a row twice"
    told_of = {each["topic_id"] for each in read_tables(world).offsets.rows}
    if len(world.told) % 2 and rows[0]["_topic_id"] in told_of:
        at = row.schema.get_field_index("_offset")
        row, what = row.set_column(at, "_offset", pa.array([FAR_AWAY])), "a row of no record"
    write_deltalake(table, row, mode="append")
    world.tell(f"planted: {what}")
    try:
        verdict = world.pipeline().verify(lambda *_: None)
    except SluiceError:
        return None
    return None if verdict.violations else Finding(f"verify does not see {what}", str(verdict))


def _faults_stop(judge: Judge, world: World) -> Finding | None:
    world.tell("- faults stop")
    world.left_out.clear()
    for process in list(world.frozen):
        world.done = None
        judge.before()
        world.tell(f"sluice {process.command} goes on from {process.point!r}")
        world.go_on(process, None)
        if finding := judge.after():
            return finding
    for transaction in world.transactions:
        world.kafka.abort(transaction)
    world.transactions.clear()
    for name, partitions in world.setting.topics.items():
        if name not in world.kafka.topics:
            compact = name in world.setting.compacting
            world.kafka.create_topic(name, partitions, compact=compact)
    return None
