"""Whether what was written names the table that is there: invariant 13 (wary)."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.evidence import Evidence
from tests.oracle.violation import Violation


def named(evidence: Evidence) -> Iterator[Violation]:
    """Receipts of the newest generation name the data table; a plan may be older than the table."""
    expected = evidence.data.table_id
    newest = max(evidence.history.generations, default=0)
    for row in evidence.history.rows:
        unnamed = row.data_table_id is None and row.event == "planned"
        if row.event not in ("planned", "committed") or unnamed or row.generation < newest:
            continue
        if row.data_table_id != expected:
            found = f"{row.data_table_id}"
            yield Violation(13, str(row), f"data_table_id {expected}", found)
