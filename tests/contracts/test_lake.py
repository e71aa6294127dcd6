"""The port `Lake`: Spark's and the written one leave the same, and refuse the same."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from sluice.errors import CommitConflict, CommitFailed, TableRefused
from sluice.lake.port import BatchAttempt, Engine, Lake
from sluice.offsets.batches import Mode
from sluice.progress.resources import PipelineResources

from tests.contracts import intruders
from tests.contracts.intruders import Act
from tests.contracts.lake_stories import STORIES, fill, rows_that_are_replaced
from tests.contracts.stage import Stage, coming_between, on_spark, written
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.written_lake.broker_records import broker_records
from tests.worlds.written_lake.engine import WrittenEngine

pytestmark = pytest.mark.integration
BOTH = [pytest.param(on_spark, marks=pytest.mark.spark), written]


@pytest.fixture
def told(topic: Topic, pipeline: Pipelines) -> Callable[..., Installed]:
    """Makes pipelines of one topic, which `fill` has filled."""
    name = topic(4, retention_ms=-1)

    def install(**keys: Any) -> Installed:
        return pipeline(name, **keys)

    fill(install().bootstrap, name)
    return install


@pytest.mark.spark
@pytest.mark.parametrize("name", STORIES)
def test_both_lakes_leave_the_same(told: Callable[..., Installed], name: str) -> None:
    keys, play = STORIES[name]
    stages = on_spark(told(**keys)), written(told(**keys))
    for each in stages:
        play(each)
    spark, own = (each.observed() for each in stages)
    assert own == spark


def app_id(stage: Stage, lane: str) -> str:
    return f"sluice:trips:{lane}:1"


@dataclass(frozen=True)
class Meeting:
    """A write, who comes between, and the conflict that it is; none where both land."""

    write: str
    comes: Callable[[Stage], Act]
    conflict: str | None = None
    keys: tuple[tuple[str, Any], ...] = ()


IN_PARTITIONS = (("partition_by", ["_topic", "_partition"]),)
MEETINGS = {
    "append, append": Meeting("append", lambda s: intruders.appends(s.trips.data)),
    "append, changed data": Meeting("append", lambda s: intruders.appends(s.trips.data, False)),
    "append, another attempt": Meeting(
        "append",
        lambda s: intruders.records_a_transaction(s.trips.data, app_id(s, "forward"), 2),
        "DELTA_CONCURRENT_TRANSACTION",
    ),
    "append, another sequence": Meeting(
        "append", lambda s: intruders.records_a_transaction(s.trips.data, app_id(s, "other"), 2)
    ),
    "append, properties": Meeting(
        "append",
        lambda s: intruders.changes_the_properties(s.trips.data),
        "DELTA_METADATA_CHANGED",
    ),
    "append, removal": Meeting("append", lambda s: intruders.removes_a_file(s.trips.data)),
    "replace, append": Meeting(
        "replace", lambda s: intruders.appends(s.trips.data), "DELTA_CONCURRENT_APPEND"
    ),
    "replace, removal": Meeting(
        "replace",
        lambda s: intruders.removes_a_file(s.trips.data),
        "DELTA_CONCURRENT_DELETE_READ",
    ),
    "replace, another attempt": Meeting(
        "replace",
        lambda s: intruders.records_a_transaction(s.trips.data, app_id(s, "backfill"), 1),
        "DELTA_CONCURRENT_TRANSACTION",
    ),
    "replace, append in another partition": Meeting(
        "replace",
        lambda s: intruders.appends(s.trips.data, partition={"_topic": s.topic, "_partition": "1"}),
        None,
        IN_PARTITIONS,
    ),
    "replace, append in its partition": Meeting(
        "replace",
        lambda s: intruders.appends(s.trips.data, partition={"_topic": s.topic, "_partition": "0"}),
        "DELTA_CONCURRENT_APPEND",
        IN_PARTITIONS,
    ),
}


def outcome(stage: Stage, meeting: Meeting) -> str | None:
    stage.land(stage.attempt(1, (0, 0, 10)))
    attempts: dict[str, BatchAttempt] = {
        "append": stage.attempt(2, (0, 10, 16)),
        "replace": stage.attempt(1, (0, 3, 8), mode="replace", lane="backfill"),
    }
    table = stage.trips.data
    with coming_between(stage, meeting.comes(stage), table) as beside:
        try:
            beside.land(attempts[meeting.write])
        except CommitConflict as refused:
            return str(refused)
    return None


@pytest.mark.parametrize("lake", BOTH)
@pytest.mark.parametrize("name", MEETINGS)
def test_both_lakes_refuse_the_same_meetings(
    told: Callable[..., Installed], name: str, lake: Callable[[Installed], Stage]
) -> None:
    meeting = MEETINGS[name]
    stage = lake(told(**dict(meeting.keys)))
    before = "another commit came in between"
    expected = meeting.conflict and f"{before} ({meeting.conflict})"
    assert outcome(stage, meeting) == expected
    landed = 2 if meeting.conflict else 3
    assert DeltaTable(stage.trips.data).version() == landed


@pytest.mark.parametrize("lake", BOTH)
def test_a_log_that_is_put_back_beneath_a_write_gets_no_hole(
    told: Callable[..., Installed], lake: Callable[[Installed], Stage]
) -> None:
    stage = lake(told())
    stage.land(stage.attempt(1, (0, 0, 5)))
    stage.land(stage.attempt(2, (0, 5, 10)))
    log = stage.trips.data / "_delta_log"

    def put_back() -> None:
        for each in (*log.glob(f"{2:020d}.*"), *log.glob(f".{2:020d}.*")):
            each.unlink()

    refused = pytest.raises(CommitFailed, match="expected the version before it")
    with coming_between(stage, put_back, stage.trips.data) as beside, refused:
        beside.land(stage.attempt(3, (0, 10, 16)))
    assert sorted(int(each.stem) for each in log.glob("*.json")) == [0, 1]
    stage.land(stage.attempt(2, (0, 5, 10)))
    assert DeltaTable(stage.trips.data).version() == 2


@pytest.mark.parametrize("lake", BOTH)
def test_a_batch_lands_in_no_other_table_than_it_was_prepared_for(
    told: Callable[..., Installed], lake: Callable[[Installed], Stage]
) -> None:
    stage = lake(told())
    stage.land(stage.attempt(1, (0, 0, 5)))
    append = stage.attempt(2, (0, 5, 10))
    before = str(DeltaTable(stage.trips.data).metadata().id)
    shutil.rmtree(stage.trips.data)
    for late in (append, stage.attempt(1, (0, 3, 8), mode="replace", lane="backfill")):
        with pytest.raises(TableRefused, match=f"expected Delta table {before}, found"):
            stage.land(replace(late, table_id=before))
    assert DeltaTable(stage.trips.data).version() == 0
    stage.land(replace(append, table_id=str(DeltaTable(stage.trips.data).metadata().id)))
    assert DeltaTable(stage.trips.data).version() == 1


@pytest.mark.parametrize("lake", BOTH)
@pytest.mark.parametrize("mode", ["append", "replace"])
def test_a_batch_lands_in_no_copy_that_takes_the_place_of_the_table_beneath_its_write(
    told: Callable[..., Installed], lake: Callable[[Installed], Stage], mode: Mode
) -> None:
    """The copy has as many versions, and the batch's rows: another attempt has landed them."""
    stage = lake(told())
    for number, (start, end) in enumerate(((0, 5), (5, 10)), start=1):
        stage.land(stage.attempt(number, (0, start, end)))
    lane = "forward" if mode == "append" else "backfill"
    late = stage.attempt(3 if mode == "append" else 1, (0, 5, 10), mode=mode, lane=lane)

    rows, copy = DeltaTable(stage.trips.data).to_pyarrow_table(), stage.trips.folder / "copy"
    for part in (rows[:0], rows[:5], rows[5:]):
        write_deltalake(copy, part, mode="append")
    for each in copy.glob("*.parquet"):
        each.rename(stage.trips.data / each.name)

    def copied() -> None:
        log = stage.trips.data / "_delta_log"
        log.rename(stage.trips.folder / "before")
        (copy / "_delta_log").rename(log)

    refused = pytest.raises(CommitFailed, match="expected the log that the write was begun on")
    with coming_between(stage, copied, stage.trips.data) as beside, refused:
        beside.land(late)
    there = DeltaTable(stage.trips.data)
    assert there.version() == 2
    assert sorted(there.to_pyarrow_table()["_offset"].to_pylist()) == [*range(10)]


def loses_a_row(resources: PipelineResources) -> Engine:
    """The first of each log: a re-reading that lacks one that has landed is refused."""
    read = broker_records(resources.client)
    return WrittenEngine(lambda offsets: list(read(offsets))[offsets.start == 0 :])


def _changed(change: Callable[[BatchAttempt], BatchAttempt]) -> Callable[..., Engine]:
    class Changed(WrittenEngine):
        def lake(self, *args: Any, **keys: Any) -> Any:
            found = super().lake(*args, **keys)
            return _Wrapped(found, change)

    return lambda resources: Changed(broker_records(resources.client))


class _Wrapped:
    def __init__(self, found: Any, change: Callable[[BatchAttempt], BatchAttempt]) -> None:
        self._found, self._change = found, change

    def __enter__(self) -> Lake:
        lake = self._found.__enter__()
        land = lake.land
        object.__setattr__(lake, "land", lambda attempt: land(self._change(attempt)))
        return lake

    def __exit__(self, *problem: Any) -> None:
        self._found.__exit__(*problem)


PLANTED = {
    "loses a row": loses_a_row,
    "writes another transaction id": _changed(
        lambda each: replace(each, batch=replace(each.batch, number=each.batch.number + 1))
    ),
    "leaves the rows that it replaces": _changed(
        lambda each: replace(each, batch=replace(each.batch, mode="append"))
    ),
    "forgets who read the records": _changed(lambda each: replace(each, fingerprints={})),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_lake_that_differs_is_found(told: Callable[..., Installed], planted: str) -> None:
    honest, other = written(told()), written(told())
    other = replace(other, open_engine=PLANTED[planted])
    for each in (honest, other):
        rows_that_are_replaced(each)
    assert other.observed() != honest.observed()
