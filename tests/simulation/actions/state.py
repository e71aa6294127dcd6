"""What is done to a state table: by the scheduler, by operators, and by other people."""

from __future__ import annotations

import shutil

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

from tests.simulation.actions.others import put_back, some_rows, where
from tests.simulation.actions.registry import action, pick
from tests.simulation.commands import Command
from tests.simulation.history import Draws
from tests.simulation.restores import copy_rows, create_as_select
from tests.simulation.rows import key_of
from tests.simulation.world import STATE, World

_FILES_WRITTEN = "lake: files written"


def _do(world: World, name: str) -> None:
    if world.setting.has_state:
        command = Command((name,), f"reason {len(world.told)}")
        world.tell(f"sluice {command}")
        if name == "rebuild":
            world.state_reasons.append(name)
        world.carry_out(command)


@action(30)
def refresh(world: World, draws: Draws) -> None:
    """The fourth task of a DAG run."""
    _do(world, "refresh")


@action(4)
def rebuild(world: World, draws: Draws) -> None:
    """The state table anew."""
    _do(world, "rebuild")


@action(30)
def begin_a_refresh(world: World, draws: Draws) -> None:
    """A refresh, or a rebuild, that stands still at some step; others go on meanwhile."""
    if world.setting.has_state and len(world.frozen) < 3:
        command = Command((pick(("refresh", "refresh", "rebuild"), draws[0]),), "begun")
        if command.name == "rebuild":
            world.state_reasons.append("a rebuild begun")
        world.tell(f"sluice {command}, up to a step:")
        world.begin_process(command, draws[1] % 10)


def _there(world: World) -> bool:
    return (world.table(STATE) / "_delta_log").is_dir()


def _touched(world: World, what: str) -> None:
    world.state_reasons.append(what)
    world.tell(what)


@action(5, fault=True)
def others_delete_from_the_state(world: World, draws: Draws) -> None:
    """DELETE of a row of the state table."""
    if _there(world) and (rows := world.reader.read(world.table(STATE)).rows):
        DeltaTable(world.table(STATE)).delete(where(key_of(pick(rows, draws[0]))))
        _touched(world, "others DELETE from the state table")


@action(4, fault=True)
def others_append_to_the_state(world: World, draws: Draws) -> None:
    """A row of the state table twice."""
    if _there(world) and (rows := world.reader.read(world.table(STATE)).rows):
        table = DeltaTable(world.table(STATE))
        schema = pa.schema(table.schema().to_arrow())
        write_deltalake(table, pa.Table.from_pylist([pick(rows, draws[0])], schema), mode="append")
        _touched(world, "others append to the state table")


@action(4, fault=True)
def others_restore_the_state(world: World, draws: Draws) -> None:
    """RESTORE of the state table."""
    if _there(world) and (newest := world.reader.read(world.table(STATE)).version) > 0:
        version = newest - 1 - min(draws[0], draws[1]) % newest
        DeltaTable(world.table(STATE)).restore(version)
        _touched(world, f"others RESTORE the state table to version {version}")


@action(2)
def others_optimize_the_state(world: World, draws: Draws) -> None:
    """OPTIMIZE of the state table: no reason to refuse it."""
    if _there(world):
        DeltaTable(world.table(STATE)).optimize.compact()
        world.tell("others OPTIMIZE the state table")


def _may_go(world: World) -> bool:
    # A process whose files are written, and gone with the folder, would commit to them.
    return _there(world) and not any(each.point == _FILES_WRITTEN for each in world.frozen)


@action(4, fault=True)
def the_state_is_dropped(world: World, draws: Draws) -> None:
    """DROP of the state table."""
    if _may_go(world):
        shutil.rmtree(world.table(STATE))
        _touched(world, "the state table is gone")


@action(4, fault=True)
def another_table_is_in_the_place_of_the_state(world: World, draws: Draws) -> None:
    """A copy of its rows, with or without its properties."""
    if _may_go(world):
        with_properties = draws[0] % 2
        (copy_rows if with_properties else create_as_select)(world.table(STATE))
        _touched(world, f"another state table{'' if with_properties else ', without properties'}")


@action(4, fault=True)
def the_state_is_put_back(world: World, draws: Draws) -> None:
    """The state table is an older copy."""
    if world.copies and _may_go(world):
        put_back(world, draws, (STATE,))
        world.state_reasons.append("an older state table")


@action(6)
def others_mask_a_name(world: World, draws: Draws) -> None:
    """UPDATE of a row of the data table: another value."""
    for row in some_rows(world, draws):
        if "name" in row and not row["_tombstone"]:
            key = key_of(row)
            table = DeltaTable(world.table("trips"))
            table.update(updates={"name": "'masked'"}, predicate=where(key))
            world.let_go.add(key)
            world.updated.pop(key, None)
            world.tell(f"others UPDATE the name of {key.partition}@{key.offset}")
