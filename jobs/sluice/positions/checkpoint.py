"""Checkpoints of Spark Structured Streaming: where the last committed batch ended.

    offsets/7   written before batch 7 is read: where each of its sources ends
    commits/7   written after batch 7 has landed

A batch with the first file but not the second may or may not be in the sink: such a checkpoint is
refused, and so are unknown formats.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from sluice.errors import SettingsError
from sluice.offsets.ranges import TopicPartition

_Ends = Mapping[TopicPartition, int]

# Version 2 of a commit file differs only in what it says about state stores.
_VERSIONS = {"offsets": ("v1",), "commits": ("v1", "v2")}
_NOTHING_NEW = "-"


class Files(Protocol):
    """The checkpoint's folder; `str` gives its name."""

    def names(self, inside: str) -> list[str]:
        """The names of the files in a subfolder; none where there is no such subfolder."""

    def text(self, path: str) -> str:
        """The content of a file. Raises SettingsError when it cannot be read."""


def read_checkpoint(files: Files) -> _Ends:
    """Where each partition's last committed batch ended, for every Kafka source of the query.

    Raises SettingsError, with file, expected and found, when in any doubt.
    """
    planned, committed = _batches(files, "offsets"), _batches(files, "commits")
    if not planned and not committed:
        raise SettingsError(
            f"{files}: expected the checkpoint of a streaming query, found no files in offsets/"
            " and commits/. Name the folder given to it as `checkpointLocation`."
        )
    last = max(committed, default=None)
    ends = {} if last is None else _ends(files, last)
    if last is not None:
        _lines(files, "commits", last)
    latest = max(planned, default=None)
    if latest is not None and (last is None or latest > last):
        _require_same(files, last, ends, latest, _ends(files, latest))
    return ends


def _batches(files: Files, folder: str) -> set[int]:
    # Checksums (.7.crc) and files half written at a crash (.7.….tmp) lie beside the batches.
    names = [name for name in files.names(folder) if not name.startswith(".")]
    strange = sorted(name for name in names if not name.isdecimal())
    if strange:
        raise SettingsError(
            f"{files}/{folder}: expected files named by the numbers of batches, found {strange[0]}."
            " This is not the checkpoint of a query that reads Kafka; choose another `start`."
        )
    return set(map(int, names))


def _lines(files: Files, folder: str, batch: int) -> list[str]:
    """A log file's lines after its version, which must be a known one."""
    path, allowed = f"{folder}/{batch}", _VERSIONS[folder]
    version, *lines = files.text(path).splitlines() or [""]
    if version.strip() not in allowed:
        raise SettingsError(
            f"{files}/{path}: expected version {' or '.join(allowed)}, found {version[:20]!r}."
            " Say where to start with `start: {offsets: …}`."
        )
    return lines


def _ends(files: Files, batch: int) -> _Ends:
    """Where a batch's Kafka sources end. The first line is metadata, each other line a source."""
    where = f"{files}/offsets/{batch}"
    ends: dict[TopicPartition, int] = {}
    for line in _lines(files, "offsets", batch)[1:]:
        for partition, end in _kafka_ends(where, line):
            if ends.setdefault(partition, end) != end:
                raise SettingsError(
                    f"{where}: {partition}: expected one position, found {ends[partition]} and"
                    f" {end}: two sources of the query read it. Say where to start with"
                    " `start: {offsets: …}`."
                )
    return ends


def _kafka_ends(where: str, line: str) -> Iterator[tuple[TopicPartition, int]]:
    """The ends in a source's line, `{"flights": {"0": 12}}`; none for another kind of source."""
    if line.strip() in ("", _NOTHING_NEW):
        return
    try:
        written = json.loads(line)
    except ValueError:
        raise SettingsError(
            f"{where}: expected a source's offsets as JSON, found {line[:40]!r}."
            " Bring the file back, or choose another `start`."
        ) from None
    if not isinstance(written, dict) or not all(map(_of_kafka, written.values())):
        return
    for topic, offsets in written.items():
        for number, end in offsets.items():
            if end < 0:
                raise SettingsError(
                    f"{where}: {topic}[{number}]: expected an offset, found {end}."
                    " Say where to start with `start: {offsets: …}`."
                )
            yield TopicPartition(topic, int(number)), end


def _of_kafka(offsets: object) -> bool:
    return isinstance(offsets, dict) and all(
        number.isdecimal() and type(end) is int for number, end in offsets.items()
    )


def _require_same(files: Files, last: int | None, ends: _Ends, latest: int, planned: _Ends) -> None:
    """Refuse a batch that was planned but not committed, unless it has nothing to read."""
    if last is not None and ends == planned:
        return
    before = "no batch" if last is None else f"batch {last}"
    found = f"{before}, planned up to batch {latest}"
    raise SettingsError(
        f"{files}: expected every planned batch to be committed, found committed {found}:"
        f" {', '.join(_both(ends, planned))}. The sink may or may not hold the last batch. Start"
        " that query again so that it finishes the batch, stop it, and run again; or check in its"
        " table which is true, and use `start: {offsets: {topic: {partition: offset}}}`."
    )


def _both(ends: _Ends, planned: _Ends) -> Iterable[str]:
    for partition, end in sorted(planned.items()):
        before = ends.get(partition)
        if before != end:
            yield f"{partition} {'at its start' if before is None else before} or {end}"
