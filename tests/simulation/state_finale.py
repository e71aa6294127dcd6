"""The end of a history with a state table: it is brought up to date, and its comparison agrees."""

from __future__ import annotations

from deltalake import DeltaTable
from sluice.errors import SluiceError
from sluice.operations.verify.state_check import StateVerdict, check_state
from sluice.progress.lane_state import read_unchecked
from sluice.protocol.refresh.due_span import due_anew

from tests.simulation.actions.others import where
from tests.simulation.commands import Command
from tests.simulation.delta_tables import versions
from tests.simulation.judge import Judge
from tests.simulation.operator import follow
from tests.simulation.oracle import Finding
from tests.simulation.rows import key_of
from tests.simulation.world import STATE, World

_ROUNDS = 8
_SHOWN = 3


def state_finale(judge: Judge, world: World) -> Finding | None:
    """Refresh, and follow the messages, until the state is that of the newest log."""
    if not world.setting.has_state:
        return None
    said = ""
    for number in range(_ROUNDS):
        judge.before()
        world.tell("the next refresh")
        done = world.carry_out(Command(("refresh",), f"finale {number}"))
        if finding := judge.after():
            return finding
        if done.green:
            return _idle(judge, world) or _compared(judge, world)
        said = f"{type(done.problem).__name__}: {done.problem}"
        if isinstance(done.problem, SluiceError) and done.problem.retryable:
            continue
        # What is advised may be refused as well, and say more.
        for _ in range(3):
            judge.before()
            followed = follow(world, number)
            if finding := judge.after():
                return finding
            if followed is None or followed.green:
                break
        if followed is None:
            return Finding(f"dead end, {said.partition(':')[0]}", said)
    return Finding(f"no way out, {said.partition(':')[0]}", said)


def _idle(judge: Judge, world: World) -> Finding | None:
    """The same refresh once more writes nothing."""
    before = list(versions(world.table(STATE)))
    judge.before()
    world.carry_out(Command(("refresh",), "idle"))
    if list(versions(world.table(STATE))) != before:
        return Finding("an idle refresh wrote", "there was nothing to do")
    return judge.after()


def _compared(judge: Judge, world: World) -> Finding | None:
    """The product's own comparison finds nothing; and a row that is taken away, it does."""
    rows = world.reader.read(world.table(STATE)).rows
    if not rows or world.rotted:
        return None
    if problem := compared(world).problem:
        return Finding("verify does not find the state exact", str(problem))
    if not (living := [row for row in rows if not row["_deleted"]]):
        return None
    DeltaTable(world.table(STATE)).delete(where(key_of(living[0])))
    world.tell("planted: a row of the state is gone")
    if compared(world).is_exact:
        return Finding("a DELETE of others is trusted", str(living[0]))
    if not differing(judge, world):
        return Finding("the comparison does not see that a row is gone", str(living[0]))
    return None


def compared(world: World) -> StateVerdict:
    """The state beside its log, as `sluice verify` tells it."""
    pipeline = world.pipeline()
    return check_state(pipeline.resources, pipeline.open_state)


def differing(judge: Judge, world: World) -> list[str]:
    """Some keys whose row differs from what the log says, as the lake compares them."""
    pipeline, standing = world.pipeline(), judge.of_state.standing()
    assert standing is not None, "a refresh has just ended well"
    attempt = due_anew(read_unchecked(pipeline.resources), standing).attempt
    with pipeline.open_state() as lake:
        found = lake.differing(attempt, _SHOWN)
    return [f"{found.keys} keys", *found.shown] if found.keys else []
