"""How the oracle reads a state: which commits it judges, and by which plans."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tests.oracle import StateRules, Unjudgeable
from tests.oracle.delta_log import read_log
from tests.oracle.state_tables import topic_ids
from tests.oracle.state_world import (
    BY_KEY,
    DATA,
    LOG,
    Commit,
    StateWorld,
    judged,
    kept,
    planned,
    record,
    two_versions,
    verdict,
)
from tests.oracle.world_schemas import SCHEMAS
from tests.worlds.pipelines import Installed, no_spark


def test_deleted_keys_may_be_collected_where_it_is_said(tmp_path: Path) -> None:
    world = two_versions()
    world.commits[1].rows = world.commits[1].rows[:2]
    assert "key 2: expected a row" in verdict(world, tmp_path / "t")
    assert judged(tmp_path / "t", collected=True) == ""
    world.commits[1].rows = world.commits[1].rows[:1]
    told = verdict(world, tmp_path / "u", collected=True)
    assert told.endswith("(data version 1): key 1: expected a row, found none")


def test_a_state_may_be_behind_where_it_is_said(tmp_path: Path) -> None:
    world = two_versions()
    world.commits.pop()
    assert "behind data version 1" in verdict(world, tmp_path)
    assert judged(tmp_path, caught_up=False) == ""


def test_versions_of_the_log_that_change_nothing_need_no_commit(tmp_path: Path) -> None:
    world = two_versions()
    world.write(tmp_path)
    DeltaTable(tmp_path / "t").optimize.compact()
    DeltaTable(tmp_path / "t__state").optimize.compact()
    assert judged(tmp_path) == ""


def test_a_rebuild_may_go_back_and_nothing_else(tmp_path: Path) -> None:
    world = two_versions()
    world.commits.append(replace(world.commits[0], operation="WRITE"))
    assert verdict(world, tmp_path / "t", caught_up=False) == ""
    world.commits[2].operation = "MERGE"
    told = verdict(world, tmp_path / "u", caught_up=False)
    assert "expected no version before that of state version 1" in told


def test_what_was_wrong_before_a_rebuild_of_the_same_log_stays_told(tmp_path: Path) -> None:
    world = two_versions()
    world.commits[0].rows = []
    world.commits.append(replace(world.commits[1], operation="WRITE"))
    assert verdict(world, tmp_path).startswith("state version 0 (data version 0): key 0")


def test_states_of_another_log_are_left_out_once_it_was_rebuilt(tmp_path: Path) -> None:
    world = two_versions()
    world.commits.insert(0, Commit(7, [], {"data_table_id": "another"}))
    assert "expected data_table_id" in verdict(world, tmp_path / "t")
    world.commits[1].operation = "WRITE"
    assert verdict(world, tmp_path / "u") == ""


def test_rows_by_others_before_the_state_was_mended_are_left_out(tmp_path: Path) -> None:
    world = two_versions()
    world.commits.insert(1, Commit(0, [], claims=False))
    assert verdict(world, tmp_path) == ""


def test_no_table_and_no_log_are_told(tmp_path: Path) -> None:
    assert "expected a state table, found none" in judged(tmp_path)
    world = two_versions()
    world.spans = [[*LOG, {**LOG[1], "_partition": 1}]]
    world.commits.pop()
    assert "expected no state, as key 1 has no order between" in verdict(world, tmp_path)


def test_rows_without_a_key_stop_the_state_unless_they_are_ignored(tmp_path: Path) -> None:
    world = two_versions()
    world.spans[0] = [*LOG, record(None, (1, 0))]
    assert "expected no state, as 1 rows have no key: t[1] 0" in verdict(world, tmp_path)
    assert judged(tmp_path, replace(BY_KEY, unkeyed="ignore")) == ""


def test_cleaned_up_versions_are_left_out_but_never_the_newest(tmp_path: Path) -> None:
    two_versions().write(tmp_path)
    root = tmp_path / "t__state"
    first, second = (path for n in (0, 1) for path in read_log(root, n).live)
    Path(first).unlink()
    assert judged(tmp_path) == ""
    Path(second).unlink()
    with pytest.raises(Unjudgeable, match="version 1 lacks the file"):
        judged(tmp_path)


def test_a_column_that_came_later_is_in_later_states(tmp_path: Path) -> None:
    two_versions().write(tmp_path)
    more = pa.field("more", pa.string())
    late = pa.Table.from_pylist([{**record(9, (0, 9)), "more": "x"}], DATA.append(more))
    write_deltalake(tmp_path / "t", late, mode="append", schema_mode="merge")
    assert "behind data version 2: column more: expected string, found none" in judged(tmp_path)
    assert judged(tmp_path, caught_up=False) == ""


def test_moments_beyond_those_of_python_are_compared(tmp_path: Path) -> None:
    log = [record(1, (0, 0), _timestamp=4 * 10**17, seen=[{"at": -(10**18), "by": "x"}])]
    world = StateWorld([log], [Commit(0, [kept(log[0])])])
    assert verdict(world, tmp_path / "t") == ""
    world.commits[0].rows[0]["_timestamp"] += 1
    assert verdict(world, tmp_path / "u").endswith(
        "_timestamp: expected 400000000000000000, found 400000000000000001"
    )


def test_topic_ids_rank_as_plans_saw_them(tmp_path: Path) -> None:
    rows = [
        planned("t", "B", 2),
        # A backfill has numbers of its own, and reads what forward batches saw.
        planned("t", "B", 1, lane="backfill"),
        planned("t", "A", 1),
        planned("u", "C", 3),
        {**planned("t", "Z", 0), "generation": 2},
        {**planned("t", "Y", 0), "event": "committed"},
        {**planned("t", "X", 0), "pipeline": "another"},
    ]
    write_deltalake(tmp_path / "t__offsets", pa.Table.from_pylist(rows, SCHEMAS["offsets"]))
    found = topic_ids(tmp_path, "t", "p").turns
    assert {topic: [each for each, _ in turns] for topic, turns in found.items()} == {
        "t": ["A", "B", "Z"],
        "u": ["C"],
    }


def test_a_later_topic_id_goes_before_in_the_state(tmp_path: Path) -> None:
    log = [record(1, (0, 5)), record(1, (0, 0), _topic_id="B")]
    world = StateWorld([log], [Commit(0, [kept(log[1])])], [("t", "A"), ("t", "B")])
    assert verdict(world, tmp_path / "t") == ""
    world.topics.reverse()
    assert "_offset: expected 5, found 0" in verdict(world, tmp_path / "u")


def installed(folder: Path, **keys: Any) -> Installed:
    """A pipeline beside the tables of a little world, of which nothing runs."""
    return Installed(folder, "unused:0", ["t"], no_spark, name="p", keys=keys)


def written(folder: Path, world: StateWorld) -> Path:
    world.table = "p"
    world.write(folder / "warehouse")
    return folder


def test_the_state_of_a_pipeline_is_judged_by_its_spec(tmp_path: Path) -> None:
    log = [
        record(1, (0, 0), name="a", price=2.0),
        record(1, (1, 0), name="?", price=3.0),
        record(1, (0, 1), name="b", price=1.0),
        record(None, (0, 2)),
    ]
    written(tmp_path, StateWorld([log], [Commit(0, [kept(log[1], name="a")])]))
    state = {"key": ["_key_id"], "order_by": ["price"], "unavailable": "?", "unkeyed": "ignore"}
    installed(tmp_path, state=state).judge_state()
    for name, told in (
        ("order_by", "no order"),
        ("unavailable", "name: expected '?', found 'a'"),
        ("unkeyed", "have no key"),
    ):
        less = {key: value for key, value in state.items() if key != name}
        with pytest.raises(AssertionError, match=rf"state version 0 .*{told}".replace("?", r"\?")):
            installed(tmp_path, state=less).judge_state()
    deleting = installed(tmp_path, state=state).state_violations(deletes=lambda row: True)
    assert deleting == [
        "state version 0 (data version 0): key 1: _deleted: expected True, found False"
    ]


def test_a_pipeline_of_change_events_has_its_own_defaults(tmp_path: Path) -> None:
    log = [record(1, (0, 0), _op="c"), record(2, (0, 1), _op="d")]
    world = StateWorld([log], [Commit(0, [kept(log[0]), kept(log[1], deleted=True)])])
    written(tmp_path, world)
    events = {"type": "json", "envelope": "debezium"}
    assert installed(tmp_path, format=events, state={}).state_violations() == []
    told = installed(tmp_path, state={"key": ["_key_id"]}).state_violations()
    assert told == ["state version 0 (data version 0): key 2: _deleted: expected False, found True"]
    rules = StateRules(("_key_id",), deletes=lambda row: row["_op"] == "d")
    assert installed(tmp_path, state={"key": ["name"]}).state_violations(rules) == []
    with pytest.raises(ValueError, match="key"):
        installed(tmp_path, state={}).state_violations()
