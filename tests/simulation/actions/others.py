"""What other people do to the tables."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import DeltaTable

from tests.simulation.actions.registry import action, pick
from tests.simulation.books import Key
from tests.simulation.history import Draws
from tests.simulation.restores import copy_rows, restore
from tests.simulation.rows import content_of_row, key_of
from tests.simulation.told import read_tables, reading_goes_on
from tests.simulation.world import STATE, TABLES, World


def _there(world: World) -> list[str]:
    return [each for each in TABLES if _is_there(world, each)]


def _is_there(world: World, name: str) -> bool:
    return (world.table(name) / "_delta_log").is_dir()


def some_rows(world: World, draws: Draws) -> list[dict[str, object]]:
    """One row of the data table; none where it has none."""
    rows = sorted(world.reader.read(world.table("trips")).rows, key=key_of)
    return [pick(rows, draws[0])] if rows else []


def where(key: Key) -> str:
    """The condition that only this place meets."""
    return (
        f"_topic_id = '{key.topic_id}' AND _partition = {key.partition} AND _offset = {key.offset}"
    )


def _erased(world: World, key: Key) -> None:
    """Note that a row is gone for good; of one that is about to be read again, nothing is said."""
    (world.let_go if _may_come_back(world, key) else world.erased).add(key)
    world.updated.pop(key, None)


@action(8)
def others_delete_a_row(world: World, draws: Draws) -> None:
    """DELETE of a row of the data table."""
    for row in some_rows(world, draws):
        key = key_of(row)
        DeltaTable(world.table("trips")).delete(where(key))
        _erased(world, key)
        world.tell(f"others DELETE {key.partition}@{key.offset}")


@action(4)
def others_merge_a_row_away(world: World, draws: Draws) -> None:
    """MERGE into the data table: a row that somebody lists is deleted."""
    for row in some_rows(world, draws):
        key = key_of(row)
        listed = pa.table({"id": [key.topic_id], "number": [key.partition], "at": [key.offset]})
        DeltaTable(world.table("trips")).merge(
            listed,
            "kept._topic_id = gone.id AND kept._partition = gone.number AND kept._offset = gone.at",
            source_alias="gone",
            target_alias="kept",
        ).when_matched_delete().execute()
        _erased(world, key)
        world.tell(f"others MERGE {key.partition}@{key.offset} away")


@action(6)
def others_update_a_row(world: World, draws: Draws) -> None:
    """UPDATE of a row of the data table: its key is masked."""
    for row in some_rows(world, draws):
        key = key_of(row)
        DeltaTable(world.table("trips")).update(updates={"_key": "NULL"}, predicate=where(key))
        if _may_come_back(world, key):
            world.let_go.add(key)
        else:
            world.updated[key] = content_of_row(row)._replace(key=None)
        world.tell(f"others UPDATE {key.partition}@{key.offset}")


@action(3, fault=True)
def others_delete_from_the_quarantine(world: World, draws: Draws) -> None:
    """DELETE of a quarantined record."""
    rows = sorted(world.reader.read(world.table("trips__quarantine")).rows, key=key_of)
    if rows:
        key = key_of(pick(rows, draws[0]))
        DeltaTable(world.table("trips__quarantine")).delete(where(key))
        world.tell(f"others DELETE {key.partition}@{key.offset} from the quarantine")


@action(3)
def others_optimize(world: World, draws: Draws) -> None:
    """OPTIMIZE of the data table by others."""
    if "trips" in _there(world):
        DeltaTable(world.table("trips")).optimize.compact()
        world.tell("others OPTIMIZE")


@action(3)
def others_set_a_property(world: World, draws: Draws) -> None:
    """A property of the data table changes."""
    if "trips" in _there(world):
        properties = {"delta.checkpointInterval": str(5 + draws[0] % 50)}
        DeltaTable(world.table("trips")).alter.set_table_properties(properties)
        world.tell("others set a property")


def _is_another(world: World) -> None:
    """The data table is another one, whose versions mean something else."""
    world.people_then = {at: e for at, e in world.people_then.items() if isinstance(at, Path)}
    world.state_reasons.append("another data table")


def _restore(world: World, name: str, draws: Draws) -> None:
    folder = world.table(name)
    found = sorted((folder / "_delta_log").glob("*.json")) if name in _there(world) else []
    if len(found) > 1:
        # Near ones more often than far ones.
        back = 1 + min(draws[0] % len(found), draws[1] % len(found))
        restore(world, name, int(found[max(0, len(found) - 1 - back)].stem))


@action(8, fault=True)
def others_restore_the_data_table(world: World, draws: Draws) -> None:
    """RESTORE of the data table."""
    _restore(world, "trips", draws)


@action(4, fault=True)
def others_restore_the_offsets_table(world: World, draws: Draws) -> None:
    """RESTORE of the offsets table."""
    _restore(world, "trips__offsets", draws)


@action(3, fault=True)
def others_restore_the_quarantine(world: World, draws: Draws) -> None:
    """RESTORE of the quarantine table."""
    _restore(world, "trips__quarantine", draws)


@action(10)
def tables_copied(world: World, draws: Draws) -> None:
    """Somebody keeps a copy of all tables."""
    if there := [each for each in (*TABLES, STATE) if _is_there(world, each)]:
        copy = world.folder / f"copy{len(world.copies) + 1}"
        for name in there:
            shutil.copytree(world.table(name), copy / name)
        world.copies.append(copy)
        world.people_then[copy] = world.people.copy()
        world.tell(f"tables copied: copy {len(world.copies)}")


def put_back(world: World, draws: Draws, names: tuple[str, ...]) -> None:
    """Put back tables from a copy, if there is one."""
    # A process whose files are written, and gone with the folder, would commit to them.
    if not world.copies or any(e.point == "lake: files written" for e in world.frozen):
        return
    copy = pick(world.copies, draws[0])
    for name in names:
        shutil.rmtree(world.table(name), ignore_errors=True)
        if (copy / name).is_dir():
            shutil.copytree(copy / name, world.table(name))
    if "trips" in names:
        world.people = world.people_then[copy].copy()
        world.vanished |= world.rotted
        _is_another(world)
    world.state_reasons.append("older tables")
    if names != (STATE,):
        world.rolled_back = True
        world.put_back.update(names)
        world.all_put_back = world.put_back >= {"trips", "trips__offsets"}
    world.tell(f"put back from {copy.name}: {', '.join(names)}")


@action(8, fault=True)
def the_data_table_is_put_back(world: World, draws: Draws) -> None:
    """The data table is an older copy."""
    put_back(world, draws, ("trips",))


@action(4, fault=True)
def the_offsets_table_is_put_back(world: World, draws: Draws) -> None:
    """The offsets table is an older copy."""
    put_back(world, draws, ("trips__offsets",))


@action(3, fault=True)
def the_quarantine_is_put_back(world: World, draws: Draws) -> None:
    """The quarantine table is an older copy."""
    put_back(world, draws, ("trips__quarantine",))


@action(5, fault=True)
def all_tables_are_put_back(world: World, draws: Draws) -> None:
    """All tables are those of a copy."""
    put_back(world, draws, (*TABLES, STATE) if world.setting.has_state else TABLES)


def _drop(world: World, name: str) -> None:
    if name in _there(world):
        shutil.rmtree(world.table(name))
        if name == "trips":
            _is_another(world)
        world.rolled_back = True
        world.state_reasons.append(f"{name} is gone")
        world.tell(f"{name} is gone")
        _is_forgotten(world)


def _is_forgotten(world: World) -> None:
    """An empty copy of the data table, and no offsets table: nothing tells it from a new one's."""
    if "trips" not in _there(world) or "trips__offsets" in _there(world):
        return
    data = world.reader.read(world.table("trips"))
    if not data.rows and not data.transactions:
        world.let_go.update(world.erased)
        world.erased.clear()
        world.updated.clear()


@action(2, fault=True)
def the_data_table_is_dropped(world: World, draws: Draws) -> None:
    """DROP of the data table."""
    _drop(world, "trips")


@action(8, fault=True)
def the_offsets_table_is_dropped(world: World, draws: Draws) -> None:
    """DROP of the offsets table."""
    _drop(world, "trips__offsets")


@action(3, fault=True)
def the_quarantine_is_dropped(world: World, draws: Draws) -> None:
    """DROP of the quarantine table."""
    _drop(world, "trips__quarantine")


@action(5, fault=True)
def the_data_table_is_cloned(world: World, draws: Draws) -> None:
    """The data table is a copy of its rows: another Delta id, nobody's transactions."""
    if "trips" not in _there(world):
        return
    world.rolled_back = True
    _is_another(world)
    copy_rows(world.table("trips"))
    world.tell("the data table is a copy of its rows (CTAS)")
    _is_forgotten(world)


@action(2, fault=True)
def the_reader_leaves_out_a_record(world: World, draws: Draws) -> None:
    """The next batch that is read lacks a record."""
    world.left_out.append(draws[0])
    world.tell("the reader will leave out a record")


@action(3, fault=True)
def rows_vanish_from_a_file(world: World, draws: Draws) -> None:
    """A data file has a row less than its commit says: bits have rotted."""
    for row in some_rows(world, draws):
        key = key_of(row)
        for name in world.reader.read(world.table("trips")).files:
            path = world.table("trips") / name
            rows = pq.ParquetFile(path).read()
            there = [key_of(each) != key for each in rows.to_pylist()]
            if not all(there):
                _rewrite(path, rows.filter(pa.array(there)))
                world.vanished.add(key)
                world.rotted.add(key)
                world.state_reasons.append("another size in the log")
                world.tell(f"{key.partition}@{key.offset} vanishes from {name}")


def _rewrite(path: Path, rows: pa.Table) -> None:
    """Other rows in a file; the log names its size as it is then."""
    before = path.stat().st_size
    pq.write_table(rows, path)
    for commit in (path.parent / "_delta_log").glob("*.json"):
        text = commit.read_text(encoding="utf-8")
        if path.name in text:
            now = text.replace(f'"size":{before}', f'"size":{path.stat().st_size}')
            commit.write_text(now, encoding="utf-8")


def _may_come_back(world: World, key: Key) -> bool:
    """Whether a process or a plan may read it again, or a reset has been told to."""
    planned: dict[tuple[str, int], int] = {}
    tables = read_tables(world)
    for row in tables.offsets.rows:
        if row["event"] == "planned":
            lane = row["lane"], row["generation"]
            planned[lane] = max(planned.get(lane, 0), row["batch_id"])
    landed = tables.data.transactions
    waits = any(
        number > landed.get(f"sluice:trips:{lane}:{generation}", 0)
        for (lane, generation), number in planned.items()
    )
    return bool(world.frozen) or waits or key.offset >= reading_goes_on(tables, key)
