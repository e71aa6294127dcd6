"""Whoever does what a refusal says gets on: no command leads back to the same message.

One fault at a time; two at once are what the simulation draws. Each command is tried in the state
in which it is named; what a message asks for besides a command is done by hand before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.errors import (
    BatchInDoubt,
    CommitUnknown,
    GapUnexplained,
    OffsetsDamaged,
    ResetNeeded,
    SluiceError,
    TableRefused,
)

from tests.simulation.actions import ACTIONS
from tests.simulation.commands import Command
from tests.simulation.history import History, Step
from tests.simulation.judge import Judge
from tests.simulation.operator import follow, leading_on
from tests.simulation.oracle import exact
from tests.simulation.play import a_world, act
from tests.simulation.restores import alter_as_told, create_as_select, restore
from tests.simulation.told import read_tables
from tests.simulation.world import World

_PRODUCE, _RUN = Step("produce", (0, 3, 1, 0)), Step("run")
_BAD, _COPY = Step("produce", (0, 0, 16, 0)), Step("tables copied")
Event = Step | Callable[[World], object]


def does(name: str) -> Callable[[World], None]:
    """What people do, by its name among the simulation's actions."""
    return lambda world: ACTIONS[name].act(world, (0, 0, 0, 0))


def is_empty(table: str) -> Callable[[World], None]:
    """The newest commit of a table has lost its content: a machine without power."""

    def empty(world: World) -> None:
        *_, newest = sorted((world.table(table) / "_delta_log").glob("*.json"))
        newest.write_bytes(b"")

    return empty


def files_are_gone(world: World) -> None:
    for path in world.table("trips__offsets").rglob("*.parquet"):
        path.unlink()


def version_1_is_there(world: World) -> None:
    fields = pa.schema([("pipeline", pa.string())])
    DeltaTable.create(world.warehouse / "_sluice" / "offsets", fields)


def replaced(world: World) -> None:
    old = DeltaTable(world.table("trips"))
    owner = dict(old.metadata().configuration)
    DeltaTable.create(
        world.table("trips"),
        old.schema(),
        mode="overwrite",
        configuration=owner,
        raise_if_key_not_exists=False,
    )


def written_by_another(world: World) -> None:
    rows = DeltaTable(world.table("trips")).to_pyarrow_table().slice(0, 0)
    theirs = CommitProperties(app_transactions=[Transaction("theirs", 1)])
    write_deltalake(world.table("trips"), rows, mode="append", commit_properties=theirs)


def landed_without_its_plan(world: World) -> None:
    """An older offsets table comes between the tasks of a run."""
    work = world.pipeline().plan("planned", "somebody")
    assert work
    does("the offsets table is put back")(world)
    with pytest.raises(OffsetsDamaged) as refused:
        world.pipeline().land(work)
    world.refusal = refused.value


def restored_as_told(world: World) -> None:
    (version,) = re.findall(r"RESTORE the table to version (\d+)", str(world.refusal))
    restore(world, "trips", int(version))


def created_as_select(table: str) -> Callable[[World], None]:
    return lambda world: create_as_select(world.table(table))


def vacuumed(world: World) -> None:
    """What the data table's newest deletion has removed is nowhere any more."""
    table = DeltaTable(world.table("trips"))
    table.vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)


# What happens between two runs, and how the run after it is refused.
FAULTS: dict[str, tuple[Event, ...]] = {
    "RESTORE of the data table": (Step("others restore the data table"),),
    "the data table put back": (_COPY, _PRODUCE, _RUN, Step("the data table is put back")),
    "the data table put back behind a reset": (
        *(_COPY, Step("reset"), _RUN),
        Step("the data table is put back"),
    ),
    "the data table dropped": (Step("the data table is dropped"),),
    "the data table cloned": (Step("the data table is cloned"),),
    "the data table created as a select": (_BAD, _RUN, created_as_select("trips")),
    "the data table created as a select, and nothing else there": (
        *(created_as_select("trips"), Step("the offsets table is dropped")),
    ),
    "the offsets table created as a select": (created_as_select("trips__offsets"),),
    "the quarantine created as a select": (_BAD, _RUN, created_as_select("trips__quarantine")),
    "the offsets table dropped": (Step("the offsets table is dropped"),),
    "the offsets table put back": (_COPY, _PRODUCE, _RUN, Step("the offsets table is put back")),
    "a topic created anew": (Step("topic created anew"), _PRODUCE),
    "a topic created anew between a batch and its receipt": (
        *(_PRODUCE, Step("begin", (0, 28, 0, 0)), Step("topic created anew"), _PRODUCE),
    ),
    "a topic created anew twice": (
        *(Step("topic created anew"), _PRODUCE, Step("follow the message"), _PRODUCE),
        *(Step("follow the message"), Step("topic created anew"), _PRODUCE),
    ),
    "the offsets table restored behind a reset": (
        *(Step("reset"), Step("others restore the offsets table", (1, 1, 0, 0))),
    ),
    "an unclean election": (Step("an unclean election"),),
    "the brokers put back": (
        *(Step("brokers copied"), _PRODUCE, _RUN, Step("brokers put back")),
        *(_PRODUCE, _PRODUCE),
    ),
    "another cluster": (Step("another cluster"), _PRODUCE),
    "retention": (_PRODUCE, Step("retention deletes", (0, 7, 0, 0))),
    "too many in quarantine": (Step("the quarantine gets a limit"), _BAD, _BAD, _BAD),
    "a record left out": (_PRODUCE, Step("the reader leaves out a record")),
    "a RESTORE behind a backfill": (
        *(Step("reprocess", (0, 0, 4, 0)), Step("others restore the data table", (0, 1, 0, 0))),
    ),
    "a reset that passes over what a RESTORE took": (
        *(_PRODUCE, _RUN, Step("others restore the data table", (1, 1, 0, 0))),
        Step("reset", (5, 0, 0, 0)),
    ),
    "a shift over a topic created anew": (
        *(Step("topic created anew"), _PRODUCE, Step("reset", (3, 0, 0, 0))),
    ),
    "a topic gone behind a plan": (
        *(Step("produce", (1, 3, 1, 0)), _RUN, Step("produce", (1, 3, 1, 0))),
        *(Step("only a plan"), Step("topic deleted", (1, 0, 0, 0))),
    ),
    "the data table's newest commit empty": (is_empty("trips"),),
    "the offsets table's newest commit empty": (is_empty("trips__offsets"),),
    "the offsets table's files gone": (files_are_gone,),
    "an offsets table of version 1": (version_1_is_there, Step("the offsets table is dropped")),
    "another table in place of the data table": (replaced,),
    "another writer": (written_by_another,),
    "the plan gone below a run": (*(_COPY, _PRODUCE, landed_without_its_plan),),
    "the quarantine dropped": (_BAD, _RUN, Step("the quarantine is dropped")),
    "the quarantine dropped, and rows beside its records deleted": (
        *(_BAD, _PRODUCE, _BAD, _RUN, Step("others delete a row", (-1, 0, 0, 0)), vacuumed),
        Step("the quarantine is dropped"),
    ),
    "the quarantine put back": (_COPY, _BAD, _RUN, Step("the quarantine is put back")),
    "RESTORE of the quarantine": (
        *(_BAD, _RUN, Step("others restore the quarantine", (1, 1, 0, 0))),
    ),
}
# The number of a setting with another topic.
SETTINGS = {"a topic gone behind a plan": 2}
# What a message asks for besides a command.
BY_HAND: dict[str, Callable[[World], object]] = {
    "a topic gone behind a plan": does("a topic is left out"),
    "the data table created as a select": lambda world: alter_as_told(str(world.refusal)),
    "the data table created as a select, and nothing else there": (
        lambda world: alter_as_told(str(world.refusal))
    ),
    "the offsets table created as a select": does("the offsets table is dropped"),
    "the quarantine created as a select": lambda world: alter_as_told(str(world.refusal)),
    "the data table's newest commit empty": does("the data table is dropped"),
    "the offsets table's newest commit empty": does("the offsets table is dropped"),
    "another table in place of the data table": restored_as_told,
    "another writer": restored_as_told,
}
# The steps that a fault counts may be other ones some day.
FIRST: dict[str, type[SluiceError]] = {
    "a topic created anew": ResetNeeded,
    "a topic created anew between a batch and its receipt": BatchInDoubt,
    "a record left out": GapUnexplained,
    "a reset that passes over what a RESTORE took": ResetNeeded,
    "a shift over a topic created anew": ResetNeeded,
    "a topic gone behind a plan": ResetNeeded,
    "the data table's newest commit empty": CommitUnknown,
    "the offsets table's newest commit empty": CommitUnknown,
    "the offsets table's files gone": OffsetsDamaged,
    "an offsets table of version 1": TableRefused,
    "the plan gone below a run": OffsetsDamaged,
    "the quarantine dropped": TableRefused,
    "the quarantine dropped, and rows beside its records deleted": TableRefused,
    "the quarantine put back": TableRefused,
    "RESTORE of the quarantine": TableRefused,
}
_ROUNDS = 6


@pytest.mark.parametrize("fault", FAULTS)
def test_following_the_messages_ends_in_a_green_run(fault: str) -> None:
    with a_world(History(fault, SETTINGS.get(fault, 0))) as world:
        judge = Judge(world)
        for event in (_PRODUCE, _RUN, *FAULTS[fault]):
            if isinstance(event, Step):
                assert act(judge, world, event) is None
            else:
                event(world)
        assert world.refusal or _refused(world), "nothing was refused"
        assert isinstance(world.refusal, FIRST.get(fault, SluiceError))
        by_hand = BY_HAND.get(fault)
        seen: set[object] = set()
        for _ in range(_ROUNDS):
            state = repr(read_tables(world).offsets.transactions), str(world.refusal)
            assert state not in seen, f"back at the same message:\n{world.refusal}"
            seen.add(state)
            if by_hand is not None:
                by_hand(world)
            if by_hand is None or leading_on(world.refusal):
                assert follow(world) is not None, f"nothing to follow:\n{world.refusal}"
            by_hand = None
            if not _refused(world):
                break
        else:
            raise AssertionError(f"still refused:\n{world.refusal}")
        world.books.look(world.kafka)
        assert exact(world, read_tables(world), caught_up=True) == []


def _refused(world: World) -> bool:
    """Whether the next run is refused; what may be tried again is."""
    for _ in range(3):
        done = world.carry_out(Command(("catch up",), f"reason {len(world.told)}"))
        if not isinstance(done.problem, SluiceError) or not done.problem.retryable:
            break
    assert done.green or isinstance(done.problem, SluiceError), repr(done.problem)
    return not done.green
