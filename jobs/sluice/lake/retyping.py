"""Retyping: columns to which the spec gives another type than the table has."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from sluice.errors import SpecError


def retypes(problem: AnalysisException) -> bool:
    """Whether a write was refused because a column of the table has another type."""
    return problem.getCondition() == "DELTA_FAILED_TO_MERGE_FIELDS"


def require_no_rows(stored: DataFrame, rows: DataFrame, uri: str) -> None:
    """A table without rows may take the new types. Raises SpecError where there are rows."""
    if stored.isEmpty():
        return
    now = {field.name: field.dataType.simpleString().upper() for field in rows.schema}
    before = {field.name: field.dataType.simpleString().upper() for field in stored.schema}
    changed = [
        f"{name}: expected {kind} as in the rows of {uri}, found {now[name]}"
        for name, kind in before.items()
        if now.get(name, kind) != kind
    ]
    raise SpecError(
        f"format: schema: {'; '.join(changed)}. Give the column its type back, or choose a new"
        " `table` and `pipeline`."
    )
