"""The oracle of the state table is alive: it knows the state of a log, and finds each fault."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.oracle import StateRules
from tests.oracle.state_world import STATE, T0, Commit, StateWorld, kept, record, verdict

RULES = StateRules(
    ("_key_id",), deletes=lambda row: row["_op"] == "d", unavailable="?", unkeyed="ignore"
)
FIRST = [
    record(1, (0, 0), name="a", price=math.nan, photo=b"\xff\x00", tags=["x"]),
    record(2, (0, 1), name="b", seen=[{"at": T0, "by": None}], price=-0.0),
    record(3, (1, 0), name="c", tags=[]),
    record(4, (1, 1), name="d"),
    record(None, (1, 2), name="nobody"),
]
SECOND = [
    record(1, (0, 2), name="?", photo=b"?", tags=["?"], price=1.5),
    record(2, (0, 3), _tombstone=True),
    record(3, (1, 3), _op="d"),
]
THIRD = [
    record(4, (1, 4), name="?", _timestamp=T0 + timedelta(microseconds=1)),
    record(5, (0, 4), name="?"),
]


def right() -> StateWorld:
    """Two spans, the second of two versions."""
    before = [kept(row) for row in FIRST[:4]]
    after = [
        kept(SECOND[0], name="a", photo=b"\xff\x00", tags=["x"]),
        kept(SECOND[1], deleted=True),
        kept(SECOND[2], deleted=True),
        kept(THIRD[0], name="d"),
        kept(THIRD[1], name=None),
    ]
    return StateWorld([FIRST, SECOND, THIRD], [Commit(0, before), Commit(2, after)])


def test_a_right_state_is_right_at_every_version(tmp_path: Path) -> None:
    assert verdict(right(), tmp_path, RULES) == ""


def test_a_key_is_the_same_with_another_sign_of_its_zero(tmp_path: Path) -> None:
    log = [record(1, (0, 0), price=0.0), record(1, (0, 1), price=-0.0)]
    world = StateWorld([log], [Commit(0, [kept(log[1], price=0.0)])])
    assert verdict(world, tmp_path, StateRules(("price",))) == ""
    assert "price: expected -0.0" in verdict(world, tmp_path / "other")


Plant = Callable[[StateWorld], Any]


def edit(version: int, change: Callable[[list[Any]], Any]) -> Plant:
    """Changes the rows of a commit."""
    return lambda world: change(world.commits[version].rows)


def put(version: int, key: int, **values: Any) -> Plant:
    """Changes the row of a key in a commit."""
    return edit(version, lambda rows: rows[key - 1].update(values))


def tell(**values: Any) -> Plant:
    return lambda world: world.commits[1].told.update(values)


def commit(**values: Any) -> Plant:
    """Changes the last commit itself."""
    return lambda world: world.commits[-1].__dict__.update(values)


FAULTS: dict[str, tuple[Plant, str]] = {
    "a row dropped": (edit(1, lambda rows: rows.pop(3)), "key 4: expected a row, found none"),
    "a row dropped before": (
        edit(0, lambda rows: rows.pop(1)),
        "state version 0 (data version 0): key 2: expected a row, found none",
    ),
    "a row doubled": (
        edit(1, lambda rows: rows.append(rows[0])),
        "key 1: expected one row, found several",
    ),
    "an older row": (
        edit(1, lambda rows: rows.__setitem__(0, kept(FIRST[0]))),
        "key 1: _offset: expected 2, found 0",
    ),
    "a value changed": (put(1, 4, name="D"), "key 4: name: expected 'd', found 'D'"),
    "bytes changed": (put(1, 1, photo=b"\xff"), "key 1: photo: expected b'\\xff\\x00'"),
    "the sign of a zero lost": (put(0, 2, price=0.0), "key 2: price: expected -0.0, found 0.0"),
    "NaN lost": (put(0, 1, price=None), "key 1: price: expected nan, found None"),
    "a list instead of none": (put(0, 1, seen=[]), "key 1: seen: expected None, found []"),
    "none instead of a list": (put(0, 3, tags=None), "key 3: tags: expected [], found None"),
    "a nested moment shifted": (
        put(0, 2, seen=[{"at": T0 + timedelta(microseconds=1), "by": None}]),
        "key 2: seen: expected [{'at': ",
    ),
    "a moment shifted": (put(1, 4, _timestamp=T0), "key 4: _timestamp: expected "),
    "a deleted key missing": (
        edit(1, lambda rows: rows.pop(1)),
        "key 2: expected a row, found none",
    ),
    "a deletion undone": (put(1, 3, _deleted=False), "_deleted: expected True, found False"),
    "a deletion made up": (put(1, 4, _deleted=True), "_deleted: expected False, found True"),
    "a deletion unknown": (put(1, 4, _deleted=None), "_deleted: expected False, found None"),
    "a key too many": (
        edit(1, lambda rows: rows.append(kept(record(6, (0, 0))))),
        "key 6: expected no row, found one",
    ),
    "a row without a key": (
        edit(1, lambda rows: rows.append(kept(FIRST[4]))),
        "expected a key in each row, found a null in {'_key_id': None}",
    ),
    "a placeholder not filled": (put(1, 1, name="?"), "key 1: name: expected 'a', found '?'"),
    "a placeholder without an older value": (
        put(1, 5, name="?"),
        "key 5: name: expected None, found '?'",
    ),
    "the version before": (
        commit(data_version=1),
        "state version 1 (data version 1): key 5: expected no row, found one",
    ),
    "a version that is not there": (
        commit(data_version=3),
        "expected a version of the data table, whose newest is 2",
    ),
    "a version below": (
        commit(data_version=-1),
        "state version 1 (data version -1): expected a version of the data table, found none",
    ),
    "another version told": (tell(data_version=1), "expected data_version 2, found 1"),
    "another table told": (tell(data_table_id="x"), ", found 'x'"),
    "no digest": (tell(digest=""), "expected digest to be a text, found ''"),
    "no count": (tell(stale=None), "expected stale to be a count, found None"),
    "a count below zero": (tell(updated=-1), "expected updated to be a count, found -1"),
    "a truth for a count": (tell(unkeyed=True), "expected unkeyed to be a count, found True"),
    "nothing told": (commit(metadata="?"), "expected userMetadata with a JSON object, found None"),
    "a list told": (commit(metadata="[]"), "expected userMetadata with a JSON object, found []"),
    "a column too many": (
        commit(schema=STATE.append(pa.field("more", pa.int8()))),
        "column more: expected none, found int8",
    ),
    "a column that is left out": (
        commit(schema=STATE.append(pa.field("_batch", pa.string()))),
        "column _batch: expected none, found string",
    ),
    "a column lacking": (
        commit(schema=STATE.remove(STATE.get_field_index("price"))),
        "column price: expected double, found none",
    ),
    "no `_deleted`": (
        commit(schema=STATE.remove(STATE.get_field_index("_deleted"))),
        "column _deleted: expected bool, found none",
    ),
    "another type": (
        commit(schema=STATE.set(0, pa.field("_key_id", pa.int32()))),
        "column _key_id: expected int64, found int32",
    ),
    "no claim": (
        lambda world: [each.__dict__.update(claims=False) for each in world.commits],
        "expected a commit with the id sluice:p:state, found none",
    ),
    "a row changed by others since": (
        lambda world: world.commits.append(Commit(2, world.commits[1].rows[:4], claims=False)),
        "state version 2, after state version 1 (data version 2): key 5: expected a row",
    ),
    "behind": (
        lambda world: world.commits.pop(),
        "state version 0 (data version 0), behind data version 2: key 5: expected a row",
    ),
}


@pytest.mark.parametrize(("plant", "told"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_is_told(tmp_path: Path, plant: Plant, told: str) -> None:
    world = right()
    plant(world)
    assert told in verdict(world, tmp_path, RULES)
