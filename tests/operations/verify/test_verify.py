"""`sluice verify` after resets, RESTORE, and what others did to the rows: what is lost is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.operations.reset.targets import to_earliest, to_table
from sluice.operations.verify.verify import Verdict

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

FORM = {"type": "json", "schema": "id BIGINT"}
# Until the next run settles, the consumer group stands where it did.
RESET = {"caught_up": False, "group": None}
BROKEN = b'{"id": 1'


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed two batches of ten records."""
    return landed(pipeline(topic()))


@pytest.fixture
def malformed(topic: Topic, pipeline: Pipelines) -> Installed:
    """The same, with one record of each batch in quarantine."""
    return landed(pipeline(topic(), format=FORM, quarantine={"max_ratio": 1}))


def landed(trips: Installed) -> Installed:
    for number in range(2):
        more(trips, 10 * number)
        trips.run()
    return trips


def more(trips: Installed, first: int) -> None:
    produce(trips.bootstrap, trips.topics[0], [BROKEN, *numbered(9, first)])


def verified(trips: Installed) -> Verdict:
    return trips.open().verify(lambda wanted, offset: None)


def found(trips: Installed) -> list[str]:
    return [each.invariant for each in verified(trips).violations]


def exact(trips: Installed, batches: int, rows: int, aside: int, **expectations: object) -> None:
    verdict = verified(trips)
    assert verdict.violations == ()
    assert (verdict.batches, verdict.records, verdict.quarantined) == (batches, rows, aside)
    facts = trips.judge(**expectations).facts
    assert (facts.committed, facts.rows, facts.quarantined) == (batches, rows, aside)


def asked(trips: Installed, command: str, *args: str) -> dict[str, Any]:
    done = trips.sluice(command, *args, "--json")
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def sql(trips: Installed, statement: str) -> None:
    trips.session().sql(statement.format(t=f"delta.`{trips.data}`")).collect()


def test_what_was_read_again_is_exact(malformed: Installed) -> None:
    trips = malformed
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    exact(trips, batches=2, rows=18, aside=2, **RESET)
    status = asked(trips, "status")
    assert (status["generation"], status["last_batch"], status["lost"]) == (2, None, 0)
    assert [(each["cursor"], each["lag"]) for each in status["partitions"]] == [(0, 20)]
    more(trips, 20)
    trips.run()
    assert len(trips.quarantined()) == 5, "two of them are live no more"
    exact(trips, batches=3, rows=27, aside=3)
    shown = [(each["batch"], each["mode"]) for each in asked(trips, "history")["batches"]]
    assert shown == [
        ("forward-1-1", "append"),
        ("forward-1-2", "append"),
        ("forward-2-1", "replace"),
    ]


def test_a_restored_table_is_incomplete_until_it_is_reset_and_read_again(
    malformed: Installed,
) -> None:
    trips = malformed
    landed = {row["batch"]: row["data_version"] for row in trips.offsets("committed")}
    DeltaTable(trips.data).restore(landed["forward-1-1"])
    assert found(trips) == ["complete", "accounted"]
    trips.open().reset(to_table, "a test", "run", "pytest")
    exact(trips, batches=1, rows=9, aside=1, **RESET)
    more(trips, 20)
    trips.run()
    exact(trips, batches=2, rows=27, aside=3)
    shown = [(each["batch"], each["undone"]) for each in asked(trips, "history")["batches"]]
    assert shown == [("forward-1-1", False), ("forward-1-2", True), ("forward-2-1", False)]


@pytest.mark.spark
def test_an_overwrite_by_others_is_told_by_what_it_took_away(trips: Installed) -> None:
    version = DeltaTable(trips.data).version()
    rows = trips.session().read.format("delta").load(str(trips.data))
    rows.where("_offset NOT IN (3, 4, 15)").write.format("delta").mode("overwrite").save(
        str(trips.data)
    )
    sql(trips, "UPDATE {t} SET value = NULL WHERE _offset = 5")
    verdict = verified(trips)
    assert verdict.violations == ()
    assert [(each.version, each.operation, each.rows) for each in verdict.deleted] == [
        (version + 1, "WRITE", 3)
    ]
    # What is read again afterwards is no longer excused.
    trips.open().reset(to_earliest, "a test", "run", "pytest", bring_back_erased=True)
    trips.run()
    assert verified(trips).violations == ()
    assert len(trips.rows()) == 20
    with pytest.raises(AssertionError, match="removed"):
        trips.judge()


@pytest.mark.spark
def test_rows_that_others_added_are_phantoms(trips: Installed) -> None:
    version = trips.version()
    for columns in ("value", "_topic, '?' AS _topic_id, _partition, _offset, _batch"):
        rows = trips.session().read.format("delta").load(str(trips.data))
        one = rows.where("_partition = 0").limit(1)
        one.selectExpr(*columns.split(", ")).write.format("delta").mode("append").save(
            str(trips.data)
        )
    found = verified(trips).violations
    assert [each.invariant for each in found] == ["no phantom", "no phantom"]
    assert {str(each.partition) for each in found} == {
        "topic id unknown [-1]",
        "topic id ? [0]",
    }
    sql(trips, f"RESTORE TABLE {{t}} TO VERSION AS OF {version}")
    assert verified(trips).violations == ()


@pytest.mark.spark
def test_what_others_deleted_and_vacuumed_can_no_longer_be_told_from_a_loss(
    trips: Installed,
) -> None:
    version = DeltaTable(trips.data).version()
    sql(trips, "DELETE FROM {t} WHERE _offset = 3")
    table = DeltaTable(trips.data)
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    done = trips.sluice("verify", "--json")
    assert done.returncode == 1, done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["deleted_by_others"] == [
        {"version": version + 1, "operation": "DELETE", "rows": None}
    ]
    assert {each["invariant"] for each in verdict["violations"]} == {"complete", "accounted"}
    with pytest.raises(AssertionError, match=r"missing 1 \(3\)"):
        trips.judge()
