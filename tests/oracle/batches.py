"""The batches of a pipeline: planned by the offsets table, committed by the commit rule alone."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from tests.oracle.delta_log import TableLog
from tests.oracle.offsets_rows import OffsetsRow

FENCE = 2**63 - 1
LANES = ("forward", "backfill")
UNKNOWN_VERSION = -1

LaneId = tuple[str, int]


@dataclass(frozen=True)
class Batch:
    lane: str
    generation: int
    number: int
    plan: tuple[OffsetsRow, ...]

    @property
    def label(self) -> str:
        return f"{self.lane}-{self.generation}-{self.number}"

    @property
    def replaces(self) -> bool:
        return any(row.mode == "replace" for row in self.plan)


@dataclass
class Closing:
    """How a generation of a lane ended: its last batch, and whether the fence stands."""

    closed_at: int | None
    fenced: bool


@dataclass
class LaneHistory:
    """`landed` maps every batch whose txn is in the data log to its version there."""

    pipeline: str
    rows: list[OffsetsRow]
    planned: dict[str, Batch] = field(default_factory=dict)
    landed: dict[str, int] = field(default_factory=dict)
    closings: dict[LaneId, Closing] = field(default_factory=dict)
    tops: dict[LaneId, int] = field(default_factory=dict)
    committed: list[Batch] = field(default_factory=list)

    def of_event(self, event: str) -> list[OffsetsRow]:
        return [row for row in self.rows if row.event == event]

    @property
    def losses(self) -> list[OffsetsRow]:
        """What was lost before it could be stored."""
        return [row for row in self.of_event("loss") if row.batch is None]

    @property
    def drops(self) -> list[OffsetsRow]:
        """What was dropped from quarantine: these loss rows name the batch that they were of."""
        return [row for row in self.of_event("loss") if row.batch is not None]

    def lane(self, lane: str, generation: int) -> list[Batch]:
        batches = self.planned.values()
        mine = [b for b in batches if (b.lane, b.generation) == (lane, generation)]
        return sorted(mine, key=lambda batch: batch.number)

    @property
    def generations(self) -> list[int]:
        return sorted({row.generation for row in self.rows})

    @property
    def newest_generation(self) -> int:
        """A new generation counts once the fence of the one before it stands."""
        closed = [g for (lane, g), end in self.closings.items() if lane == "forward" and end.fenced]
        return max(closed, default=0) + 1

    @property
    def cursors(self) -> dict[tuple[str, int], int]:
        """Where each partition's next forward batch starts, by topic id and partition."""
        generation = self.newest_generation
        resets = [row for row in self.decisive_resets(generation) if row.lane == "forward"]
        cursors = {row.place: row.cursor_after or 0 for row in resets}
        top = self.tops.get(("forward", generation), 0)
        for batch in (b for b in self.lane("forward", generation) if b.number <= top):
            cursors.update({row.place: row.end_offset for row in batch.plan})
        return cursors

    def put_back(self, receipt: OffsetsRow) -> bool:
        """Whether an older copy of the data table took the batch's place: a reset, later, has
        found the table at a version below that of the batch."""
        return any(
            row.generation > receipt.generation
            and row.data_version is not None
            and row.data_version < (receipt.data_version or 0)
            for row in self.of_event("reset_done")
        )

    def app(self, lane: str, generation: int) -> str:
        return f"sluice:{self.pipeline}:{lane}:{generation}"

    def decisive_resets(self, generation: int) -> list[OffsetsRow]:
        """Of several intentions `reset_done` decides, else the latest one."""
        rows = [row for row in self.rows if row.generation == generation]
        intended = [row for row in rows if row.event == "reset_intended"]
        done = [r for r in rows if r.event == "reset_done" and r.closed_at is not None]
        chosen = {(r.lane, r.topic, r.partition): r for r in intended}
        chosen.update({(r.lane, r.topic, r.partition): r for r in done})
        return list(chosen.values())


def read_history(pipeline: str, rows: list[OffsetsRow], data: TableLog) -> LaneHistory:
    history = LaneHistory(pipeline, rows, _planned(rows))
    for generation in history.generations:
        for lane in LANES:
            app = history.app(lane, generation)
            landings = _landings(app, data)
            for number, version in landings.items():
                history.landed[f"{lane}-{generation}-{number}"] = version
            closing = _closing(history, data, lane, generation)
            history.closings[lane, generation] = closing
            history.tops[lane, generation] = _top(closing, landings)
    history.committed = sorted(
        (b for b in history.planned.values() if b.number <= history.tops[b.lane, b.generation]),
        key=lambda b: (history.landed.get(b.label, UNKNOWN_VERSION), b.generation, b.number),
    )
    return history


def _planned(rows: list[OffsetsRow]) -> dict[str, Batch]:
    plans: dict[tuple[str, int, int], list[OffsetsRow]] = defaultdict(list)
    for row in rows:
        if row.event == "planned" and row.batch_id is not None:
            plans[row.lane, row.generation, row.batch_id].append(row)
    batches = [Batch(*name, tuple(plan)) for name, plan in plans.items()]
    return {batch.label: batch for batch in batches}


def _landings(app: str, data: TableLog) -> dict[int, int]:
    """Number → version of the data table, for every number that the app's txn has passed."""
    reached = data.base_transactions.get(app, 0)
    reached = 0 if reached == FENCE else reached
    landed = dict.fromkeys(range(1, reached + 1), UNKNOWN_VERSION)
    for version in data.versions:
        number = version.transactions.get(app, 0)
        if number != FENCE and number > reached:
            landed.update(dict.fromkeys(range(reached + 1, number + 1), version.number))
            reached = number
    return landed


def _closing(history: LaneHistory, data: TableLog, lane: str, generation: int) -> Closing:
    fenced = data.transactions.get(history.app(lane, generation)) == FENCE
    resets = [row for row in history.decisive_resets(generation + 1) if row.lane == lane]
    closed = resets[-1].closed_at if resets else None
    return Closing(closed, fenced)


def _top(closing: Closing, landings: dict[int, int]) -> int:
    """The last committed number. An intended reset counts only once its fence stands."""
    reached = max(landings, default=0)
    if closing.fenced and closing.closed_at is not None:
        return closing.closed_at
    return reached
