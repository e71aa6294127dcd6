"""Whatever becomes of a batch before its receipt: it is counted, or a command closes it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from deltalake import DeltaTable
from sluice.errors import GapUnexplained
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.operations.reset.targets import to_latest
from sluice.operations.verify.accept_gaps import accept_gaps
from sluice.pipeline import Pipeline

from tests.oracle import read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_topic, end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

DEFAULTS = "spark.databricks.delta.properties.defaults."
MAPPED = {f"{DEFAULTS}columnMapping.mode": "name"}
VECTORS = {f"{DEFAULTS}enableDeletionVectors": "true"}
V2 = {f"{DEFAULTS}checkpointPolicy": "v2", f"{DEFAULTS}checkpointInterval": "2"}


def accepted(pipeline: Pipeline, gaps: list[OffsetRange]) -> None:
    accept_gaps(pipeline.resources, gaps, "it is so", pipeline.origin("run", "ana"))


def with_a_marker(trips: Installed, count: int = 4) -> None:
    """Records of a transaction: the commit marker is an offset without a row."""
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(count))
    end(trips.bootstrap, trips.topics[0], producer, commit=True)


@pytest.fixture
def late(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two batches have landed and are not settled: [0, 5) with a marker at 4, then [5, 8)."""
    trips = pipeline(topic())
    with_a_marker(trips)
    trips.ingest(trips.plan())
    produce(trips.bootstrap, trips.topics[0], numbered(3, 5))
    trips.ingest(trips.plan())
    return trips


def counts(trips: Installed) -> dict[str, tuple[int, int, int]]:
    """Batch → records, markers, lost."""
    return {
        row["batch"]: (row["records"], row["gap_control"], row["gap_lost"])
        for row in trips.offsets("committed")
    }


def next_move(problem: Exception) -> list[str]:
    """The command that a refusal names, without `sluice` and the pipeline."""
    (command,) = re.findall(r"`sluice verify \S+ (--accept-gap .*?) --reason …`", str(problem))
    return [*shlex.split(command), "--reason", "it is so"]


def closed(trips: Installed) -> str:
    """What the command says that the refusal names; it is refused first, by every other one."""
    with pytest.raises(GapUnexplained) as refused:
        trips.settle()
    with pytest.raises(GapUnexplained):
        trips.open().reset(to_latest, "a test", "run", "pytest")
    done = trips.sluice("verify", *next_move(refused.value))
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


@pytest.mark.spark
@pytest.mark.parametrize("defaults", [MAPPED, VECTORS, V2], ids=["mapped", "vectors", "v2"])
@pytest.mark.parametrize("policy", ["fail", "record"])
def test_a_table_with_features_is_counted_by_its_files(
    topic: Topic, pipeline: Pipelines, defaults: dict[str, str], policy: str
) -> None:
    trips = pipeline(topic(), on_data_loss=policy)
    with created_under(trips, defaults):
        with_a_marker(trips)
        trips.run()
    if defaults is VECTORS:
        sql(trips, "DELETE FROM {t} WHERE _offset = 1")
        altered = {trips.version()}
    else:
        altered = set()
    with_a_marker(trips)
    trips.run()
    assert counts(trips) == {"forward-1-1": (4, 1, 0), "forward-1-2": (4, 1, 0)}
    told = trips.sluice("verify")
    assert told.returncode == 0, told.stdout
    assert ("1 row deleted by others" in told.stdout) == bool(altered)
    if not altered:
        assert trips.judge().facts.rows == 8


@contextmanager
def created_under(trips: Installed, defaults: dict[str, str]) -> Iterator[None]:
    """The tests' session with these defaults for new tables, as a cluster has them."""
    conf = trips.session().conf
    for key, value in defaults.items():
        conf.set(key, value)
    try:
        yield
    finally:
        for key in defaults:
            conf.unset(key)


def sql(trips: Installed, statement: str) -> None:
    trips.session().sql(statement.format(t=f"delta.`{trips.data}`")).collect()


@pytest.mark.spark
def test_files_that_others_compacted_and_vacuumed_are_no_hindrance(late: Installed) -> None:
    sql(late, "OPTIMIZE {t}")
    table = DeltaTable(late.data)
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    late.settle()
    assert counts(late) == {"forward-1-1": (4, 1, 0), "forward-1-2": (3, 0, 0)}
    assert "FAILED" not in late.sluice("verify").stdout
    assert late.judge().facts.rows == 7


def test_a_log_that_was_cleaned_up_is_closed_by_the_command_that_the_refusal_names(
    late: Installed,
) -> None:
    table = DeltaTable(late.data)
    lost = table.version() - 1
    table.create_checkpoint()
    for version in range(lost + 1):
        (late.data / "_delta_log" / f"{version:020d}.json").unlink()
    assert "FAILED" not in closed(late)
    assert counts(late) == {"forward-1-1": (4, 1, 0), "forward-1-2": (3, 0, 0)}
    first = late.offsets("committed")[0]
    assert first["data_version"] == lost
    assert first["reason"].startswith("its commit is no longer in the data table's log; not count")
    assert first["reason"].endswith(": it is so")
    assert late.offsets("loss") == [], "its rows were found and counted"
    produce(late.bootstrap, late.topics[0], numbered(2))
    late.run()
    assert late.judge().facts.rows == 9


def test_of_a_topic_that_is_gone_everything_else_is_counted(late: Installed) -> None:
    truth = read_truth(late.bootstrap, late.topics)
    delete_topic(late.bootstrap, late.topics[0])
    assert "lost: 1 offset in 1 loss record" in closed(late)
    assert counts(late) == {"forward-1-1": (4, 0, 1), "forward-1-2": (3, 0, 0)}
    (row,) = late.offsets("loss")
    assert (row["start_offset"], row["end_offset"]) == (4, 5)
    assert row["reason"].startswith("the topic is gone: what was there can no longer be told; acc")
    verdict = late.verdict(truth=truth)
    # The oracle has seen the marker.
    assert verdict.invariants == {8}, str(verdict)
    assert "gap_control" in str(verdict)


def test_of_a_topic_that_is_gone_a_policy_may_decide(late: Installed) -> None:
    delete_topic(late.bootstrap, late.topics[0])
    late.write_spec(on_data_loss="record")
    late.settle()
    assert counts(late)["forward-1-1"] == (4, 0, 1)
    (row,) = late.offsets("loss")
    assert row["reason"] == "the topic is gone: what was there can no longer be told"


@pytest.mark.parametrize("emptied", [False, True], ids=["gone", "emptied by a power cut"])
def test_rows_that_nobody_can_read_are_closed_uncounted(late: Installed, emptied: bool) -> None:
    hidden = late.folder / "hidden"
    hidden.mkdir()
    for each in late.data.glob("*.parquet"):
        each.rename(hidden / each.name)
        if emptied:
            each.touch()
    with pytest.raises(GapUnexplained, match="neither its files nor its rows can be read"):
        late.settle()
    here = TopicPartition(late.topics[0], 0)
    everything = [OffsetRange(here, 0, 5), OffsetRange(here, 5, 8)]
    accepted(late.open(), everything)
    for each in hidden.iterdir():
        each.rename(late.data / each.name)
    assert counts(late) == {"forward-1-1": (0, 1, 4), "forward-1-2": (0, 0, 3)}
    assert {row["reason"] for row in late.offsets("loss")} == {
        "not counted: rows of it may be in the table; accepted by ana: it is so"
    }
    # The rows are there after all: nothing is missing, and nothing is red for ever.
    told = late.sluice("verify")
    assert told.returncode == 0, told.stdout
    assert late.verdict().invariants == {8, 9}, "the oracle sees more than the receipt says"


def test_a_quarantine_that_nobody_can_read_does_not_hold_a_batch_for_good(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(
        topic(), format={"type": "json", "schema": "id BIGINT"}, quarantine={"max_ratio": 1}
    )
    produce(trips.bootstrap, trips.topics[0], [*numbered(3), b"{broken"])
    trips.ingest(trips.plan())
    (file,) = trips.data.with_name("trips__quarantine").glob("*.parquet")
    file.rename(trips.folder / file.name)
    with pytest.raises(GapUnexplained, match="rows in the quarantine table can no longer be read"):
        trips.settle()
    everything = [OffsetRange(TopicPartition(trips.topics[0], 0), 0, 4)]
    accepted(trips.open(), everything)
    (trips.folder / file.name).rename(file)
    assert counts(trips) == {"forward-1-1": (3, 0, 1)}
    assert trips.sluice("verify").returncode == 0
