"""Erased means erased in the quarantine too: what others delete does not come to life there."""

from __future__ import annotations

import pytest
from deltalake import DeltaTable
from sluice.offsets.quarantined import RecordFilter, RecordState
from sluice.operations.backfill.replay import quarantined_records
from sluice.operations.quarantine.listing import list_quarantine
from sluice.progress.quarantined_records import read_quarantined

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

FORM = {"type": "json", "schema": "id BIGINT, n INT"}
WIDER = {"type": "json", "schema": "id BIGINT"}
WORD = b'{"id": 1, "n": "one"}'


@pytest.mark.parametrize("gap", [False, True], ids=["without gaps", "with a gap"])
def test_a_replayed_record_that_somebody_deletes_is_gone_for_good(
    topic: Topic, pipeline: Pipelines, gap: bool
) -> None:
    trips = pipeline(topic(retention_ms=-1), format=FORM, quarantine={"max_ratio": 1})
    first = [WORD, *numbered(2)]
    if gap:
        # A transaction's marker lies between the two.
        producer = transactional(trips.bootstrap)
        send(producer, trips.topics[0], first, 0)
        end(trips.bootstrap, trips.topics[0], producer, commit=True)
    else:
        produce(trips.bootstrap, trips.topics[0], first)
    produce(trips.bootstrap, trips.topics[0], [WORD])
    trips.run()
    trips.write_spec(format=WIDER)
    again = trips.open().backfill(quarantined_records(RecordFilter()), "test", "pytest")
    trips.ingest(again.work)
    trips.settle()
    assert set(states(trips).values()) == {RecordState.SUPERSEDED}
    erased, kept = sorted(states(trips))
    DeltaTable(trips.data).delete(f"_offset = {erased}")
    assert states(trips) == {erased: RecordState.ERASED, kept: RecordState.SUPERSEDED}
    assert list_quarantine(trips.open().resources).live == ()
    assert not trips.open().verify(lambda *_: None).violations
    assert trips.open().maintain("test", "pytest").removed == 1
    assert {row["_offset"] for row in trips.quarantined()} == {kept}, "its bytes, too"


def states(trips: Installed) -> dict[int, RecordState]:
    rows = read_quarantined(trips.open().resources).rows
    return {row.offset: row.state for row in rows}
