"""The quarantine's tools: what is in it and why, and the decision to forget some of it."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from sluice.offsets.loss_causes import LossCause, LossKind
from sluice.offsets.origin import Origin
from sluice.offsets.quarantined import QuarantinedRecord, RecordFilter, RecordState
from sluice.operations.quarantine.drop import decide_drop, drop
from sluice.operations.reset.targets import to_earliest
from sluice.progress.quarantined_records import read_quarantined
from sluice.tables.offsets_appends import append_drop

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import killed_at
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


FORM = {"type": "json", "schema": "id BIGINT"}
WIDER = {"type": "json", "schema": "id STRING"}
BROKEN, WORD, BYTES = b'{"id": 1', b'{"id": "one"}', b"\xff[/red]"


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two partitions; offsets 10 to 13 of the first are malformed, and 5 of the second."""
    made = pipeline(topic(2), format=FORM, quarantine={"max_ratio": 0.3, "max_records": 0})
    send(made, 0, *numbered(10), BROKEN, WORD, WORD, BYTES)
    send(made, 1, *numbered(5), WORD)
    made.run()
    return made


def send(trips: Installed, partition: int, *values: bytes | None) -> None:
    produce(trips.bootstrap, trips.topics[0], values, partition)


def said(trips: Installed, command: str, *args: str, code: int = 0) -> str:
    done = trips.sluice(command, *args)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout or done.stderr


def answer(trips: Installed, command: str, *args: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(trips, command, *args, "--json"))
    return found


def reasons(trips: Installed, state: str = "reasons") -> dict[str, int]:
    listed = answer(trips, "quarantine list")[state]
    return {each["reason"]: each["records"] for each in listed}


def states(trips: Installed) -> dict[RecordState, list[int]]:
    """The offsets of the quarantine's rows, by what they count."""
    found: dict[RecordState, list[int]] = {}
    for row in read_quarantined(trips.open().resources).rows:
        found.setdefault(row.state, []).append(row.offset)
    return found


def drops(trips: Installed, **choice: Any) -> int:
    opened = trips.open()
    by = opened.origin("run", "pytest")
    done = drop(opened.resources, RecordFilter(**choice), "no use", by, opened.open_upkeep)
    return len(done.chosen)


def test_what_was_put_aside_is_listed_by_reason_and_shown(trips: Installed) -> None:
    # Spark's reader goes on with what it found and where, the reference does not.
    counts = reasons(trips)
    assert counts.pop("id: expected BIGINT, found '…'") == 3
    assert sorted(reason.partition(":")[0] for reason in counts) == [
        "not one JSON object",
        "not strict UTF-8",
    ]
    assert set(counts.values()) == {1}
    found = answer(trips, "quarantine list")
    assert (found["max_ratio"], found["max_records"]) == (0.3, 0)
    assert (found["records"], found["stale"]) == (5, 0)
    assert [(each["batch"], each["ratio"]) for each in found["batches"]] == [("forward-1-1", 0.25)]
    first = found["reasons"][0]
    assert first["partitions"] == [f"{trips.topics[0]}[{number}]" for number in (0, 1)]
    assert first["sample"]["value"] == WORD.decode()
    shown = said(trips, "quarantine list")
    assert "allowed in a batch: 30.00% (quarantine.max_ratio)" in shown
    assert "forward-1-1 25.00% (5)" in shown

    records_are_shown_as_they_came(trips)
    a_batch_over_budget_shows_what_it_met_and_counts_for_nothing(trips)


def records_are_shown_as_they_came(trips: Installed) -> None:
    first = f"{trips.topics[0]}[0]"
    everything = answer(trips, "quarantine show")
    assert everything["chosen"] == 5
    (found,) = answer(trips, "quarantine show", "--at", f"{first}@13")["records"]
    assert (found["value"], base64.b64decode(found["value_base64"])) == (None, BYTES)
    assert (found["offset"], found["batch"], found["state"]) == (13, "forward-1-1", "live")
    two = answer(trips, "quarantine show", "--reason-like", "BIGINT", "--limit", "2")
    assert (two["chosen"], [each["offset"] for each in two["records"]]) == (3, [11, 12])
    shown = said(trips, "quarantine show", "--at", f"{first}@10", "--at", f"{first}@13")
    assert '{"id": 1' in shown
    assert BYTES.hex() in shown
    assert said(trips, "quarantine show", "--at", "nonsense", code=2)
    assert answer(trips, "quarantine show", "--batch", "forward-1-2")["chosen"] == 0


def a_batch_over_budget_shows_what_it_met_and_counts_for_nothing(trips: Installed) -> None:
    send(trips, 0, WORD, WORD, *numbered(2))
    work = trips.plan()
    with pytest.raises(Exception, match=f"quarantine list {trips.name}"):
        trips.ingest(work)
    assert reasons(trips, "waiting") == {"id: expected BIGINT, found '…'": 2}
    assert sum(reasons(trips).values()) == 5
    assert answer(trips, "quarantine show", "--batch", "forward-1-2")["chosen"] == 2
    assert drops(trips, batch="forward-1-2") == 0
    trips.write_spec(quarantine={"max_ratio": 1})
    trips.run()
    assert sum(reasons(trips).values()) == 7
    assert trips.judge().facts.quarantined == 7


@pytest.mark.spark
def test_what_is_dropped_leaves_a_record_and_goes(trips: Installed) -> None:
    first = f"{trips.topics[0]}[0]"
    preview = said(trips, "quarantine drop", "--reason-like", "bigint")
    assert f"{first} [11, 13) of forward-1-1" in preview
    assert "Nothing was changed" in preview
    said(trips, "quarantine drop", code=2)
    said(trips, "quarantine drop", "--all", "--execute", code=2)
    assert trips.offsets("loss") == []
    # Killed between its two steps: the decision stands, and the rows count no more.
    killed = ["--reason-like", "bigint", "--execute", "--reason", "a test"]
    assert trips.process("quarantine drop", *killed, **killed_at("drop recorded")).returncode < 0
    recorded = trips.offsets("loss")
    ranges = [(row["partition"], row["start_offset"], row["end_offset"]) for row in recorded]
    assert sorted(ranges) == [(0, 11, 13), (1, 5, 6)]
    assert {row["batch"] for row in recorded} == {"forward-1-1"}
    assert all(row["reason"].startswith("dropped from quarantine by ") for row in recorded)
    assert states(trips) == {RecordState.LIVE: [10, 13], RecordState.DROPPED: [11, 12, 5]}
    assert "FAILED" not in said(trips, "verify")
    # Whoever comes next completes it, and nothing is told twice.
    assert drops(trips, reason_like="bigint") == 0
    assert states(trips) == {RecordState.LIVE: [10, 13]}
    assert trips.offsets("loss") == recorded
    send(trips, 0, *numbered(3))
    trips.run()
    assert "lost: 3 offsets in 2 loss records" in said(trips, "status")
    assert "FAILED" not in said(trips, "verify")
    facts = trips.judge(dropped=frozenset({(0, 11), (0, 12), (1, 5)})).facts
    assert (facts.rows, facts.quarantined) == (18, 2)

    a_dropped_record_that_is_read_again_counts_again(trips)


def a_dropped_record_that_is_read_again_counts_again(trips: Installed) -> None:
    trips.open().reset(to_earliest, "a mended schema", "run", "pytest")
    trips.write_spec(quarantine={"max_ratio": 1})
    trips.run()
    # The old batch's rows are superseded, and too young to go: a RESTORE brings them back.
    assert states(trips)[RecordState.LIVE] == [10, 11, 12, 13, 5]
    assert drops(trips, positions=[(row.partition, row.offset) for row in live(trips)[1:2]]) == 1
    dropped = frozenset({(0, 11), (0, 12), (1, 5)})
    assert "FAILED" not in said(trips, "verify")
    assert states(trips)[RecordState.LIVE] == [10, 12, 13, 5]
    trips.judge(dropped=dropped)


def live(trips: Installed) -> list[QuarantinedRecord]:
    return read_quarantined(trips.open().resources).of(RecordState.LIVE)


def test_what_is_dropped_before_its_receipt_is_counted_all_the_same(trips: Installed) -> None:
    send(trips, 0, BROKEN, *numbered(3))
    trips.ingest(trips.plan())
    assert drops(trips, batch="forward-1-2") == 1
    trips.settle()
    found = [row for row in trips.offsets("committed") if row["batch"] == "forward-1-2"]
    assert [(row["records"], row["quarantined"], row["gaps"]) for row in found] == [
        (3, 1, 0),
        (0, 0, 0),
    ]
    assert "FAILED" not in said(trips, "verify")
    assert len(trips.offsets("loss")) == 1
    assert trips.judge(dropped=frozenset({(0, 14)})).facts.rows == 18


def test_a_drop_that_crossed_the_landing_is_counted_by_its_record(trips: Installed) -> None:
    """It was recorded without the receipt, as by a version that did not write it first."""
    send(trips, 0, BROKEN, *numbered(3))
    trips.ingest(trips.plan())
    resources = trips.open().resources
    found = read_quarantined(resources)
    cause = LossCause(LossKind.DROPPED, "ana", "no use")
    chosen = [row for row in found.rows if row.batch == "forward-1-2"]
    history = found.lane.history
    decided = decide_drop(history.sequence, history.cluster_id, found.rows, chosen, cause)
    append_drop(found.lane.snapshot, decided, Origin("run", "ana", datetime.now(UTC)))
    assert drops(trips, batch="forward-1-2") == 0, "it is decided; the rows go"
    trips.settle()
    counted = [row for row in trips.offsets("committed") if row["batch"] == "forward-1-2"]
    assert [(row["records"], row["quarantined"]) for row in counted] == [(3, 1), (0, 0)]
    assert "FAILED" not in said(trips, "verify")
    assert trips.judge(dropped=frozenset({(0, 14)})).facts.rows == 18
