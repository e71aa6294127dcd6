"""Removed files: those that a commit took from a table, and which rows they may have held.

Statistics outlive the files: they tell which offsets a deletion cannot have touched.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import pyarrow as pa
from deltalake.exceptions import DeltaError

from sluice.offsets.ranges import OffsetRange
from sluice.tables.logged_files import LoggedFile, logged_file
from sluice.tables.table_files import files_of_table, open_table

_REMOVE, _ADD = b'{"remove":', b'{"add":'


@dataclass(frozen=True)
class RemovedFile:
    """A file by the lowest and highest values of its coordinates; None where unknown."""

    topic_ids: tuple[str, str] | None = None
    partitions: tuple[int, int] | None = None
    offsets: tuple[int, int] | None = None

    def may_hold(self, topic_id: str, offsets: OffsetRange) -> bool:
        """Whether it may have had a row of these offsets."""
        number = offsets.partition.partition
        return (
            (self.topic_ids is None or self.topic_ids[0] <= topic_id <= self.topic_ids[1])
            and (self.partitions is None or self.partitions[0] <= number <= self.partitions[1])
            and (
                self.offsets is None
                or (offsets.start <= self.offsets[1] and self.offsets[0] < offsets.end)
            )
        )


def removed_files(uri: str, version: int) -> list[RemovedFile]:
    """The files that a version removed, or of which it removed rows by a deletion vector."""
    paths = _removed_paths(uri, version)
    if not paths:
        return []
    known = _files_before(uri, version)
    return [_removed_file(known.get(path, {})) for path in paths]


@dataclass(frozen=True)
class ChangedFiles:
    """The files that a version removed and added.

    `tell_rows` if they alone show which rows went: none has a deletion vector, and each one states
    its partition.
    """

    removed: tuple[LoggedFile, ...]
    added: tuple[LoggedFile, ...]
    tell_rows: bool


def changed_files(uri: str, version: int) -> ChangedFiles:
    """What a version did to the table's files. Raises FileNotFoundError without its commit."""
    files = files_of_table(uri)
    with files.open_input_stream(f"_delta_log/{version:020d}.json") as stream:
        lines = stream.read().splitlines()
    removed = [json.loads(line)["remove"] for line in lines if line.startswith(_REMOVE)]
    added = [json.loads(line)["add"] for line in lines if line.startswith(_ADD)]
    both = (*removed, *added)
    return ChangedFiles(
        tuple(map(logged_file, removed)),
        tuple(map(logged_file, added)),
        not any(e.get("deletionVector") or e.get("partitionValues") is None for e in both),
    )


def _removed_paths(uri: str, version: int) -> list[str]:
    return [unquote(each.path) for each in changed_files(uri, version).removed]


def _files_before(uri: str, version: int) -> Mapping[str, Mapping[str, Any]]:
    """The statistics of the files before a version; none where the log has lost that version."""
    try:
        actions = open_table(uri, version - 1).get_add_actions(flatten=True)
    except (DeltaError, FileNotFoundError):
        return {}
    return {unquote(each["path"]): each for each in pa.table(actions).to_pylist()}


def _removed_file(statistics: Mapping[str, Any]) -> RemovedFile:
    def bounds(column: str) -> Any:
        partition = statistics.get(f"partition.{column}")
        low, high = (statistics.get(f"{each}.{column}", partition) for each in ("min", "max"))
        found = low, high
        return None if None in found else found

    return RemovedFile(bounds("_topic_id"), bounds("_partition"), bounds("_offset"))
