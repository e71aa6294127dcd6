"""The rows of the offsets table, typed, as section 9 of the design has them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from tests.oracle.delta_log import TableLog
from tests.oracle.table_files import read_live

GAP_KINDS = ("gap_control", "gap_aborted", "gap_compacted", "gap_lost")


@dataclass(frozen=True, slots=True)
class OffsetsRow:
    format_version: int
    pipeline: str
    lane: str
    generation: int
    batch_id: int | None
    batch: str | None
    event: str
    mode: str | None
    topic: str
    topic_id: str
    partition: int
    start_offset: int
    end_offset: int
    log_start_offset: int | None
    last_stable_offset: int | None
    leader_epoch: int | None
    records: int | None
    quarantined: int | None
    gaps: int | None
    gap_control: int | None
    gap_aborted: int | None
    gap_compacted: int | None
    gap_lost: int | None
    data_version: int | None
    cursor_before: int | None
    cursor_after: int | None
    closed_at: int | None
    cluster_id: str | None
    data_table_id: str | None
    run_id: str | None
    actor: str | None
    reason: str | None
    recorded_at: datetime
    filtered: int | None = None

    @property
    def place(self) -> tuple[str, int]:
        return self.topic_id, self.partition

    @property
    def gap_kinds(self) -> dict[str, int]:
        return {kind: getattr(self, kind) or 0 for kind in GAP_KINDS}

    def __str__(self) -> str:
        batch = self.batch or f"{self.lane}-{self.generation}"
        span = f"[{self.start_offset}, {self.end_offset})"
        return f"{batch} {self.event} {self.topic}[{self.partition}] {span}"


COLUMNS = tuple(field.name for field in fields(OffsetsRow))


def read_rows(log: TableLog, pipeline: str) -> list[OffsetsRow]:
    """Rows of one pipeline, oldest first."""
    columns = read_live(log, COLUMNS).to_pydict()
    rows = [OffsetsRow(*values) for values in zip(*columns.values(), strict=True)]
    return sorted((r for r in rows if r.pipeline == pipeline), key=lambda row: row.recorded_at)
