"""Statistics columns: of which columns each data file has its least and greatest value. Pure.

Delta skips files by them. Each costs a little at every write, so a wide table has few.
"""

from __future__ import annotations

from sluice.columns.columns import Column
from sluice.derived.casts import DATE, TIMESTAMP
from sluice.spec_file.table_shape import TableShape

# What locates a batch and a record.
_OURS = ("_topic_id", "_partition", "_offset", "_timestamp", "_batch")
_THEIRS = 16
_COMPARED = {
    *("STRING", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIMESTAMP")
}


def has_bounds(column: Column) -> bool:
    """Whether Delta has a least and a greatest value of such a column; of bytes it has none."""
    return str(column.type) in _COMPARED


def statistics_columns(shape: TableShape) -> list[str]:
    """Sluice's own, then those that analysts most likely ask by.

    What the table is clustered by (without statistics Delta refuses it), derived columns, days and
    moments, then the first ones of the record. Partition columns need none.
    """
    derived = [each.name for each in shape.added]
    columns = (*shape.columns, *shape.key_fields)
    compared = [each for each in columns if has_bounds(each)]
    moments = [each.name for each in compared if each.type in (DATE, TIMESTAMP)]
    names = [each.name for each in compared]
    theirs = [name for name in (*derived, *moments, *names) if name in names]
    wanted = [name for name in dict.fromkeys(theirs) if name not in shape.cluster_by]
    limited = [*shape.cluster_by, *wanted][: max(_THEIRS, len(shape.cluster_by))]
    return [e for e in dict.fromkeys((*_OURS, *limited)) if e not in shape.partition_by]
