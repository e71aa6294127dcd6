"""Error groups: why records were undecodable, equal causes together. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.quarantined import QuarantinedRecord
from sluice.offsets.ranges import TopicPartition

# What differs from record to record: quoted values, positions, addresses. Column names and type
# sizes, such as price_2 and DECIMAL(5,2), stay as they are.
_QUOTED = re.compile(r"""(?<!\w)(?:'[^']*'|"[^"]*"|`[^`]*`)(?!\w)""")
_NUMBER = re.compile(r"(?<![\w(,.-])-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?)(?![\w)])")
# What lake.decoding.misfits writes: the JSON text of a value, possibly cut, ends the error.
_FOUND = re.compile(r"(: expected .*?, found )(\S.*)\Z", re.DOTALL)
_KINDS = {'"': "'…'", "{": "{…}", "[": "[…]", **dict.fromkeys("-0123456789", "N")}
_MAX_LENGTH = 200


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


def error_pattern(error: str) -> str:
    """The cause without what differs from record to record."""
    brief = _FOUND.sub(lambda match: match[1] + _KINDS.get(match[2][0], match[2]), error)
    return _NUMBER.sub("N", _QUOTED.sub("'…'", brief)).strip()[:_MAX_LENGTH]


def group_errors(rows: Iterable[QuarantinedRecord]) -> list[ErrorGroup]:
    """The rows by cause, the most frequent first."""
    found: dict[str, list[QuarantinedRecord]] = {}
    for row in rows:
        found.setdefault(error_pattern(row.error), []).append(row)
    reasons = [ErrorGroup(text, tuple(members)) for text, members in found.items()]
    return sorted(reasons, key=lambda each: (-len(each.rows), each.text))
