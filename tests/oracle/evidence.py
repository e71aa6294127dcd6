"""The evidence: everything that the invariants look at, read once and indexed by coordinates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tests.oracle.batches import Batch, LaneHistory, read_history
from tests.oracle.coordinates import SPAN, Coordinates, Keys, members
from tests.oracle.delta_log import TableLog, read_log
from tests.oracle.kafka_truth import NO_RECORDS, KafkaTruth
from tests.oracle.offsets_rows import read_rows
from tests.oracle.table_files import read_file
from tests.oracle.violation import Unjudgeable

IDENTITY = ("_topic_id", "_partition", "_offset", "_batch")


@dataclass(frozen=True)
class Rows:
    """Coordinates and batch labels of rows, as integers, in one order."""

    keys: Keys
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.keys)


NO_ROWS = Rows(np.empty(0, np.int64), np.empty(0, np.int64))


def joined(parts: list[Rows]) -> Rows:
    if not parts:
        return NO_ROWS
    keys = np.concatenate([part.keys for part in parts])
    return Rows(keys, np.concatenate([part.labels for part in parts]))


@dataclass
class Evidence:
    truth: KafkaTruth
    data: TableLog
    quarantine: TableLog
    offsets: TableLog
    history: LaneHistory
    coordinates: Coordinates = field(default_factory=Coordinates)
    notes: list[str] = field(default_factory=list)
    left_out: Keys = field(default_factory=lambda: np.empty(0, np.int64))
    _labels: dict[str, int] = field(default_factory=dict)
    _files: dict[str, Rows | None] = field(default_factory=dict)

    @property
    def restored(self) -> bool:
        """Whether somebody rolled the data table back; then a reset may close earlier batches."""
        restored = any(v.info.get("operation") == "RESTORE" for v in self.data.versions)
        return restored or any(map(self.history.put_back, self.history.of_event("committed")))

    def label(self, name: str) -> int:
        return self._labels.setdefault(name, len(self._labels))

    def label_name(self, label: int) -> str:
        return list(self._labels)[label]

    def rows_of(self, table: pa.Table) -> Rows:
        if table.num_rows == 0:
            return NO_ROWS
        names = pc.fill_null(table.column("_batch"), "").combine_chunks().dictionary_encode()
        numbers = [self.label(name) for name in names.dictionary.to_pylist()]
        labels = np.asarray(numbers, np.int64)[names.indices.to_numpy()]
        return Rows(self.coordinates.keys(table), labels)

    def rows_in(self, log: TableLog, paths: list[str]) -> Rows | None:
        """Rows of data files, or None when one was vacuumed away."""
        parts = [self._file_rows(log, path) for path in paths]
        return None if any(part is None for part in parts) else joined([p for p in parts if p])

    def _file_rows(self, log: TableLog, path: str) -> Rows | None:
        if path not in self._files:
            try:
                table = read_file(log, log.files[path], list(IDENTITY))
                self._files[path] = self.rows_of(table)
            except FileNotFoundError:
                self._files[path] = None
        return self._files[path]

    @cached_property
    def rows(self) -> Rows:
        """The data table now."""
        return self._live_rows(self.data)

    @cached_property
    def quarantined(self) -> Rows:
        """The quarantine table now, dead rows included."""
        return self._live_rows(self.quarantine)

    def _live_rows(self, log: TableLog) -> Rows:
        rows = self.rows_in(log, list(log.live))
        if rows is None:
            raise Unjudgeable(f"{log.root}: a live data file is missing")
        return rows

    @cached_property
    def held(self) -> Keys:
        """Every committed record of Kafka, sorted."""
        return self._truth_keys("offsets")

    @cached_property
    def aborted(self) -> Keys:
        return self._truth_keys("aborted")

    @cached_property
    def told_lost(self) -> Keys:
        """Offsets that Kafka lost from the midst of its log, and that a loss row tells of."""
        gone = self._truth_keys("gone")
        told = np.zeros(len(gone), bool)
        for row in self.history.losses:
            key = partial(self.coordinates.key, *row.place)
            told |= (gone >= key(row.start_offset)) & (gone < key(row.end_offset))
        return gone[told]

    def _truth_keys(self, name: str) -> Keys:
        places = self.truth.partitions.items()
        parts = [self.coordinates.code(*at) * SPAN + getattr(p, name) for at, p in places]
        return np.sort(np.concatenate(parts)) if parts else np.empty(0, np.int64)

    @cached_property
    def records(self) -> pa.Table:
        """Every committed record of Kafka, in the order of `held`."""
        places = self.truth.partitions.items()
        parts = {self.coordinates.code(*at): place.records for at, place in places}
        return pa.concat_tables([parts[code] for code in sorted(parts)] or [NO_RECORDS])

    def judge_kinds(self, keeps: Callable[[dict[str, Any]], bool]) -> None:
        """Note which records of Kafka the pipeline is to leave out, by the test's own words."""
        wanted = [keeps(record) for record in self.records.to_pylist()]
        self.left_out = self.held[~np.asarray(wanted, bool)]

    def bounds(self, batch: Batch) -> np.ndarray:
        """The batch's ranges as pairs of keys, one line per partition."""
        key = self.coordinates.key
        pairs = [(key(*r.place, r.start_offset), key(*r.place, r.end_offset)) for r in batch.plan]
        return np.asarray(pairs, np.int64).reshape(-1, 2)

    def within(self, batch: Batch, keys: Keys) -> np.ndarray:
        """Which keys the batch's ranges contain."""
        inside = np.zeros(len(keys), bool)
        for start, end in self.bounds(batch):
            inside |= (keys >= start) & (keys < end)
        return inside

    def held_by(self, batch: Batch) -> Keys:
        """Records of Kafka in the batch's ranges."""
        return self.slices(self.held, batch)

    def slices(self, keys: Keys, batch: Batch) -> Keys:
        """The part of the sorted keys that is in the batch's ranges."""
        places = np.searchsorted(keys, self.bounds(batch))
        parts = [keys[low:high] for low, high in places if high > low]
        return np.concatenate(parts) if parts else keys[:0]

    def newest(self, keys: Keys) -> np.ndarray:
        """For each sorted key the place in `committed` of the last batch over it, or -1."""
        newest = np.full(len(keys), -1, np.int64)
        for place, batch in enumerate(self.history.committed):
            for low, high in np.searchsorted(keys, self.bounds(batch)):
                newest[low:high] = place
        return newest

    def ranks(self, labels: np.ndarray) -> np.ndarray:
        """Label → place of its batch in `committed`, or -1."""
        places = {batch.label: i for i, batch in enumerate(self.history.committed)}
        known = np.asarray([places.get(name, -1) for name in self._labels] or [-1], np.int64)
        return known[labels]

    @cached_property
    def live_quarantine(self) -> Rows:
        """Quarantine rows whose batch is committed and was the last one to read the offset."""
        order = np.argsort(self.quarantined.keys, kind="stable")
        keys, labels = self.quarantined.keys[order], self.quarantined.labels[order]
        ranks = self.ranks(labels)
        newest = self.newest(keys)
        held = members(keys, self.held)
        live = (ranks >= 0) & ((ranks == newest) | (~held & ~self._read_later(keys, ranks)))
        return Rows(keys[live], labels[live])

    def _read_later(self, keys: Keys, ranks: np.ndarray) -> np.ndarray:
        """For offsets that Kafka lost since: whether a later committed batch has a row of it."""
        everything = joined([self.rows, self.quarantined])
        newest: dict[int, int] = {}
        wanted = members(everything.keys, np.unique(keys))
        seen = zip(everything.keys[wanted], self.ranks(everything.labels[wanted]), strict=True)
        for key, rank in seen:
            newest[key] = max(rank, newest.get(key, -1))
        return np.asarray([newest[key] > rank for key, rank in zip(keys, ranks, strict=True)], bool)


def gather(warehouse: Path | str, pipeline: str, table: str, truth: KafkaTruth) -> Evidence:
    root = Path(warehouse)
    data = read_log(root / table)
    quarantine = read_log(root / f"{table}__quarantine")
    offsets = read_log(root / f"{table}__offsets")
    history = read_history(pipeline, read_rows(offsets, pipeline), data)
    evidence = Evidence(truth, data, quarantine, offsets, history)
    for (topic_id, partition), place in truth.partitions.items():
        evidence.coordinates.code(topic_id, partition)
        evidence.coordinates.topics[topic_id] = place.topic
    for row in history.rows:
        evidence.coordinates.topics.setdefault(row.topic_id, row.topic)
    return evidence
