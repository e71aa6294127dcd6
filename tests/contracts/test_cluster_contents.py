"""The port `Cluster`: both tell the same of what the logs hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sluice.errors import BrokerUnavailable
from sluice.offsets.loss_causes import LossKind
from sluice.offsets.receipts import GapCount
from sluice.protocol.settle.gaps import Gaps, UnexplainedGap

from tests.contracts.driver import Driver, transact
from tests.contracts.questions import at, bounds, explained, fingerprint, millis, offsets, read
from tests.worlds.records import numbered

DAY = datetime(2024, 5, 1, tzinfo=UTC)


def test_fingerprints_stay_and_tell_logs_apart(driver: Driver) -> None:
    one, other = driver.topic(), driver.topic()
    driver.produce(one, numbered(3))
    driver.produce(other, numbered(3, 1))
    found = driver.cluster.fingerprints({at(one): 3, at(other): 3})
    assert found[at(one)] is not None
    assert found[at(one)] != found[at(other)]
    driver.produce(one, numbered(3))
    transact(driver, one, numbered(1), commit=True)
    assert fingerprint(driver, one, 3) == found[at(one)]
    marks = [fingerprint(driver, one, each) for each in (3, 6, 7, 8)]
    assert None not in marks
    assert len(set(marks)) == 4, "one batch each, and a marker"
    assert driver.cluster.fingerprints({at(one): 0, at(other): 4}) == {
        at(one): None,
        at(other): None,
    }
    assert driver.cluster.fingerprints({}) == {}


def test_markers_and_aborted_records_are_told_apart_from_the_rest(driver: Driver) -> None:
    topic = driver.topic()
    driver.produce(topic, numbered(2))
    transact(driver, topic, numbered(3), commit=False)
    transact(driver, topic, numbered(2), commit=True)
    driver.produce(topic, numbered(1))
    present = (UnexplainedGap(0, 2, LossKind.PRESENT), UnexplainedGap(6, 8, LossKind.PRESENT))
    assert explained(driver, topic, (0, 9)) == Gaps(GapCount(control=2, aborted=3), present)
    assert explained(driver, topic, (3, 6), (8, 9)) == Gaps(GapCount(control=2, aborted=2))
    assert explained(driver, topic) == Gaps.none()
    assert read(driver, offsets(topic, 0, 10), offsets(topic, 3, 7)) == [[0, 1, 6, 7, 9], [6]]


def test_a_log_that_is_not_there_cannot_be_read_raw(driver: Driver) -> None:
    with pytest.raises(BrokerUnavailable, match=r"nowhere\[0\] \[2, 5\): the raw log could not be"):
        list(driver.cluster.raw_log(at("nowhere"), [(2, 5)], timeout=0.6))


def test_what_compaction_removed_is_explained(driver: Driver) -> None:
    topic = driver.compacted_topic()
    for number in range(4):
        driver.produce(topic, numbered(3), key=b"%d" % (number % 2))
    driver.compact(topic)
    assert bounds(driver, topic)[:1] == (0,)
    gaps = explained(driver, topic, (0, 12), compacts=True)
    assert gaps == Gaps(
        GapCount(compacted=10),
        (UnexplainedGap(8, 9, LossKind.PRESENT), UnexplainedGap(11, 12, LossKind.PRESENT)),
    )
    assert explained(driver, topic, (0, 8)).of_kind(LossKind.ABSENT) == [(0, 8)]
    assert read(driver, offsets(topic, 0, 12)) == [[8, 11]]
    assert [each.offset for each in driver.cluster.samples([offsets(topic, 0, 12)], 1)] == [8]
    assert fingerprint(driver, topic, 2) is None
    assert fingerprint(driver, topic, 8) == fingerprint(driver, topic, 9) is not None


def test_a_reader_of_offsets_stops_where_the_log_ends(driver: Driver) -> None:
    topic = driver.topic()
    driver.produce(topic, numbered(4))
    driver.produce(topic, numbered(4))
    assert read(driver, offsets(topic, 6, 30)) == [[6, 7]]
    assert read(driver, offsets(topic, 3, 3), offsets(topic, 8, 9)) == [[], []]
    driver.delete_records(topic, 5)
    assert read(driver, offsets(topic, 2, 8), offsets(topic, 5, 7)) == [[], [5, 6]]


def test_samples_are_the_first_records_of_each_range(driver: Driver) -> None:
    one, other = driver.topic(retention_ms=-1), driver.topic(retention_ms=-1)
    driver.produce(one, [b"a", None, b"c"], key=b"x", timestamp=millis(DAY))
    transact(driver, one, [b"d"], commit=False)
    driver.produce(one, [b"f"], timestamp=millis(DAY))
    driver.produce(other, [b"g"], timestamp=millis(DAY))
    wanted = [offsets(other, 0, 1), offsets(one, 1, 6)]
    found = driver.cluster.samples(wanted, 3)
    of_one = [(each.offset, each.key, each.value) for each in found if each.partition == at(one)]
    assert of_one == [(1, b"x", None), (2, b"x", b"c"), (5, b"k", b"f")]
    assert {each.timestamp for each in found} == {DAY}
    assert [each.partition for each in found] == sorted(each.partition for each in found)
    assert len(driver.cluster.samples(wanted, 1)) == 2
    assert driver.cluster.samples([offsets(one, 3, 5), offsets(one, 2, 2)], 3) == []


def test_timestamps_are_of_the_first_committed_record(driver: Driver) -> None:
    one, other = driver.topic(retention_ms=-1), driver.topic(retention_ms=-1)
    transact(driver, one, numbered(2), commit=False)
    driver.produce(one, numbered(2), timestamp=millis(DAY))
    driver.produce(one, numbered(2), timestamp=millis(DAY + timedelta(days=1)))
    found = driver.cluster.timestamps({at(one): 0, at(other): 0})
    assert found == {at(one): DAY}
    later = driver.cluster.timestamps({at(one): 5})
    assert later == {at(one): DAY + timedelta(days=1)}
    assert driver.cluster.timestamps({at(one): 7}) == {}
    driver.delete_records(one, 4)
    assert driver.cluster.timestamps({at(one): 1}) == {}
    assert driver.cluster.timestamps({}) == {}


def test_bytes_per_offset_are_known_where_there_are_batches(driver: Driver) -> None:
    topic, empty = driver.topic(), driver.topic()
    driver.produce(topic, [b"x" * 1000] * 4)
    found = driver.cluster.bytes_per_offset({at(topic): 2, at(empty): 0})
    assert set(found) == {at(topic)}
    assert 1000 < found[at(topic)] < 1100
    assert driver.cluster.bytes_per_offset({at(topic): 4}) == {}
    assert driver.cluster.bytes_per_offset({at(topic): 9}) == {}
