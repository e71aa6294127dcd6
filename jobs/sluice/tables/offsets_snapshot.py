"""The offsets table at one version: few rows as values, very many as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from deltalake import DeltaTable

from sluice.clock import SYSTEM_CLOCK, Clock
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.damage import rows_removed
from sluice.offsets.doubts import Doubt
from sluice.offsets.history import LaneHistory
from sluice.offsets.losses import Loss
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import Receipt
from sluice.offsets.resets import Resets
from sluice.offsets.spec_edition import SpecEdition
from sluice.tables.data_files import Condition, require_files
from sluice.tables.offsets_columns import OffsetsColumns
from sluice.tables.offsets_files import OffsetsFiles, RowsByPath
from sluice.tables.offsets_rows import (
    read_batches,
    read_doubt,
    read_edition,
    read_losses,
    read_receipts,
)
from sluice.tables.offsets_schema import BEGUN_ANEW, FORMAT_VERSION
from sluice.tables.refusals import newer_format, reading_offsets
from sluice.tables.reset_rows import DONE, INTENDED, read_resets


class OffsetsSnapshot:
    """What the offsets table says at one version: decisions are based on it.

    The same rows are read once. `known` are rows that were read at other versions, and gets those
    that are read here.
    """

    def __init__(
        self,
        pipeline: str,
        table: DeltaTable | None,
        known: RowsByPath | None = None,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.pipeline = pipeline
        self.table = table
        self.clock = clock
        self._known = {} if known is None else known
        self._found: OffsetsFiles | None = None
        self._answers: dict[str, list[dict[str, Any]]] = {}
        self._numbers: dict[str, int] = {}

    @property
    def exists(self) -> bool:
        """Whether there is a table."""
        return self.table is not None

    @property
    def table_id(self) -> str | None:
        """The table's Delta id; None while there is none."""
        return None if self.table is None else str(self.table.metadata().id)

    @property
    def blank(self) -> bool:
        """Whether it has no plan and no reset, like a table that does not exist."""
        first = BatchSequence(self.pipeline, "forward", 1)
        return not self.planned(first) and not self.newest(self.resets_app_id)

    def require_known_format(self) -> None:
        """Raises NewerFormat where any row, of whatever event, is of a newer Sluice.

        Statistics skip the files of all others. Every write to any table is planned here first:
        so the older Sluice stops before it reads what a newer one has written.
        """
        for row in self._read([("format_version", ">", FORMAT_VERSION)])[:1]:
            assert self.table is not None
            uri = self.table.table_uri.rstrip("/")
            where = f"{uri}: {row['event']} {row['batch'] or ''}".rstrip()
            raise newer_format(where, "format_version", FORMAT_VERSION, row["format_version"])

    def require_whole(self) -> None:
        """Raises OffsetsDamaged unless every file is there that the table's log names."""
        if self.table is None:
            return
        with reading_offsets(self.table.table_uri, self.pipeline):
            require_files(self.table)

    @property
    def begun_anew(self) -> bool:
        """Whether a person has decided that the pipeline begins once more."""
        return self.table is not None and BEGUN_ANEW in self.table.metadata().configuration

    def history(self, sequence: BatchSequence, resets: Resets) -> LaneHistory:
        """The part of a lane of one generation that the next decision needs."""
        planned = self.planned(sequence)
        settled = self.settled(sequence)
        return LaneHistory(
            sequence=sequence,
            planned=planned,
            settled=settled,
            batches=self.batches(sequence, first=max(settled, 1), last=planned),
            opening=resets.by_generation.get(sequence.generation),
        )

    def planned(self, sequence: BatchSequence) -> int:
        """The number of the last planned batch of a sequence, 0 when there is none."""
        return self.newest(sequence.app_id)

    def settled(self, sequence: BatchSequence) -> int:
        """The number of a sequence's last batch with a receipt, 0 when there is none."""
        return self.newest(sequence.receipts_app_id)

    def resets(self) -> Resets:
        """Every reset of the pipeline. Raises OffsetsDamaged where rows of one are gone."""
        known = self.newest(self.resets_app_id)
        if known == 0:
            return Resets({})
        rows = self.reset_rows()
        # What is written together has one time, and no two of them have the same.
        if (written := len({row["recorded_at"] for row in rows})) < known:
            expected = f"{self.resets_app_id}: expected the rows of {known} commits"
            raise rows_removed(self.pipeline, f"{expected}, found those of {written}")
        return read_resets(self.pipeline, rows)

    def batches(self, sequence: BatchSequence, first: int = 1, *, last: int) -> tuple[Batch, ...]:
        """The planned batches of a sequence, from one number to another."""
        return read_batches(sequence, self.rows(sequence, ["planned"], first, last))

    def planned_by(self, sequence: BatchSequence, first: int, last: int) -> Mapping[int, Origin]:
        """Who planned the batches of a sequence, from one number to another, by number."""
        rows = self.rows(sequence, ["planned"], first, last)
        return {row["batch_id"]: Origin.of(row) for row in rows}

    def planned_with(self, sequence: BatchSequence, number: int) -> SpecEdition | None:
        """The spec's edition that a batch was planned with; None where it is not recorded."""
        return read_edition(self.rows(sequence, ["planned"], number, number))

    def read_with(self, sequence: BatchSequence, number: int) -> SpecEdition | None:
        """The spec's edition that a batch was read with, by its receipt; None as above."""
        return read_edition(self.rows(sequence, ["committed"], number, number))

    def receipts(self, sequence: BatchSequence, newest: int) -> list[Receipt]:
        """The newest receipts of a sequence, oldest first."""
        settled = self.settled(sequence)
        return self.receipts_of(sequence, max(1, settled - newest + 1), settled)

    def newest_receipt(self, sequence: BatchSequence) -> list[Receipt]:
        """A sequence's newest receipt, if there is one. Raises OffsetsDamaged where it is gone.

        A recovery has found only rows for batches before the first known plan.
        """
        settled = self.settled(sequence)
        found = self.receipts(sequence, newest=1)
        if settled and not found and self.batches(sequence, settled, last=settled):
            expected = f"{sequence.receipts_app_id}: expected the receipt of"
            raise rows_removed(
                sequence.pipeline, f"{expected} {sequence.batch(settled)}, found none"
            )
        return found

    def receipts_of(self, sequence: BatchSequence, first: int, last: int) -> list[Receipt]:
        """The receipts of a sequence, from one batch number to another."""
        return list(read_receipts(sequence, self.rows(sequence, ["committed"], first, last)))

    def rows(
        self, sequence: BatchSequence, events: list[str], first: int = 0, last: int | None = None
    ) -> list[dict[str, Any]]:
        """The sequence's rows of these events, limited to batches `first` to `last` where given.

        File statistics skip the files of other batches.
        """
        if last is not None and last < first:
            return []
        wanted: list[Condition] = [
            ("lane", "=", sequence.lane),
            ("generation", "=", sequence.generation),
            ("event", "in", events),
        ]
        if last is not None:
            wanted += [("batch_id", ">=", first), ("batch_id", "<=", last)]
        return self._read(wanted)

    def doubt_about(self, batch: Batch) -> Doubt | None:
        """The recorded doubt about a batch; None where there is none."""
        if not self.newest(self.doubts_app_id):
            return None
        rows = self.rows(batch.sequence, ["doubt"], batch.number, batch.number)
        return read_doubt(batch, rows)

    def forget(self) -> None:
        """Read again what is asked for from now on: a commit moves the table on."""
        self._found = None
        self._answers.clear()
        self._numbers.clear()

    @property
    def columns(self) -> OffsetsColumns:
        """The ranges of plans and receipts in columns: few or very many."""
        return OffsetsColumns(self._files())

    def losses(self) -> Mapping[BatchSequence, list[Loss]]:
        """Every recorded loss, by the sequence that recorded it."""
        found: dict[BatchSequence, list[dict[str, Any]]] = {}
        for row in self._read([("event", "=", "loss")]):
            sequence = BatchSequence(self.pipeline, row["lane"], row["generation"])
            found.setdefault(sequence, []).append(row)
        return {sequence: list(read_losses(rows)) for sequence, rows in sorted(found.items())}

    @property
    def resets_app_id(self) -> str:
        """The transaction id of resets."""
        return f"sluice:{self.pipeline}:resets"

    @property
    def doubts_app_id(self) -> str:
        """The transaction id of doubts."""
        return f"sluice:{self.pipeline}:doubts"

    @property
    def state_app_id(self) -> str:
        """The transaction id that holds which state table is known."""
        return f"sluice:{self.pipeline}:state_table"

    def reset_rows(self) -> list[dict[str, Any]]:
        """The rows of all resets."""
        return self._read([("event", "in", [INTENDED, DONE])])

    def _read(self, wanted: list[Condition]) -> list[dict[str, Any]]:
        """The rows that meet all conditions. Raises CommitUnknown or OffsetsDamaged."""
        question = repr(wanted)
        if question not in self._answers:
            files = self._files()
            self._answers[question] = files.rows(wanted) if files else []
        return self._answers[question]

    def _files(self) -> OffsetsFiles | None:
        """The table's files; None while there is no table. Raises as `_read`."""
        if self._found is None and self.table is not None:
            self._found = OffsetsFiles(self.pipeline, self.table, self._known)
        return self._found

    def newest(self, app_id: str) -> int:
        """The version of a transaction id; 0 where it has none."""
        if self.table is None:
            return 0
        if app_id not in self._numbers:
            with reading_offsets(self.table.table_uri, self.pipeline):
                self._numbers[app_id] = self.table.transaction_version(app_id) or 0
        return self._numbers[app_id]
