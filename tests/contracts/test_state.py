"""The port `StateLake`: Spark's and the written one leave the same, and refuse the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.errors import CommitConflict
from sluice.lake.port import Difference, StateAttempt, StateLake
from sluice.lake.state import spark_state, state_rows
from sluice.progress.resources import PipelineResources
from sluice.state_table.collected import Collected
from sluice.state_table.commits import StateCollection, app_id
from sluice.state_table.counts import StateCounts
from sluice.state_table.spans import whole

from tests.contracts import intruders
from tests.contracts.intruders import Act
from tests.contracts.stage import OpenEngine, Stage, coming_between, on_spark, written
from tests.contracts.state_stage import StateStage
from tests.contracts.state_stories import SCHEMA, STORIES
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.written_lake.broker_records import broker_records
from tests.worlds.written_lake.engine import WrittenEngine

pytestmark = pytest.mark.integration
BOTH = [pytest.param(on_spark, marks=pytest.mark.spark), written]
OF_MANY = (
    "upserts_and_deletes",
    "late_events",
    "keys_that_are_numbers_of_two_spellings",
    "rows_without_a_key_are_left_out",
    "a_key_in_two_partitions",
    "rows_that_others_change",
    "columns_that_come_later",
    "late_values_that_were_unavailable",
)
OpenStage = Callable[[Installed], Stage]
Install = Callable[..., Installed]


@pytest.fixture
def told(topic: Topic, pipeline: Pipelines) -> Install:
    """Makes pipelines, each of a topic of its own."""
    return lambda **keys: pipeline(topic(2, retention_ms=-1), **keys)


def stage_of(trips: Installed, lake: OpenStage) -> StateStage:
    return StateStage(trips, lake(trips).open_engine)


@pytest.mark.spark
@pytest.mark.parametrize("name", STORIES)
def test_both_lakes_leave_the_same_state(told: Install, name: str) -> None:
    leave_the_same(told, name)


@pytest.mark.spark
@pytest.mark.parametrize("name", OF_MANY)
def test_both_lakes_leave_the_same_state_of_many_rows(
    told: Install, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are joined in another way, and no filter of their keys is made."""
    for module in (spark_state, state_rows):
        monkeypatch.setattr(module, "FEW", 0)
    leave_the_same(told, name)


def leave_the_same(told: Install, name: str) -> None:
    keys, play = STORIES[name]
    stages = [stage_of(told(**keys), lake) for lake in (on_spark, written)]
    for each in stages:
        play(each)
    spark, own = (each.observed() for each in stages)
    assert own == spark


def followed(told: Install, lake: OpenStage) -> StateStage:
    """A stage whose state has followed a batch."""
    form = {"type": "json", "schema": SCHEMA}
    stage = stage_of(told(format=form, state={"key": ["id"]}), lake)
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    return stage


MEETINGS: dict[str, tuple[Callable[[StateStage], Act], str | None]] = {
    "another refresh": (
        lambda stage: intruders.records_a_transaction(stage.table, app_id("trips"), 2),
        "DELTA_CONCURRENT_TRANSACTION",
    ),
    "another transaction": (
        lambda stage: intruders.records_a_transaction(stage.table, "another", 2),
        None,
    ),
    "rows of others": (lambda stage: intruders.appends(stage.table), "DELTA_CONCURRENT_APPEND"),
    "a removal": (
        lambda stage: intruders.removes_a_file(stage.table),
        "DELTA_CONCURRENT_DELETE_READ",
    ),
    "properties": (
        lambda stage: intruders.changes_the_properties(stage.table),
        "DELTA_METADATA_CHANGED",
    ),
}


@pytest.mark.parametrize("lake", BOTH)
@pytest.mark.parametrize("kind", ["appended", "everything"])
@pytest.mark.parametrize("name", MEETINGS)
def test_both_lakes_refuse_the_same_meetings(
    told: Install, name: str, kind: str, lake: OpenStage
) -> None:
    stage = followed(told, lake)
    comes, conflict = MEETINGS[name]
    stage.put({"id": 1, "v": "c"}, {"id": 3})
    stage.run()
    attempt = stage.due
    if kind == "everything":
        span = whole(attempt.span.after, attempt.span.upto)
        attempt = replace(attempt, span=span, commit=replace(attempt.commit, kind="everything"))
    refused = None
    with coming_between(stage, comes(stage), stage.table) as beside:
        try:
            beside.attempt_at(attempt)
        except CommitConflict as problem:
            refused = str(problem)
    before = "another commit came in between"
    assert refused == (conflict and f"{before} ({conflict})")


@pytest.mark.parametrize("lake", BOTH)
def test_an_attempt_that_comes_late_is_refused(told: Install, lake: OpenStage) -> None:
    stage = followed(told, lake)
    for value in ({"id": 1, "v": "c"}, {"id": 2, "v": "d"}):
        stage.put(value)
        stage.run()
    wide = stage.due
    stage.trips.write_spec(max_records_per_batch=1)
    narrow = stage.due
    assert (narrow.span.upto, wide.span.upto) == (2, 3)
    stage.attempt_at(narrow)
    version = DeltaTable(stage.table).version()
    for late in (wide, narrow):
        with pytest.raises(CommitConflict, match="another refresh has come in between"):
            stage.attempt_at(late)
    assert DeltaTable(stage.table).version() == version
    stage.refresh()
    stage.trips.judge_state()


@dataclass(frozen=True)
class Changed:
    """A lake that makes another attempt than it is asked for."""

    lake: StateLake
    change: Callable[[StateAttempt], StateAttempt]

    def create(self) -> None:
        self.lake.create()

    def follow(self, attempt: StateAttempt) -> StateCounts:
        return self.lake.follow(self.change(attempt))

    def collect(self, collected: Collected, told: StateCollection) -> int:
        return self.lake.collect(collected, told)

    def foresee(self, attempt: StateAttempt) -> StateCounts:
        return self.lake.foresee(self.change(attempt))

    def differing(self, attempt: StateAttempt, most: int) -> Difference:
        return self.lake.differing(self.change(attempt), most)

    def deleted(self, version: int) -> int:
        return self.lake.deleted(version)


def changed(change: Callable[[StateAttempt], StateAttempt]) -> OpenEngine:
    class ChangedEngine(WrittenEngine):
        @contextmanager
        def state(self, resources: PipelineResources) -> Iterator[StateLake]:
            with super().state(resources) as lake:
                yield Changed(lake, change)

    return lambda resources: ChangedEngine(broker_records(resources.client))


def other_rules(**rules: Any) -> OpenEngine:
    return changed(lambda each: replace(each, rules=replace(each.rules, **rules)))


PLANTED: dict[str, tuple[str, OpenEngine]] = {
    "forgets the order": ("late_events", other_rules(order_by=("_offset",))),
    "deletes nothing": ("keys_that_a_column_deletes", other_rules(deleted_when=None)),
    "keeps placeholders": ("values_that_are_unavailable", other_rules(unavailable=None)),
    "forgets a part of the key": ("keys_of_several_columns", other_rules(key=("id",))),
    "passes over rows without a key": (
        "rows_without_a_key_stop",
        other_rules(ignores_unkeyed=True),
    ),
    "forgets what was removed": (
        "rows_that_others_change",
        changed(lambda each: replace(each, span=replace(each.span, removed=()))),
    ),
    "says another version": (
        "upserts_and_deletes",
        changed(lambda each: replace(each, commit=replace(each.commit, data_version=9))),
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_lake_that_differs_is_found(told: Install, planted: str) -> None:
    name, open_engine = PLANTED[planted]
    keys, play = STORIES[name]
    honest = stage_of(told(**keys), written)
    other = replace(stage_of(told(**keys), written), open_engine=open_engine)
    for each in (honest, other):
        play(each)
    assert other.observed() != honest.observed()
