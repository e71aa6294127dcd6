"""Planning again and again while a cluster lives on: what is committed tiles, or the run stops."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import DataLost, ResetNeeded
from sluice.offsets.history import LaneHistory
from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition, span_of
from sluice.protocol.plan.next_batches import plan_first, plan_next
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import CLUSTER, sequence, spec


@dataclass
class Cluster:
    """A cluster as the steps of a test change it."""

    logs: dict[TopicPartition, PartitionLog] = field(default_factory=dict)
    created: int = 0

    def create(self, topic: str, partitions: int) -> None:
        self.logs = {at: log for at, log in self.logs.items() if at.topic != topic}
        self.created += 1
        for at in range(partitions):
            self.logs[TopicPartition(topic, at)] = PartitionLog(f"id-{self.created}", 0, 0, 0, 0)

    def step(self, what: str, topic: str, at: int, count: int) -> None:
        """One thing that happens to a topic, or to one of its partitions."""
        mine = sorted(each for each in self.logs if each.topic == topic)
        if what == "create" or (what == "begin" and not mine):
            self.create(topic, 1 + count % 3)
        elif mine and what == "delete":
            self.logs = {each: log for each, log in self.logs.items() if each.topic != topic}
        elif mine and what == "add":
            first = self.logs[mine[0]]
            self.logs[TopicPartition(topic, len(mine))] = replace(
                first, log_start_offset=0, last_stable_offset=0, end_offset=0
            )
        elif mine:
            chosen = mine[at % len(mine)]
            self.logs[chosen] = self._changed(self.logs[chosen], what, count)

    @staticmethod
    def _changed(log: PartitionLog, what: str, count: int) -> PartitionLog:
        match what:
            case "write":
                end = log.end_offset + count
                return replace(log, last_stable_offset=end, end_offset=end)
            case "write in an open transaction":
                return replace(log, end_offset=log.end_offset + count)
            case "retain":
                start = min(log.log_start_offset + 4 * count, log.last_stable_offset)
                return replace(log, log_start_offset=start)
            case "truncate":
                end = max(log.log_start_offset, log.end_offset - count)
                return replace(
                    log, end_offset=end, last_stable_offset=min(end, log.last_stable_offset)
                )
            case "elect":
                return replace(log, leader_epoch=(log.leader_epoch or 0) + 1)
            case "depose":
                return replace(log, leader_epoch=max(0, (log.leader_epoch or 0) - 1))
            case _:
                return log


@dataclass
class Pipeline:
    """A pipeline that commits all it plans; it remembers everything, as the oracle would."""

    spec: PipelineSpec
    history: LaneHistory = field(default_factory=lambda: LaneHistory(sequence()))
    ranges: dict[TopicPartition, list[OffsetRange]] = field(
        default_factory=lambda: defaultdict(list)
    )
    losses: dict[TopicPartition, list[OffsetRange]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def contradicts(self, logs: dict[TopicPartition, PartitionLog]) -> bool:
        """Told anew, from what the design says and not from the product's code."""
        for at, last in self.history.cursor.items():
            now = logs.get(at)
            if now is None or now.topic_id != last.topic_id or now.end_offset < last.offsets.end:
                return True
            if (now.leader_epoch or 0) < (last.leader_epoch or 0):
                return True
        return False

    def lost(self, logs: dict[TopicPartition, PartitionLog]) -> dict[TopicPartition, OffsetRange]:
        topics = {each.topic for each in self.history.cursor}
        found = {}
        for at, log in logs.items():
            last = self.history.cursor.get(at)
            start = last.offsets.end if last else 0
            if at.topic in topics and start < log.log_start_offset:
                found[at] = OffsetRange(at, start, log.log_start_offset)
        return found

    def plan(self, logs: dict[TopicPartition, PartitionLog]) -> Plan:
        state = KafkaState(CLUSTER, logs)
        if self.history.planned:
            return plan_next(self.spec, self.history, state)
        starts = {at: log.log_start_offset for at, log in logs.items()}
        return plan_first(self.spec, self.history, state, starts)

    def commit(self, plan: Plan) -> None:
        for loss in plan.losses:
            self.losses[loss.offsets.partition].append(loss.offsets)
        for batch in plan.batches:
            for each in batch.ranges:
                self.ranges[each.offsets.partition].append(each.offsets)
        if plan:
            newest = plan.batches[-1].number
            self.history = LaneHistory(sequence(), newest, newest, plan.batches)


def hold_plan_to_its_limits(pipeline: Pipeline, plan: Plan, cluster: Cluster) -> None:
    known = pipeline.history.cursor.keys() | cluster.logs.keys()
    for number, batch in enumerate(plan.batches, pipeline.history.planned + 1):
        assert batch.number == number
        assert batch.span <= pipeline.spec.max_records_per_batch
        assert batch.by_partition.keys() == known
        assert len(batch.ranges) == len(known)
        for each in batch.ranges:
            log = cluster.logs[each.offsets.partition]
            assert each.offsets.end <= max(log.last_stable_offset, each.offsets.start)
            assert each.offsets.start >= log.log_start_offset
    assert len(plan.batches) <= pipeline.spec.max_batches_per_run
    ends = {at: each.offsets.end for at, each in pipeline.history.cursor.items()}
    ends |= {at: each.offsets.end for b in plan.batches for at, each in b.by_partition.items()}
    unread = {
        at
        for at, log in cluster.logs.items()
        if ends.get(at, log.log_start_offset) < log.last_stable_offset
    }
    assert not unread or len(plan.batches) == pipeline.spec.max_batches_per_run


def everything_tiles(pipeline: Pipeline) -> None:
    for at, ranges in pipeline.ranges.items():
        lost = pipeline.losses.get(at, [])
        assert all(later.start >= earlier.end for earlier, later in pairwise(ranges))
        # Empty ranges mark where a partition stood; they cover nothing.
        whole = sorted(each for each in [*ranges, *lost] if each.span)
        assert all(later.start == earlier.end for earlier, later in pairwise(whole)), whole
        assert span_of(whole) == (whole[-1].end - whole[0].start if whole else 0)


Step = tuple[str, str, int, int]

harmless = (
    ["write"] * 5 + ["retain"] * 3 + ["write in an open transaction", "begin", "add", "elect"]
)
harmful = ["create", "delete", "truncate", "depose"]


def step(what: list[str]) -> st.SearchStrategy[Step]:
    parts = (
        st.sampled_from(what),
        st.sampled_from(["flights", "flights", "delays"]),
        st.integers(0, 5),
        st.integers(1, 40),
    )
    return st.tuples(*parts)


# A few things happen between two plans; in some rounds one of them is the end of the road.
rounds = st.lists(
    st.lists(step(harmless), min_size=1, max_size=5)
    | st.tuples(step(harmless), step(harmful)).map(list),
    min_size=4,
    max_size=12,
)
limits = st.tuples(st.integers(1, 40), st.integers(1, 4))


def follow(pipeline: Pipeline, cluster: Cluster, rounds: list[list[Step]]) -> None:
    for steps in rounds:
        for each in steps:
            cluster.step(*each)
        if pipeline.contradicts(cluster.logs):
            with pytest.raises(ResetNeeded):
                pipeline.plan(cluster.logs)
            return
        lost = pipeline.lost(cluster.logs)
        if lost and pipeline.spec.on_data_loss == "fail":
            with pytest.raises(DataLost):
                pipeline.plan(cluster.logs)
            return
        if cluster.logs:
            plan = pipeline.plan(cluster.logs)
            assert {each.offsets.partition: each.offsets for each in plan.losses} == lost
            assert plan or not lost, "a loss is recorded at once, with a batch if need be empty"
            hold_plan_to_its_limits(pipeline, plan, cluster)
            pipeline.commit(plan)
            everything_tiles(pipeline)


@pytest.mark.parametrize("on_data_loss", ["record", "fail"])
@given(rounds, limits)
def test_whatever_happens_to_the_topics_the_ranges_tile_or_the_run_stops(
    on_data_loss: str, rounds: list[list[Step]], limits: tuple[int, int]
) -> None:
    chosen = spec(
        topics=None,
        topic_pattern=".*",
        on_data_loss=on_data_loss,
        max_records_per_batch=limits[0],
        max_batches_per_run=limits[1],
    )
    cluster = Cluster()
    cluster.create("flights", 2)
    follow(Pipeline(chosen), cluster, rounds)
