"""The broker's data folder is replaced by an older copy of itself, which then lives on."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, OffsetSpec
from sluice.broker.batch_probes import read_fingerprints
from sluice.errors import ResetNeeded
from sluice.lake.port import BatchAttempt
from sluice.lake.spark_lake import SparkLake
from sluice.offsets.notation import parse_scope
from sluice.offsets.ranges import TopicPartition as Partition
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import (
    Target,
    named_target,
    shift_by,
    to_earliest,
    to_table,
)
from sluice.progress.readers import spec_to_land

from local.embedded.broker import Broker
from local.embedded.waiting import until
from tests.oracle import KafkaTruth, read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import admin, delete_topic, numbered, produce, settings_for

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@dataclass
class Replaced:
    """A pipeline that has read 20 records of a broker, of whose data a copy holds only 10."""

    trips: Installed
    broker: Broker
    copy: Path
    truth: KafkaTruth

    @property
    def epoch(self) -> int:
        client = admin(self.broker.bootstrap)
        asked = {TopicPartition(self.trips.topics[0], 0): OffsetSpec.latest()}
        (answer,) = client.list_offsets(asked, request_timeout=15).values()
        return answer.result(15).leader_epoch

    @property
    def epoch_read(self) -> int:
        return self.trips.offsets("planned")[0]["leader_epoch"]

    def put_back(self, starts: int = 1, only: str = "") -> None:
        """Put the copy in the place of the data, or only a folder of it. Each start raises the
        leader epoch."""
        self.broker.stop()
        shutil.rmtree(self.broker.folder / "data" / only)
        shutil.copytree(self.copy / only, self.broker.folder / "data" / only)
        self.broker.start()
        for _ in range(starts - 1):
            self.broker.restart()

    def grow(self, count: int, topic: int = 0) -> None:
        produce(self.broker.bootstrap, self.trips.topics[topic], numbered(count, first=1000))

    def reset(self, target: Target, reason: str = "a test") -> None:
        self.trips.open().reset(target, reason, "run", "pytest")

    def refuses(self, text: str) -> None:
        """The next plan is refused, and the table holds what was read before."""
        with pytest.raises(ResetNeeded, match=text):
            self.trips.plan()
        self.unharmed()

    def unharmed(self, **expectations: bool) -> None:
        assert self.trips.ranges("committed") == {"forward-1-1": {"[0]": (0, 20)}}
        assert self.trips.judge(truth=self.truth, group=None, **expectations).facts.rows == 20


@pytest.fixture
def replaced(
    own_broker: Broker, own_topic: Topic, pipeline: Pipelines, tmp_path: Path
) -> Callable[..., Replaced]:
    """`replaced(starts)` starts the original so often after the copy was made, then reads it."""

    def make(starts: int = 1, topics: int = 1) -> Replaced:
        trips = pipeline(*(own_topic() for _ in range(topics)))
        trips.bootstrap = own_broker.bootstrap
        for name in trips.topics:
            produce(own_broker.bootstrap, name, numbered(10))
        own_broker.stop()
        copy = shutil.copytree(own_broker.folder / "data", tmp_path / "copy")
        own_broker.start()
        for _ in range(starts - 1):
            own_broker.restart()
        for name in trips.topics:
            produce(own_broker.bootstrap, name, numbered(10, first=10))
        trips.run()
        truth = read_truth(own_broker.bootstrap, trips.topics)
        return Replaced(trips, own_broker, copy, truth)

    return make


def test_an_older_copy_under_an_older_leader_epoch_is_refused(
    replaced: Callable[..., Replaced],
) -> None:
    found = replaced(starts=2)
    found.put_back()
    found.grow(30)
    assert found.epoch < found.epoch_read
    found.refuses(r"\[0\]: expected leader epoch \d or later, found \d: .* an older copy")


def test_an_older_copy_that_ends_below_the_cursor_is_refused(
    replaced: Callable[..., Replaced],
) -> None:
    found = replaced()
    found.put_back()
    found.grow(4)
    assert found.epoch == found.epoch_read
    found.refuses(r"\[0\]: expected an end offset of at least 20, found end offset 14, 6 less")


@pytest.mark.parametrize(
    ("starts", "later", "count"),
    [(1, False, 10), (1, False, 15), (2, True, 15)],
    ids=["equal epoch, up to the cursor", "equal epoch, above it", "later epoch"],
)
def test_an_older_copy_that_has_grown_over_what_was_read_is_refused(
    replaced: Callable[..., Replaced], starts: int, later: bool, count: int
) -> None:
    found = replaced()
    found.put_back(starts)
    found.grow(count)
    assert (found.epoch > found.epoch_read) is later
    found.refuses(
        r"\[0\]: expected record batch [\w-]{6} before offset 20, found [\w-]{6}: the log was"
        r" replaced by another copy that has grown over"
    )


def test_an_adopted_plan_is_held_against_the_log_before_it_is_read(
    replaced: Callable[..., Replaced],
) -> None:
    found = replaced()
    found.grow(5)
    found.truth = read_truth(found.broker.bootstrap, found.trips.topics)
    work = found.trips.plan()
    found.put_back()
    found.grow(25)
    for _ in range(2):
        with pytest.raises(ResetNeeded, match=r"before offset 20, found .* another copy"):
            found.trips.ingest(work)
    found.unharmed(caught_up=False)


def test_a_copy_that_holds_all_that_was_read_is_gone_on_with(
    replaced: Callable[..., Replaced], tmp_path: Path
) -> None:
    found = replaced()
    found.broker.stop()
    found.copy = shutil.copytree(found.broker.folder / "data", tmp_path / "newer")
    found.broker.start()
    found.grow(7)
    found.put_back()
    found.grow(5)
    found.trips.run()
    assert found.trips.ranges("committed")["forward-1-2"] == {"[0]": (20, 25)}
    assert found.trips.judge().facts.rows == 25


def test_a_topic_that_compacts_by_now_is_not_taken_for_a_copy(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic())
    name, at = trips.topics[0], Partition(trips.topics[0], 0)
    produce(trips.bootstrap, name, numbered(10))
    trips.run()
    remembered = read_truth(trips.bootstrap, [name])

    def fingerprint() -> str | None:
        return read_fingerprints(settings_for(trips.bootstrap), {at: 10})[at]

    before = fingerprint()
    start_compacting(trips.bootstrap, name)
    produce(trips.bootstrap, name, numbered(1, first=10))
    produce(trips.bootstrap, name, numbered(1, first=11), key=b"other")
    until(lambda: nudged(trips) and fingerprint() != before, "a cleaned log")
    trips.run()
    assert trips.judge(remembered=remembered).facts.rows > 11


def nudged(trips: Installed) -> bool:
    """The active segment is never cleaned: another record lets it end."""
    produce(trips.bootstrap, trips.topics[0], numbered(1), key=b"other")
    return True


def start_compacting(bootstrap: str, name: str) -> None:
    settings = {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.001",
    }
    entries = [
        ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        for key, value in settings.items()
    ]
    asked = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=entries)
    client = admin(bootstrap)
    for future in client.incremental_alter_configs([asked]).values():
        future.result(15)


def test_a_reset_goes_on_with_the_copy(replaced: Callable[..., Replaced]) -> None:
    found = replaced(starts=2)
    found.put_back()
    found.grow(30)
    move = rf"`sluice reset trips --to-earliest --topic {found.trips.topics[0]}` reads this one"
    with pytest.raises(ResetNeeded, match=move):
        found.trips.plan()
    found.reset(to_earliest)
    found.trips.run()
    assert found.trips.judge().facts.rows == 40


def test_all_topics_are_told_at_once_and_a_reset_of_one_passes_over_none(
    replaced: Callable[..., Replaced],
) -> None:
    found = replaced(topics=2)
    found.put_back(starts=2)
    found.grow(4)
    found.grow(20, topic=1)
    short, grown = found.trips.topics
    with pytest.raises(ResetNeeded) as refused:
        found.trips.plan()
    told = str(refused.value)
    assert f"{short}[0]: expected an end offset of at least 20, found end offset 14" in told
    assert f"{grown}[0]: expected record batch" in told
    first, second = sorted(found.trips.topics)
    assert f"`sluice reset trips --to-earliest --topic {first} --topic {second}`" in told

    another_log = rf"{grown}\[0\]: expected record batch"
    for target in (only(short), shift_by(0)):
        with pytest.raises(ResetNeeded, match=another_log):
            found.reset(target)
    # It asks nothing of Kafka; the next plan does.
    found.reset(to_table)
    with pytest.raises(ResetNeeded, match=another_log):
        found.trips.plan()
    found.reset(only(short, grown))
    found.grow(30)
    found.trips.run()
    assert found.trips.judge().facts.rows == 44 + 30


def only(*topics: str) -> Target:
    return named_target("to-earliest", "", [parse_scope(each) for each in topics])


def test_the_log_is_compared_at_the_beginning_of_a_generation(
    replaced: Callable[..., Replaced],
) -> None:
    """Also of the second one in which nothing was read."""
    found = replaced()
    for reason in ("one", "two"):
        found.reset(shift_by(0), reason)
    found.put_back()
    found.grow(15)
    found.refuses(r"\[0\]: expected record batch .* before offset 20, found .* another copy")
    found.reset(to_earliest)
    found.trips.run()
    assert found.trips.judge().facts.rows == 25


class Interrupted(SparkLake):
    """Something happens when its first batch has landed."""

    happens: Callable[[], None]

    def land(self, reading: BatchAttempt) -> None:
        super().land(reading)
        happens, self.happens = self.happens, lambda: None
        happens()


def test_a_log_replaced_between_two_batches_of_a_run_is_refused(
    replaced: Callable[..., Replaced],
) -> None:
    found = replaced()
    found.trips.write_spec(max_records_per_batch=10)
    found.grow(20)
    work = found.trips.plan()
    opened = found.trips.open()
    resources = opened.resources
    lake = Interrupted(found.trips.session(), resources, spec_to_land(resources))

    def replace_log() -> None:
        found.put_back(starts=2)
        found.grow(40)

    lake.happens = replace_log
    for _ in range(2):
        with pytest.raises(ResetNeeded, match=r"\[0\]: expected record batch .* before offset 30"):
            opened.ingest(work, lake)
    assert len(found.trips.rows()) == 30
    found.reset(to_earliest)
    found.trips.run()
    assert found.trips.judge().facts.rows == 50


def test_the_fingerprint_of_an_idle_partition_outlives_the_batches_of_others(
    replaced: Callable[..., Replaced],
) -> None:
    """A batch does not look at partitions that it does not read; the next plan still can."""
    found = replaced(topics=2)
    idle, busy = found.trips.topics
    found.grow(5, topic=1)
    work = found.trips.plan()
    found.put_back(only=f"{idle}-0")
    found.grow(10)
    found.trips.ingest(work)
    found.trips.settle()
    assert found.trips.ranges("committed")["forward-1-2"][f"{busy}[0]"] == (20, 25)
    found.grow(1)
    with pytest.raises(ResetNeeded, match=rf"^{idle}\[0\]: expected record batch .* offset 20"):
        found.trips.plan()
    found.reset(only(idle))
    found.trips.run()
    assert found.trips.judge().facts.rows == 21 + 25


def test_a_backfill_does_not_replace_rows_by_those_of_another_copy(
    replaced: Callable[..., Replaced],
) -> None:
    """Neither where the copy has grown over the cursor, nor where it ends below."""
    found = replaced()
    below = offset_ranges([f"{found.trips.topics[0]}[0] [0, 12)"])
    work = found.trips.open().backfill(below, "run", "pytest").work
    found.put_back()
    for count, why in ((5, "an end offset of at least 20"), (10, "record batch")):
        found.grow(count)
        with pytest.raises(ResetNeeded, match=rf"\[0\]: expected {why}"):
            found.trips.ingest(work)
    found.unharmed(caught_up=False)


def test_a_topic_that_is_brought_back_is_not_appended_once_more(
    replaced: Callable[..., Replaced], own_topic: Topic
) -> None:
    """Nor where the topic in between was shorter: each batch is decided by its own topic id."""
    found = replaced()
    found.trips.write_spec(max_records_per_batch=10)
    name, bootstrap = found.trips.topics[0], found.broker.bootstrap
    found.broker.stop()
    shutil.rmtree(found.copy)
    shutil.copytree(found.broker.folder / "data", found.copy)
    found.broker.start()
    delete_topic(bootstrap, name)
    own_topic(name=name)
    found.grow(3)
    found.reset(to_earliest, "created anew")
    found.trips.run()
    anew = read_truth(bootstrap, [name])
    assert len(found.trips.rows()) == 23
    found.put_back()
    with pytest.raises(ResetNeeded, match="the topic was deleted and created anew"):
        found.trips.plan()
    found.reset(to_earliest, "brought back")
    found.grow(5)
    found.trips.run()
    modes = {row["batch"]: row["mode"] for row in found.trips.offsets("planned")}
    assert [modes[f"forward-3-{n}"] for n in (1, 2, 3)] == ["replace", "replace", "append"]
    assert found.trips.judge(remembered=anew, group=None).facts.rows == 25 + 3
