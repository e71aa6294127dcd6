"""Older versions and copies of a table, and what people had changed in it by then."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

from tests.simulation.world import People, World


def copy_rows(folder: Path, *without: int) -> None:
    """CREATE TABLE, then INSERT … SELECT: another Delta id, nobody's transactions."""
    old = DeltaTable(folder)
    rows, properties = old.to_pyarrow_table(), dict(old.metadata().configuration)
    rows = rows.filter(~pc.field("_offset").isin(list(without)))
    shutil.rmtree(folder)
    DeltaTable.create(folder, old.schema(), configuration=properties, raise_if_key_not_exists=False)
    if len(rows):
        write_deltalake(folder, rows, mode="append")


def create_as_select(folder: Path) -> None:
    """CREATE TABLE … AS SELECT in a table's place: its rows, and none of its properties."""
    rows = DeltaTable(folder).to_pyarrow_table()
    shutil.rmtree(folder)
    write_deltalake(folder, rows)


def alter_as_told(text: str) -> None:
    """Do what a message says of a copy: ALTER TABLE … SET TBLPROPERTIES."""
    told = r"ALTER TABLE delta\.`(.+?)` SET TBLPROPERTIES \('(.+?)' = '(.+?)'\)"
    ((uri, name, value),) = re.findall(told, text)
    DeltaTable(uri).alter.set_table_properties({name: value}, raise_if_not_exists=False)


def restore(world: World, name: str, version: int) -> None:
    """RESTORE a table."""
    DeltaTable(world.table(name)).restore(version)
    if name == "trips":
        world.people = _people_at(world, version)
        # Where there is no file, none has rotted.
        there = world.reader.read(world.table(name)).files
        world.vanished = world.vanished | world.rotted if there else set()
    world.rolled_back = True
    if name == "trips__offsets":
        world.state_reasons.append("an older offsets table")
    world.tell(f"RESTORE of {name} to version {version}")


def _people_at(world: World, version: int) -> People:
    """What people had changed at a version of the data table."""
    noted = [each for each in world.people_then if isinstance(each, int) and each <= version]
    return world.people_then[max(noted)].copy() if noted else world.people
