"""Whatever attempts come and go, the quarantine holds what the batch's own commit says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from deltalake import DeltaTable
from sluice.errors import SparkFailed, TooManyQuarantined
from sluice.failpoints import reaching
from sluice.offsets.quarantined import RecordState
from sluice.progress.quarantined_records import read_quarantined

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

STRICT = {"type": "json", "schema": "id BIGINT, n INT"}
LOOSE = {"type": "json", "schema": "id BIGINT"}
GOOD, WORD, BROKEN = b'{"id": 1, "n": 1}', b'{"id": 2, "n": "two"}', b"{broken"


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A batch was landed; of the next one, offsets 3 and 4 cannot be decoded."""
    made = pipeline(topic(retention_ms=-1), format=STRICT, quarantine={"max_ratio": 1})
    produce(made.bootstrap, made.topics[0], [GOOD, GOOD])
    made.run()
    produce(made.bootstrap, made.topics[0], [GOOD, WORD, BROKEN])
    return made


@contextmanager
def at(point: str, act: Callable[[], object]) -> Iterator[None]:
    """Act, once, when a step is reached."""
    left = [act]

    def reached(found: str) -> None:
        if found == point and left:
            left.pop()()

    with reaching(reached):
        yield


def dies() -> None:
    raise SparkFailed("the process dies")


def an_attempt_dies(trips: Installed, point: str = "quarantine written") -> None:
    work = trips.plan()
    with at(point, dies), pytest.raises(SparkFailed):
        trips.ingest(work)


def aside(trips: Installed) -> list[int]:
    """The offsets in the table, whatever they count."""
    return sorted(row["_offset"] for row in trips.quarantined())


def number(trips: Installed) -> int:
    table = DeltaTable(trips.warehouse / "trips__quarantine")
    return table.transaction_version("sluice:trips:forward:1:quarantine") or 0


def test_rows_of_an_attempt_that_died_go_with_the_receipt(trips: Installed) -> None:
    an_attempt_dies(trips)
    assert aside(trips) == [3, 4]
    trips.write_spec(format=LOOSE)
    work = trips.plan()
    trips.ingest(work)
    assert aside(trips) == [3, 4, 4], "nobody takes away what another attempt may still commit"
    counted = read_quarantined(trips.open().resources).rows
    assert [(row.offset, row.state) for row in counted] == [(4, RecordState.LIVE)]
    assert not trips.open().verify(lambda *_: None).violations
    trips.settle()
    assert aside(trips) == [4]
    assert trips.offsets("committed")[-1]["quarantined"] == 1


def test_a_batch_that_died_twice_shows_each_record_once(trips: Installed) -> None:
    for _ in range(2):
        an_attempt_dies(trips)
    assert aside(trips) == [3, 3, 4, 4]
    waiting = read_quarantined(trips.open().resources).of(RecordState.WAITING)
    assert [row.offset for row in waiting] == [3, 4]
    trips.run()
    assert aside(trips) == [3, 4]
    assert trips.judge().facts.quarantined == 2


def test_failing_again_and_again_leaves_one_attempt_s_rows(trips: Installed) -> None:
    trips.write_spec(quarantine={"max_ratio": 0})
    for _ in range(3):
        with pytest.raises(TooManyQuarantined):
            trips.ingest(trips.plan())
        assert aside(trips) == [3, 4]
    trips.write_spec(quarantine={"max_ratio": 1})
    trips.run()
    assert aside(trips) == [3, 4]
    assert trips.judge().facts.quarantined == 2


def test_a_later_attempt_lands_beside_one_that_stands_still(trips: Installed) -> None:
    """It has put rows aside, and goes on once the batch has its receipt."""
    work = trips.plan()
    with at("quarantine written", lambda: trips.run()):
        trips.ingest(work)
    assert aside(trips) == [3, 4]
    trips.settle()
    assert trips.judge().facts.quarantined == 2


@pytest.mark.parametrize("point", ["reading", "quarantine written"])
def test_with_another_schema_it_changes_nothing_either(trips: Installed, point: str) -> None:
    def another() -> None:
        trips.write_spec(format=LOOSE)
        trips.run()

    work = trips.plan()
    with at(point, another):
        trips.ingest(work)
    trips.settle()
    assert aside(trips) == [4]
    assert not trips.open().verify(lambda *_: None).violations


def test_a_batch_without_malformed_records_is_closed_too(trips: Installed) -> None:
    trips.run()
    closed = number(trips)
    produce(trips.bootstrap, trips.topics[0], [GOOD])
    trips.write_spec(format=LOOSE)
    trips.run()
    assert number(trips) == closed + 2**20
    before = DeltaTable(trips.warehouse / "trips__quarantine").version()
    trips.run()
    assert DeltaTable(trips.warehouse / "trips__quarantine").version() == before, "an idle run"
