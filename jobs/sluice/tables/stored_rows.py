"""Stored rows: a table's rows summed up, file by file, by batch and by partition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from deltalake import DeltaTable

from sluice.offsets.ranges import TopicPartition
from sluice.tables.data_files import files_of, read_files

_PLACE = ["_topic", "_partition", "_topic_id"]


@dataclass(frozen=True)
class StoredRows:
    """How many rows each batch has, and where those of each partition end.

    `ends` is the highest offset, plus 1, by partition and topic id.
    """

    counts: Mapping[str, int]
    ends: Mapping[tuple[TopicPartition, str], int]


def stored_rows(table: DeltaTable) -> StoredRows:
    """Sum up the rows of a table; one file is read at a time. Raises as `read_files`."""
    counts: Counter[str] = Counter()
    ends: dict[tuple[TopicPartition, str], int] = {}
    for file in files_of(table):
        rows = read_files(table, [file], [*_PLACE, "_offset", "_batch"])
        for row in rows.group_by("_batch").aggregate([([], "count_all")]).to_pylist():
            counts[row["_batch"] or ""] += row["count_all"]
        # What others have inserted may lack coordinates.
        known = rows.select([*_PLACE, "_offset"]).drop_null()
        for row in known.group_by(_PLACE).aggregate([("_offset", "max")]).to_pylist():
            place = TopicPartition(row["_topic"], row["_partition"]), row["_topic_id"]
            ends[place] = max(row["_offset_max"] + 1, ends.get(place, 0))
    return StoredRows(counts, ends)
