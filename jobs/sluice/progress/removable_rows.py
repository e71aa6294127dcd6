"""Removable rows: rows of the quarantine that do not count and never will again, and from when.

A RESTORE can bring superseded rows back, and batches that one has undone, while the data table
still keeps the files. So these rows stay as long as that table's files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.notation import parse_batch
from sluice.offsets.quarantined import QuarantinedRecord, RecordState
from sluice.progress.resources import PipelineResources
from sluice.tables.retention import retention_of, written_at


@dataclass(frozen=True)
class DeadRow:
    """A row that does not count, and until when it is kept; None where nothing keeps it."""

    row: QuarantinedRecord
    kept_until: datetime | None = None

    def is_removable(self, now: datetime) -> bool:
        """Whether maintenance removes it now."""
        return self.kept_until is None or self.kept_until < now


def dead_rows(resources: PipelineResources, rows: Iterable[QuarantinedRecord]) -> Iterator[DeadRow]:
    """Those of the rows that do not count. Raises SettingsError for a retention too short."""
    data = resources.data.snapshot()
    commits = data.log.commits()
    landed = {e for each in commits for e in zip(each.writers, each.numbers, strict=True)}
    restored = max((each.version for each in commits if each.restored is not None), default=0)
    ended: list[tuple[QuarantinedRecord, int]] = []
    for each in rows:
        if each.superseded_in is not None:
            ended.append((each, each.superseded_in))
        elif each.state is RecordState.UNDONE and _number(resources, each.batch) in landed:
            ended.append((each, restored))
        elif each.state in (RecordState.DROPPED, RecordState.ERASED, RecordState.UNDONE):
            yield DeadRow(each)
    if not ended:
        return
    retention = retention_of(data.uri)
    written = written_at(data.uri, (version for _, version in ended))
    for each, version in ended:
        yield DeadRow(each, written[version] + retention if version in written else None)


def _number(resources: PipelineResources, batch: str) -> tuple[str, int]:
    sequence, number = parse_batch(resources.spec.pipeline, batch)
    return sequence.app_id, number
