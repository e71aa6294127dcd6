"""Error groups: why records were undecodable, equal causes together. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.quarantined import QuarantinedRecord, error_pattern
from sluice.offsets.ranges import TopicPartition


@dataclass(frozen=True)
class ErrorGroup:
    """One cause, and the rows it explains."""

    text: str
    rows: tuple[QuarantinedRecord, ...]

    @property
    def first_seen(self) -> datetime:
        """When the first of them was quarantined."""
        return min(each.quarantined_at for each in self.rows)

    @property
    def last_seen(self) -> datetime:
        """When the last of them was quarantined."""
        return max(each.quarantined_at for each in self.rows)

    @property
    def partitions(self) -> list[TopicPartition]:
        """The partitions that the rows come from."""
        return sorted({each.partition for each in self.rows})

    @property
    def sample(self) -> QuarantinedRecord:
        """The latest of the rows."""
        return max(self.rows, key=lambda each: (each.quarantined_at, each.partition, each.offset))


def group_errors(rows: Iterable[QuarantinedRecord]) -> list[ErrorGroup]:
    """The rows by cause, the most frequent first."""
    found: dict[str, list[QuarantinedRecord]] = {}
    for row in rows:
        found.setdefault(error_pattern(row.error), []).append(row)
    reasons = [ErrorGroup(text, tuple(members)) for text, members in found.items()]
    return sorted(reasons, key=lambda each: (-len(each.rows), each.text))
