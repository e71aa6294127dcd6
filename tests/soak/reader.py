"""The reader: polls the data table all along, as an analyst might, and notes what it sees."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

from tests.soak.sightings import Counts, Sighting, changes

COLUMNS = ["_batch", "_partition", "_offset"]
# It reads the whole table: it must not take the machine for itself.
PAUSE, REST = 0.2, 3.0


@dataclass
class Reader:
    """One table's reader."""

    table: Path
    sightings: list[Sighting] = field(default_factory=list)
    _seen: Counts = field(default_factory=dict)

    def watch(self, stop: threading.Event) -> None:
        """Look at every new version until told to stop, and once more."""
        stopping = False
        while not stopping:
            stopping = stop.is_set()
            started = time.monotonic()
            self.look()
            stop.wait(max(PAUSE, REST * (time.monotonic() - started)))

    def look(self) -> None:
        """Read the newest version, if it was not read before; an older copy put back was."""
        try:
            table = DeltaTable(self.table)
            if self.sightings and table.version() <= self.sightings[-1].version:
                return
            rows = table.to_pyarrow_dataset().to_table(columns=COLUMNS)
        except (DeltaError, FileNotFoundError):
            # Moved away while it was opened, or its files were optimized away and vacuumed.
            return
        counts = _counts(rows)
        changed = changes(self._seen, counts)
        self.sightings.append(Sighting(table.version(), changed, _repeated(rows)))
        self._seen = counts


def _counts(rows: pa.Table) -> Counts:
    grouped = rows.group_by(["_batch", "_partition"]).aggregate([("_offset", "count")])
    places = zip(grouped["_batch"].to_pylist(), grouped["_partition"].to_pylist(), strict=True)
    return dict(zip(places, grouped["_offset_count"].to_pylist(), strict=True))


def _repeated(rows: pa.Table) -> int:
    partitions, offsets = rows["_partition"].to_numpy(), rows["_offset"].to_numpy()
    return len(rows) - len(np.unique((partitions.astype(np.int64) << 40) | offsets))
