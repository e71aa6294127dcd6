"""Several kinds of record in one topic: one is landed, the others are counted and left there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.offsets.quarantined import RecordFilter
from sluice.operations.backfill.replay import quarantined_records

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import end, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.spark]

SCHEMA = "kind STRING, id BIGINT"
FORM = {"type": "json", "schema": SCHEMA}
BROKEN = b'{"kind": "order", "id": "x"}'
FOREIGN = b"\xff not of this schema"
Keeps = Callable[[dict[str, Any]], bool]


def record(kind: str, number: int) -> bytes:
    return json.dumps({"kind": kind, "id": number}).encode()


def says_order(found: dict[str, Any]) -> bool:
    return ("kind", b"order") in [(e["key"], e["value"]) for e in found["headers"] or ()]


def holds_order(found: dict[str, Any]) -> bool:
    try:
        return found["value"] is None or json.loads(found["value"])["kind"] == "order"
    except ValueError:
        return True


WAYS: dict[str, tuple[dict[str, str], Keeps, bytes]] = {
    # By a header nothing of another kind is decoded, whatever it is.
    "header": ({"header": "kind", "value": "order"}, says_order, FOREIGN),
    "where": ({"where": "kind = 'order'"}, holds_order, record("click", 7)),
}


def fill(trips: Installed, other: bytes) -> None:
    """Two kinds in turn in three partitions, one of them broken, and aborted transactions."""
    topic, bootstrap = trips.topics[0], trips.bootstrap
    for partition in range(3):
        for number in range(4):
            produce(
                bootstrap, topic, [record("order", number)], partition, headers=[("kind", b"order")]
            )
            produce(bootstrap, topic, [other], partition, headers=[("kind", b"click")])
    produce(bootstrap, topic, [BROKEN], 1, headers=[("kind", b"order")])
    produce(bootstrap, topic, [None], 2, headers=[("kind", b"order")])
    aborted = transactional(bootstrap)
    send(aborted, topic, [record("order", 8), other], 0, headers=[("kind", b"order")])
    end(bootstrap, topic, aborted, commit=False, partitions=3)
    produce(bootstrap, topic, [other] * 3, 0, headers=[("kind", b"click")])


def counts(trips: Installed) -> list[tuple[int, int, int, int]]:
    names = ("records", "quarantined", "filtered", "gaps")
    return [tuple(row[each] for each in names) for row in trips.offsets("committed")]


@pytest.mark.parametrize("written", [False, True], ids=["spark", "written"])
@pytest.mark.parametrize("way", WAYS)
def test_the_kind_is_landed_and_the_others_are_counted(
    topic: Topic, pipeline: Pipelines, way: str, written: bool
) -> None:
    only, keeps, other = WAYS[way]
    trips = pipeline(topic(3, retention_ms=-1), format=FORM, only=only, quarantine={"max_ratio": 1})
    trips.written = written
    fill(trips, other)
    trips.run()
    assert counts(trips) == [(4, 0, 7, 3), (4, 1, 4, 0), (5, 0, 4, 0)]
    facts = trips.judge(keeps=keeps).facts
    assert (facts.rows, facts.quarantined) == (13, 1)
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout
    assert "15 filtered" in trips.sluice("history").stdout + verified.stdout
    # A batch of other kinds only: no row, and the cursor is moved by its commit.
    before = trips.version()
    produce(trips.bootstrap, trips.topics[0], [other] * 2, 1, headers=[("kind", b"click")])
    trips.run()
    assert trips.version() == (before or 0) + 1
    assert counts(trips)[-3:] == [(0, 0, 0, 0), (0, 0, 2, 0), (0, 0, 0, 0)]
    trips.judge(keeps=keeps)
    assert trips.sluice("verify").returncode == 0
    # Read again, the same is left out.
    reset = trips.sluice("reset", "--to-earliest", "--reason", "again", "--execute")
    assert reset.returncode == 0, reset.stderr
    trips.run()
    trips.judge(keeps=keeps)
    assert trips.sluice("verify").returncode == 0


def test_quarantined_records_between_others_are_replayed(topic: Topic, pipeline: Pipelines) -> None:
    only, _, other = WAYS["header"]
    trips = pipeline(topic(), format=FORM, only=only, quarantine={"max_ratio": 1})
    trips.written = True
    for value, kind in ((b"{}", b"order"), (other, b"click"), (b"{}", b"order")):
        produce(trips.bootstrap, trips.topics[0], [value], headers=[("kind", kind)])
    trips.run()
    assert counts(trips) == [(0, 2, 1, 0)]
    trips.write_spec(format={**FORM, "allow_unmatched": True})
    opened = trips.open()
    work = opened.backfill(quarantined_records(RecordFilter()), "test", "test").work
    trips.ingest(work)
    trips.settle()
    replayed = [each for each in counts(trips) if each[0]]
    assert replayed == [(1, 0, 0, 0), (1, 0, 0, 0)]
    facts = trips.judge(keeps=says_order).facts
    assert (facts.rows, facts.quarantined) == (2, 0)
    assert trips.sluice("verify").returncode == 0


@pytest.mark.parametrize("written", [False, True], ids=["spark", "written"])
def test_a_changed_only_holds_for_what_is_read_from_then_on(
    topic: Topic, pipeline: Pipelines, written: bool
) -> None:
    trips = pipeline(topic(), format=FORM)
    trips.written = written
    for number, kind in enumerate(["order", "click"]):
        value, headers = record(kind, number), [("kind", kind.encode())]
        produce(trips.bootstrap, trips.topics[0], [value], headers=headers)
    trips.run()
    trips.write_spec(only=WAYS["header"][0])
    produce(trips.bootstrap, trips.topics[0], [record("click", 3)], headers=[("kind", b"click")])
    trips.run()
    assert counts(trips) == [(2, 0, 0, 0), (0, 0, 1, 0)]
    assert trips.sluice("verify").returncode == 0
    # Read again, the row of another kind goes.
    reset = trips.sluice("reset", "--to-earliest", "--reason", "kinds", "--execute")
    assert reset.returncode == 0, reset.stderr
    trips.run()
    assert [row["kind"] for row in trips.rows()] == ["order"]
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout
    assert "2 filtered" in verified.stdout


def test_a_missing_row_is_found_among_those_left_out(topic: Topic, pipeline: Pipelines) -> None:
    only, _, other = WAYS["header"]
    trips = pipeline(topic(3), format=FORM, only=only, quarantine={"max_ratio": 1})
    trips.written = True
    fill(trips, other)
    trips.run()
    DeltaTable(trips.data).delete("_partition = 2 AND _offset = 0")
    found = trips.sluice("verify").stdout
    assert "1 row" in found
