"""Rows of the data and quarantine tables, read with delta-rs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.dataset as pads
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, DeltaProtocolError

from sluice.errors import TableRefused
from sluice.offsets.ranges import TopicPartition


def dataset(table: DeltaTable) -> pads.Dataset:
    """The rows of a table. Raises TableRefused where it has a feature that delta-rs cannot read."""
    try:
        return table.to_pyarrow_dataset()
    except DeltaProtocolError as problem:
        raise TableRefused(
            f"{table.table_uri}: expected table features that delta-rs reads, found others:"
            f" {problem}. Remove the feature with ALTER TABLE … DROP FEATURE; then run again."
        ) from problem


def read_rows(uri: str, columns: Sequence[str], offsets: Collection[int] | None = None) -> pa.Table:
    """Some columns of a table's rows: all, or those with one of these offsets in any partition.

    File statistics skip the files of other offsets.
    """
    rows = dataset(DeltaTable(uri))
    wanted = None
    if offsets is not None:
        if not offsets:
            return rows.schema.empty_table().select(list(columns))
        within = (pads.field("_offset") >= min(offsets)) & (pads.field("_offset") <= max(offsets))
        wanted = within & pads.field("_offset").isin(list(offsets))
    return rows.to_table(columns=list(columns), filter=wanted)


@dataclass(frozen=True)
class StoredRows:
    """A table's rows: how many each batch has, and where each partition's end.

    `ends` is the highest offset, plus 1, by partition and topic id.
    """

    counts: Mapping[str, int]
    ends: Mapping[tuple[TopicPartition, str], int]


def stored_rows(table: DeltaTable) -> StoredRows:
    """Sum up the rows of a table, piece by piece. Raises TableRefused as `dataset` does."""
    places = ["_topic", "_partition", "_topic_id"]
    counts: Counter[str] = Counter()
    ends: dict[tuple[TopicPartition, str], int] = {}
    for piece in dataset(table).to_batches(columns=[*places, "_offset", "_batch"]):
        rows = pa.Table.from_batches([piece])
        for row in rows.group_by("_batch").aggregate([([], "count_all")]).to_pylist():
            counts[row["_batch"] or ""] += row["count_all"]
        for row in rows.group_by(places).aggregate([("_offset", "max")]).to_pylist():
            place = TopicPartition(row["_topic"], row["_partition"]), row["_topic_id"]
            ends[place] = max(row["_offset_max"] + 1, ends.get(place, 0))
    return StoredRows(counts, ends)


def removed_rows(
    uri: str, version: int, columns: Sequence[str], keys: Sequence[str]
) -> pa.Table | None:
    """Columns of the rows that a version deleted; rows it only rewrote, by key, are left out.

    None where the version's log or the previous version's files are gone: cleaned up or vacuumed.
    """
    try:
        before, after = (dataset(DeltaTable(uri, version=each)) for each in (version - 1, version))
        old = {each.path: each for each in before.get_fragments()}
        new = {each.path: each for each in after.get_fragments()}
        removed = _rows(before, (old[path] for path in old.keys() - new.keys()), columns)
        added = _rows(after, (new[path] for path in new.keys() - old.keys()), columns)
    except (DeltaError, FileNotFoundError):
        return None
    return removed.join(added.select(keys), list(keys), join_type="left anti")


def _rows(table: pads.Dataset, files: Iterable[pads.Fragment], columns: Sequence[str]) -> pa.Table:
    part = pads.FileSystemDataset(list(files), table.schema, table.format, table.filesystem)
    return part.to_table(columns=list(columns))
