"""A lake without Spark: it commits a batch as Spark does, so that only our own cost is measured."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from sluice.lake.port import BatchAttempt, Compacted, QuarantineResult, StateLake
from sluice.offsets.quarantined import BatchOffsets

from local.bench.scale.build import add_file, commit_text
from local.bench.scale.rows import data_rows
from local.bench.scale.world import World, utc_now


@dataclass(frozen=True)
class WrittenLake:
    """Writes each batch's rows and its commit as files."""

    world: World

    def prepare(self) -> None:
        """The table is there."""

    def align(self) -> None:
        """The spec never changes."""

    def land(self, attempt: BatchAttempt) -> None:
        """One file and one commit, put where there is none."""
        folder = Path(self.world.open().resources.data.uri)
        batch, now = attempt.batch, utc_now()
        rows = data_rows(self.world, batch.ranges[0].topic_id, batch.number, batch.number, now)
        added = add_file(folder, f"batch-{batch.number:08d}-{attempt.id}.parquet", rows)
        action = {
            "path": added.path,
            "size": added.size,
            "partitionValues": {},
            "modificationTime": added.modification_time,
            "dataChange": True,
            "stats": added.stats,
        }
        commit = commit_text(batch, attempt.id, attempt.fingerprints, now, {"add": action})
        # Not counted as an open: Spark keeps a snapshot of its own.
        log = folder / "_delta_log"
        newest = max(int(each.stem) for each in log.glob("*.json"))
        with (log / f"{newest + 1:020d}.json").open("x", encoding="utf-8") as file:
            file.write(commit)

    def prepare_quarantine(self) -> None:
        """The table is there."""

    def quarantine(self, attempt: BatchAttempt) -> QuarantineResult:
        """All records are decodable."""
        return QuarantineResult(attempt.batch.span, 0)

    def land_decodable(self, attempt: BatchAttempt) -> None:
        """All records are decodable."""
        self.land(attempt)

    def state(self) -> AbstractContextManager[StateLake]:
        """No pipeline of the bench has one."""
        raise NotImplementedError


class IdleUpkeep:
    """Upkeep that leaves Spark's tables alone."""

    def remove_quarantined(self, rows: Sequence[BatchOffsets]) -> None:
        """Nothing is removed."""

    def compact(self, uri: str) -> Compacted:
        """Nothing is compacted."""
        return Compacted(0, 0)

    def purge(self, uri: str) -> Compacted:
        """Nothing is purged."""
        return Compacted(0, 0)

    def state(self) -> AbstractContextManager[StateLake]:
        """No pipeline of the bench has one."""
        raise NotImplementedError

    def vacuum(self, uri: str) -> None:
        """Nothing is deleted."""
