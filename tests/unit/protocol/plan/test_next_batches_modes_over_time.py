"""Whatever happens to topics, cursors and the table: no order of events appends an offset twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import example, given, settings
from hypothesis import strategies as st
from sluice.errors import ResetNeeded, SettingsError
from sluice.offsets.batches import Batch, PlannedRange
from sluice.offsets.history import LaneHistory
from sluice.offsets.partition_log import KafkaState, PartitionLog
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.offsets.reach import NO_REACH, Reach
from sluice.offsets.resets import CursorMove, Reset
from sluice.positions.position import cursor_at, keep_cursor
from sluice.protocol.plan.next_batches import plan_first, plan_next
from sluice.spec_file.pipeline_spec import PipelineSpec

from tests.unit.builders import CLUSTER, sequence, spec
from tests.unit.protocol.plan.test_next_batches_over_time import Cluster

Row = tuple[str, str, int, int]
Logs = dict[TopicPartition, PartitionLog]


@dataclass
class Memory(Cluster):
    """A cluster whose topics can be brought back as they were, under their old ids."""

    gone: list[tuple[str, Logs]] = field(default_factory=list)

    def bury(self, topic: str) -> None:
        if logs := {at: log for at, log in self.logs.items() if at.topic == topic}:
            self.gone.append((topic, logs))

    def bring_back(self, which: int) -> None:
        if self.gone:
            topic, logs = self.gone[which % len(self.gone)]
            self.bury(topic)
            self.logs = {at: log for at, log in self.logs.items() if at.topic != topic} | logs


@dataclass
class Table:
    """The rows by their coordinates, at each version."""

    rows: Counter[Row] = field(default_factory=Counter)
    versions: list[Counter[Row]] = field(default_factory=lambda: [Counter()])

    def land(self, batch: Batch) -> None:
        read = [
            (each.offsets.partition.topic, each.topic_id, each.offsets.partition.partition, offset)
            for each in batch.ranges
            for offset in range(each.offsets.start, each.offsets.end)
        ]
        if batch.mode == "replace":
            self.rows -= Counter({row: self.rows[row] for row in read})
        self.rows += Counter(read)
        self.versions.append(self.rows.copy())

    def restore(self, version: int) -> None:
        self.rows = self.versions[version % len(self.versions)].copy()
        self.versions.append(self.rows.copy())


@dataclass
class Pipeline:
    """A pipeline that lands some of what it plans, and resets whenever it must."""

    spec: PipelineSpec
    table: Table = field(default_factory=Table)
    history: LaneHistory = field(default_factory=lambda: LaneHistory(sequence()))
    planned: dict[int, Batch] = field(default_factory=dict)
    committed: int = 0
    reach: Reach = NO_REACH

    def plan(self, logs: Logs) -> Plan:
        state = KafkaState(CLUSTER, logs)
        if self.history:
            return plan_next(self.spec, self.history, state, reach=self.reach)
        starts = {at: log.log_start_offset for at, log in logs.items()}
        return plan_first(self.spec, self.history, state, starts)

    def runs(self, logs: Logs, batches: int) -> bool:
        """Plan unless something is unfinished, and land some of it; False if that is refused."""
        if self.committed == self.history.planned:
            try:
                self.remember(self.plan(logs))
            except (ResetNeeded, SettingsError):
                return False
        for number in range(self.committed + 1, self.history.planned + 1)[:batches]:
            self.table.land(self.planned[number])
            self.committed = number
        return True

    def remember(self, plan: Plan) -> None:
        if plan:
            self.planned |= {each.number: each for each in plan.batches}
            first = min(self.planned)
            every = tuple(self.planned[n] for n in range(first, max(self.planned) + 1))
            self.history = LaneHistory(self.history.sequence, max(self.planned), 0, every)

    def reset(self, logs: Logs, back: int, counted: int) -> None:
        """Move each cursor that has a log so far back from its end; close behind some batch."""
        if not self.history:
            return
        before = {
            at: each.offsets.end for at, each in self.history.cursor_at(self.committed).items()
        }
        held = {
            at: cursor_at(each, before.get(at, each.offsets.start))
            for at, each in self.history.cursor.items()
        }
        moves = dict(keep_cursor(held))
        for at, log in logs.items():
            here = max(log.log_start_offset, log.last_stable_offset - back)
            moves[at] = CursorMove(PlannedRange.of(OffsetRange(at, here, here), log))
        done = Reset(
            self.spec.pipeline,
            self.history.sequence.generation + 1,
            {"forward": min(counted, self.committed), "backfill": 0},
            tuple(CursorMove(each.after, before.get(at)) for at, each in moves.items()),
            CLUSTER,
            0,
            "a step",
        )
        last = {self.history.planned, done.closed_at["forward"]} & self.planned.keys()
        self.reach = self.reach.with_generation(done, [self.planned[n] for n in last])
        self.history = LaneHistory(sequence(generation=done.generation), opening=done)
        self.planned, self.committed = {}, 0


topics = st.sampled_from(["flights", "flights", "delays"])
small = st.integers(0, 9)
# Each is followed by a run of some batches, or of none.
events = ["write", "write", "create", "delete", "add", "bring back", "reset", "restore", "run"]
steps = st.lists(st.tuples(st.sampled_from(events), topics, small, small), max_size=20)


# The former topic, brought back, still has the place of a partition that the newer one lacked.
BROUGHT_BACK = [
    *(("write", "flights", 0, 1), ("create", "flights", 0, 0), ("write", "flights", 0, 1)),
    *(("bring back", "flights", 0, 1), ("bring back", "flights", 1, 1)),
]


@settings(max_examples=300)
@given(steps, st.integers(1, 7))
@example(BROUGHT_BACK, 1)
def test_no_order_of_events_appends_an_offset_twice(
    steps: list[tuple[str, str, int, int]], most: int
) -> None:
    pipeline = Pipeline(
        spec(topics=None, topic_pattern=".*", max_records_per_batch=most, max_batches_per_run=4)
    )
    cluster = Memory()
    cluster.create("flights", 2)
    for what, topic, count, batches in steps:
        match what:
            case "run":
                batches += 1
            case "reset":
                pipeline.reset(cluster.logs, 2 * count, 100)
            case "restore" if pipeline.history:
                pipeline.table.restore(count)
                pipeline.reset(cluster.logs, 2 * count, count % 3)
            case "bring back":
                cluster.bring_back(count)
            case "create" | "delete":
                cluster.bury(topic)
                cluster.step(what, topic, 0, count)
            case _:
                cluster.step(what, topic, count, 1 + count)
        if batches and not pipeline.runs(cluster.logs, batches):
            pipeline.reset(cluster.logs, 100, 100)
            pipeline.runs(cluster.logs, batches)
        twice = [row for row, times in pipeline.table.rows.items() if times > 1]
        assert not twice, (what, twice)
