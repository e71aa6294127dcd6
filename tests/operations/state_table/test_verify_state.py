"""`sluice verify` of a pipeline with a state table: exact only if each key has its newest row."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from sluice.cli.views.verdicts import verdict_document, verdict_lines
from sluice.lake.state.session_apart import committing
from sluice.operations.verify.state_check import StateVerdict
from sluice.operations.verify.verify import Verdict
from sluice.protocol.refresh.due_span import due_span
from sluice.state_table.commits import app_id

from tests.worlds.keyed import keyed, put, state_sql
from tests.worlds.pipelines import Installed, Pipelines, Topic

pytestmark = [pytest.mark.integration, pytest.mark.spark]
FAULTS = {
    1: "UPDATE {state} SET v = 'wrong' WHERE _key_id = 1",
    2: "DELETE FROM {state} WHERE _key_id = 2",
    3: "INSERT INTO {state} SELECT * FROM {state} WHERE _key_id = 3",
    4: "UPDATE {state} SET _deleted = false WHERE _key_id = 4",
    5: "UPDATE {state} SET _offset = _offset - 1 WHERE _key_id = 5",
    99: "UPDATE {state} SET _key_id = 99 WHERE _key_id = 6",
}


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline with seven keys, of which two are deleted; its state is up to date."""
    trips = keyed(topic, pipeline)
    for key in range(1, 8):
        put(trips, key, {"v": "a"})
    put(trips, 4, None)
    put(trips, 7, None)
    trips.run()
    trips.open().refresh()
    return trips


def verified(trips: Installed) -> tuple[Verdict, StateVerdict]:
    found = trips.open().verify(lambda wanted, offset: None)
    assert found.state is not None
    return found, found.state


def plant(trips: Installed, statement: str) -> None:
    """A refresh that does something else than the log says, and claims to stand where it ends."""
    state_sql(trips, "ALTER TABLE {log} SET TBLPROPERTIES ('a' = 'b')")
    due = due_span(trips.open().resources)
    assert due is not None
    told = due.attempt.commit
    with committing(trips.session(), app_id(trips.name), told.data_version, told.text):
        state_sql(trips, statement)


def test_a_state_table_that_cannot_be_read_does_not_keep_the_data_table_from_being_compared(
    trips: Installed,
) -> None:
    log = trips.warehouse / "trips__state" / "_delta_log"
    max(log.glob("*.json")).write_text("nothing of a log")
    found, state = verified(trips)
    assert (found.compared, state.differing) == (9, None)
    assert not found.is_exact
    lines = [*verdict_lines("trips", found)]
    (line,) = (each for each in lines if each.startswith("state table: "))
    assert line.startswith(f"state table: unknown: {log.parent}: its log cannot be read")
    assert "`sluice rebuild trips --execute`" in str(state.problem)


def names(violations: list[str]) -> set[int]:
    return {int(key) for line in violations for key in re.findall(r"\(?(\d+),?\)?", keys_of(line))}


def keys_of(line: str) -> str:
    """What the oracle names before its colon."""
    return ",".join(re.findall(r"key (\S+?)(?=[,:]| and)", line))


def test_an_exact_state_is_exact_and_one_behind_is_compared_at_its_version(
    trips: Installed,
) -> None:
    found, state = verified(trips)
    assert (found.is_exact, state.differing, state.keys) == (True, 0, ())
    at = trips.version()
    put(trips, 1, {"v": "b"})
    trips.run()
    found, state = verified(trips)
    assert (found.is_exact, state.differing, state.status.behind) == (True, 0, 1)
    document = verdict_document("trips", found)["state"]
    assert isinstance(document, dict)
    assert (document["stands_at"], document["behind"], document["differing"]) == (at, 1, 0)
    assert document["deleted_keys"] == 2
    lines = "\n".join(verdict_lines("trips", found))
    assert f"state table: at version {at} of the data table, 1 version behind" in lines
    assert ": exact; 2 deleted keys not collected" in lines


def test_each_planted_fault_is_found_by_its_key_as_the_oracle_finds_it(trips: Installed) -> None:
    for number, (key, statement) in enumerate(FAULTS.items(), 1):
        plant(trips, statement)
        found, state = verified(trips)
        assert not found.is_exact
        assert found.violations == ()
        wanted = number + (key == 99)  # The key that it was is missed, too.
        assert state.differing == wanted, state
        assert any(f'{{"_key_id":{key}}}: ' in each for each in state.keys)
        by_oracle = names(trips.state_violations())
        assert by_oracle >= {key}
        assert by_oracle == {
            int(each) for line in state.keys for each in re.findall(r":(\d+)}", line)
        }
    assert state.problem is not None
    assert "`sluice rebuild trips --execute`" in str(state.problem)
    assert verdict_document("trips", found)["exact"] is False


def test_a_deleted_key_that_is_absent_was_collected(trips: Installed) -> None:
    plant(trips, "DELETE FROM {state} WHERE _key_id = 7")
    assert verified(trips)[1].differing == 0
    assert trips.state_violations(collected=True) == []


def test_a_state_that_is_refused_or_would_stop_is_not_exact(trips: Installed) -> None:
    put(trips, 1, {"v": "elsewhere"}, partition=1)
    trips.run()
    found, state = verified(trips)
    assert (found.is_exact, state.differing) == (False, 0)
    assert "Name the columns that do in the spec" in str(state.problem)
    state_sql(trips, "DELETE FROM {state} WHERE _key_id = 1")
    found, state = verified(trips)
    assert (found.is_exact, state.differing) == (False, None)
    assert "found a DELETE" in str(state.problem)
    assert "`sluice rebuild trips" in str(state.problem)


@pytest.mark.deciding
def test_a_pipeline_without_a_state_table_starts_no_spark(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    trips.write_spec()
    found = trips.open().verify(lambda wanted, offset: None)
    assert found.state is None
    assert "state" not in verdict_document("trips", found)
    assert replace(found, state=None).is_exact
