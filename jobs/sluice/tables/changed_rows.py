"""Changed rows: those that a version wrote anew with other values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from sluice.errors import TableRefused
from sluice.offsets.row_offsets import Mask
from sluice.tables.data_files import Condition, files_of, read_files
from sluice.tables.table_files import open_table


def changed_rows(
    uri: str,
    version: int,
    columns: Sequence[str],
    keys: Sequence[str],
    wanted: Sequence[Condition] = (),
) -> pa.Table | None:
    """Columns, as they were, of the rows that meet the conditions and have other values since.

    A column that the version before lacks counts as one of nulls. None where the version's log or
    a file is gone, or cannot be read.
    """
    try:
        before, after = (open_table(uri, each) for each in (version - 1, version))
        old, new = {*files_of(before, wanted)}, {*files_of(after, wanted)}
        # Files that are in both hold the same rows; so nearly always there is nothing to compare.
        if not old - new or not new - old:
            return _nothing(before, columns)
        removed = read_files(before, old - new, _names(before), wanted)
        added = read_files(after, new - old, _names(after), wanted)
    except (DeltaError, FileNotFoundError, TableRefused):
        return None
    was, now = _side_by_side(removed, added, keys)
    differs = np.zeros(len(was), dtype=bool)
    for name in now.column_names:
        earlier = was[name] if name in was.column_names else pa.nulls(len(was))
        differs |= _differs(earlier, now[name])
    return was.filter(pa.array(differs)).select(columns)


def _names(table: DeltaTable) -> list[str]:
    return [field.name for field in table.schema().fields]


def _nothing(table: DeltaTable, columns: Sequence[str]) -> pa.Table:
    return read_files(table, [], columns)


def _side_by_side(
    removed: pa.Table, added: pa.Table, keys: Sequence[str]
) -> tuple[pa.Table, pa.Table]:
    """The rows that are in both, by key, in one order."""
    left = removed.select(keys).append_column("was", pa.array(np.arange(len(removed))))
    right = added.select(keys).append_column("now", pa.array(np.arange(len(added))))
    pairs = left.join(right, list(keys), join_type="inner")
    return removed.take(pairs["was"]), added.take(pairs["now"])


def _differs(was: pa.ChunkedArray | pa.Array, now: pa.ChunkedArray) -> Mask:
    if pa.types.is_nested(now.type) or was.type != now.type:
        # A type may have been widened in between: Python compares what the values mean.
        pairs = zip(was.to_pylist(), now.to_pylist(), strict=True)
        return np.array([not _same(one, other) for one, other in pairs], dtype=bool)
    unequal = pc.fill_null(pc.not_equal(was, now), False)
    if pa.types.is_floating(now.type):
        unequal = pc.and_not(unequal, pc.fill_null(pc.and_(pc.is_nan(was), pc.is_nan(now)), False))
    appeared = pc.xor(pc.is_null(was), pc.is_null(now))
    found: Mask = pc.or_(unequal, appeared).to_numpy(zero_copy_only=False).astype(bool)
    return found


def _same(one: object, other: object) -> bool:
    return one == other or (one != one and other != other)
