"""The quarantine: what cannot be decoded is kept, in step with the batch, and never a null."""

from __future__ import annotations

import pytest
from sluice.errors import TooManyQuarantined

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


FORM = {"type": "json", "schema": "id BIGINT"}
BROKEN = b'{"id": 1'


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    return pipeline(topic(), format=FORM, quarantine={"max_ratio": 0.1, "max_records": 0})


def send(trips: Installed, *values: bytes | None) -> None:
    produce(trips.bootstrap, trips.topics[0], values)


def aside(trips: Installed) -> list[tuple[int, str]]:
    return sorted((row["_offset"], row["_batch"]) for row in trips.quarantined())


def test_one_malformed_record_of_many_is_put_aside(trips: Installed) -> None:
    send(trips, *numbered(10), BROKEN, *numbered(10))
    events = trips.run()
    assert [(each["records"], each["quarantined"]) for each in events] == [(20, 1)]
    row = trips.quarantined()[0]
    assert (row["_offset"], row["value"]) == (10, BROKEN)
    assert row["error"]
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (20, 1)


def test_too_many_fail_with_samples_and_nothing_is_committed(trips: Installed) -> None:
    send(trips, *numbered(4), BROKEN, b"[1]", *numbered(4))
    work = trips.plan()
    with pytest.raises(TooManyQuarantined) as refused:
        trips.ingest(work)
    text = str(refused.value)
    assert "2 of 10 records are undecodable; allowed: 10.00%" in text
    assert f"{trips.topics[0]}[0]@4: " in text
    assert f"{trips.topics[0]}[0]@5: " in text
    assert trips.rows() == []
    assert trips.open().outstanding(work) == work
    trips.write_spec(quarantine={"max_ratio": 0.2, "max_records": 0})
    trips.run()
    # The retry of the same batch replaced what the first attempt had put aside.
    assert aside(trips) == [(4, "forward-1-1"), (5, "forward-1-1")]
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (8, 2)


def test_the_first_and_the_last_record_may_be_malformed(trips: Installed) -> None:
    send(trips, BROKEN, *numbered(30), b"")
    trips.run()
    assert [offset for offset, _ in aside(trips)] == [0, 31]
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (30, 2)


def test_a_batch_of_malformed_records_only(trips: Installed) -> None:
    trips.write_spec(quarantine={"max_ratio": 1})
    send(trips, BROKEN, b"\xff", b"null")
    trips.run()
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined, facts.committed) == (0, 3, 1)
    assert trips.rows() == []


def test_the_batch_after_is_clean_and_leaves_the_quarantine_alone(trips: Installed) -> None:
    send(trips, *numbered(20), BROKEN)
    trips.run()
    before = trips.quarantined()
    for _ in range(2):
        send(trips, *numbered(5))
        trips.run()
    assert trips.quarantined() == before
    receipts = [row["quarantined"] for row in trips.offsets("committed")]
    assert receipts == [1, 0, 0]
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (30, 1)


def test_a_value_that_does_not_fit_its_type_is_never_a_null(
    topic: Topic, pipeline: Pipelines
) -> None:
    schema = "id INT, price DECIMAL(5,2), at TIMESTAMP, ok BOOLEAN"
    form = {"type": "json", "schema": schema}
    trips = pipeline(topic(), format=form, quarantine={"max_ratio": 1})
    good = [
        b'{"id": 1, "price": 123.45, "at": "2013-01-01T05:00:00Z", "ok": true}',
        b'{"id": null}',
        b'{"ok": null, "more": 1}',
        None,
    ]
    bad = [
        b'{"id": "one"}',
        b'{"id": 2147483648}',
        b'{"id": 1.5}',
        b'{"price": 1234.5}',
        b'{"price": 0.001}',
        b'{"at": "yesterday"}',
        b'{"at": 1357016400}',
        b'{"ok": 1}',
        b'{"id": 1} trailing',
        b"\xef\xbb\xbf{}",
    ]
    send(trips, *good, *bad)
    trips.run()
    assert [offset for offset, _ in aside(trips)] == list(range(len(good), len(good) + len(bad)))
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (len(good), len(bad))
