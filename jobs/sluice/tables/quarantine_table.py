"""The quarantine table: which attempts have added rows to it, and commits that close its batches.

Rows are added by Spark. Closing a batch removes what other attempts have added, and needs no JVM.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import CommitProperties, DeltaTable, Transaction

from sluice.errors import CommitConflict, TableRefused
from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.quarantine_tickets import (
    FENCED,
    JudgedRecords,
    SetAside,
    Ticket,
    closes,
    has_given_up,
    last_closed,
)
from sluice.offsets.range_columns import OffsetScope
from sluice.offsets.resets import LANES
from sluice.tables.batch_commits import attempt_of, batch_of, judged_metadata, judged_of
from sluice.tables.commits import OthersCommits, commit_infos, commits_back
from sluice.tables.coordinates import COORDINATES, StoredCoordinates, group_coordinates
from sluice.tables.data_files import Condition
from sluice.tables.delta_log import DeltaLog
from sluice.tables.delta_snapshot import DeltaSnapshot
from sluice.tables.empty_commit import commit_only_ids
from sluice.tables.features import unwritable_features
from sluice.tables.foreign_commits import TableCommit, takes_no_rows
from sluice.tables.refusals import committing, reading

AT = "quarantined_at"
# The columns that every row of ours has; rows that others have added may lack them.
_OURS = (*COORDINATES.names, AT)
# The table property with the Delta ids of the tables that it replaces; a person decided so.
REPLACES = "sluice.replaces"
Attempts = Mapping[str, Collection[datetime]]
"""The attempts that have rows, by batch."""
Sizes = Mapping[str, Mapping[datetime, int]]
"""The same, with how many rows."""


class QuarantineTable(DeltaLog):
    """The quarantine table of a pipeline, beside its data table."""

    def snapshot(self) -> QuarantineSnapshot:
        """The table as it is now. Raises CommitUnknown where its log is unreadable."""
        found = super().snapshot()
        assert isinstance(found, QuarantineSnapshot)
        return found

    def _as_snapshot(self, table: DeltaTable | None, others: OthersCommits) -> DeltaSnapshot:
        return QuarantineSnapshot(self.uri, table, others)


class QuarantineSnapshot(DeltaSnapshot):
    """The quarantine table at one version; everything is empty where there is no table yet."""

    def __init__(
        self, uri: str, table: DeltaTable | None, others: OthersCommits | None = None
    ) -> None:
        super().__init__(uri, table, others)
        self._since: dict[int, list[tuple[TableCommit, bool]]] = {}

    def number(self, sequence: BatchSequence) -> int:
        """The last number of a sequence's tickets that was used; 0 where there is none.

        Raises CommitUnknown where the table was dropped since it was read.
        """
        return self._transaction(sequence.quarantine_app_id)

    def last_closed(self, sequence: BatchSequence) -> int:
        """The last batch of a sequence that is closed: it landed before. 0 where none is."""
        return last_closed(self.number(sequence))

    def knows(self, pipeline: str) -> bool:
        """Whether it knows batches of a pipeline: by rows, or by numbers that are used."""
        firsts = (BatchSequence(pipeline, lane, 1) for lane in LANES)
        return not self.is_empty or any(self.number(each) for each in firsts)

    def require_added(self, ticket: Ticket, attempt: str) -> None:
        """Raises CommitConflict unless the newest use of tickets is this attempt's."""
        assert self._table is not None, "rows were added to it"
        used = self._table.transaction_version(ticket.app_id)
        if used == ticket.number:
            # Nearly always the newest commit.
            newest = (attempt_of(commit) for _, commit in commit_infos(self._table))
            if next((each for each in newest if each), None) == attempt:
                return
        raise CommitConflict(f"another attempt has used ticket {ticket.number} for the quarantine")

    def attempts(self, names: Collection[str] | None = None) -> Sizes:
        """The attempts at all batches, or at some, that have rows, and how many."""
        if names is not None and not names:
            return {}
        some: list[Condition] = [] if names is None else [("_batch", "in", sorted(names))]
        with reading(self.uri):
            return _sizes_of(_whole(self._where(_OURS, some)))

    @property
    def nameless(self) -> int:
        """How many rows lack what every row of ours has."""
        with reading(self.uri):
            rows = self._where(_OURS, [])
        return len(rows) - len(_whole(rows))

    def rows_without(
        self,
        others: Callable[[str, Collection[datetime]], Collection[datetime]],
        columns: Sequence[str],
        scope: OffsetScope | None = None,
    ) -> pa.Table:
        """Columns, the coordinates and AT among them, of the rows but those of other attempts.

        Without those that lack one of them. `others` says which attempts at a batch do not count,
        given all that have rows.
        """
        rows = _whole(self.rows(columns, scope))
        gone = {name: others(name, attempts) for name, attempts in _sizes_of(rows).items()}
        if not any(gone.values()):
            return rows
        pairs = zip(rows["_batch"].to_pylist(), rows[AT].to_pylist(), strict=True)
        return rows.filter(pa.array([at not in gone[name] for name, at in pairs]))

    def added_by(self, batch: Batch, aside: SetAside | None) -> StoredCoordinates:
        """The rows of the attempt that committed a batch; of all, where its commit names none."""
        rows = _whole(self._where(_OURS, [("_batch", "=", str(batch))]))
        if aside is not None:
            rows = rows.filter(pc.equal(rows[AT], aside.at)) if aside.at else rows.slice(0, 0)
        return group_coordinates(rows)

    @property
    def replaced(self) -> Collection[str]:
        """The tables in whose place it was created, because a person decided so."""
        return self.settings.properties.get(REPLACES, "").split()

    def unjudged(self, pipeline: str, judged: int = -1) -> list[TableCommit]:
        """Others' commits above a judged version that may have taken rows, oldest first.

        None before a batch was last closed.
        """
        found = self.since_judged(pipeline, judged)
        return [each for each, ours in reversed(found) if not ours and not takes_no_rows(each)]

    def since_judged(self, pipeline: str, judged: int) -> Sequence[tuple[TableCommit, bool]]:
        """Every commit above a judged version, or since a batch was last closed, newest first.

        With whether it is ours. A batch is closed once all commits before have been looked at; a
        generation, without that.
        """
        if judged not in self._since:
            self._since[judged] = list(self._back_to(pipeline, judged))
        return self._since[judged]

    def _back_to(self, pipeline: str, judged: int) -> Iterator[tuple[TableCommit, bool]]:
        if self._table is None or judged >= self._table.version():
            return
        for commit, numbers in commits_back(self._table):
            ours = [n for at, n in numbers.items() if at.startswith(f"sluice:{pipeline}:")]
            if commit.version <= judged or any(closes(e) and e != FENCED for e in ours):
                return
            yield commit, bool(ours)

    def has_given_up(self, batch: Batch) -> bool:
        """Whether the last attempt that added rows of a batch will never commit it."""
        return has_given_up(batch, self.number(batch.sequence))

    def judged(self, batch: Batch) -> JudgedRecords | None:
        """What the last attempt at a batch had judged when it gave the batch up; None otherwise,
        and where the table's log does not say it.
        """
        if self._table is None or not self.has_given_up(batch):
            return None
        app = batch.sequence.app_id, batch.number
        # Nearly always the newest commit.
        with reading(self.uri):
            return next(
                (judged_of(told) for _, told in commit_infos(self._table) if batch_of(told) == app),
                None,
            )

    def give_up(self, batch: Batch, ticket: Ticket, judged: JudgedRecords, now: datetime) -> None:
        """Say that the attempt with this ticket will never commit its batch. Raises as `use` does.

        Commits nothing where another attempt has a newer ticket.
        """
        if self._table is not None and self.number(batch.sequence) == ticket.number:
            by = _transaction(batch.sequence, ticket.given_up, now)
            commit_only_ids(self._table, [by], now, judged_metadata(batch, judged))

    def use(
        self,
        sequence: BatchSequence,
        number: int,
        now: datetime,
        removing: Attempts | None = None,
    ) -> None:
        """Use up a number without adding rows; remove those of some attempts with it.

        Raises CommitConflict if another process has used one since; TableRefused for a feature
        with which rows cannot be removed.
        """
        if self._table is None:
            raise CommitConflict(f"{self.uri}: the table was dropped meanwhile")
        by = _transaction(sequence, number, now)
        if not removing:
            commit_only_ids(self._table, [by], now)
            return
        self._require_writable()
        with committing(self._table, [by.app_id]):
            self._table.delete(
                _rows_of(removing), commit_properties=CommitProperties(app_transactions=[by])
            )

    def remove_others(self, names: Collection[str]) -> None:
        """Remove the rows that name one of these, no planned batch, or lack a column of ours.

        Raises as `use` does.
        """
        if self._table is None:
            return
        self._require_writable()
        nobodys = " OR ".join(f"{each} IS NULL" for each in _OURS)
        named = ", ".join(f"'{_quoted(each)}'" for each in names)
        with committing(self._table):
            self._table.delete(f"{nobodys} OR _batch IN ({named})" if named else nobodys)

    def _require_writable(self) -> None:
        assert self._table is not None
        if unwritable := unwritable_features(self._table):
            raise TableRefused(
                f"{self.uri}: expected table features that delta-rs writes, found"
                f" {', '.join(unwritable)}: rows that do not count cannot be removed. Remove the"
                " feature with ALTER TABLE … DROP FEATURE, then run again."
            )


def _transaction(sequence: BatchSequence, number: int, now: datetime) -> Transaction:
    return Transaction(sequence.quarantine_app_id, number, int(now.timestamp() * 1000))


NO_QUARANTINE = QuarantineSnapshot("", None)


def _whole(rows: pa.Table) -> pa.Table:
    """The rows that have what every row of ours has."""
    there = [pc.is_valid(rows[name]) for name in _OURS]
    return rows if all(pc.all(e).as_py() for e in there) else rows.filter(reduce(pc.and_, there))


def _sizes_of(rows: pa.Table) -> Sizes:
    found: dict[str, dict[datetime, int]] = {}
    for each in rows.group_by(["_batch", AT]).aggregate([([], "count_all")]).to_pylist():
        found.setdefault(each["_batch"], {})[each[AT]] = each["count_all"]
    return found


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _rows_of(attempts: Attempts) -> str:
    # Not a condition for each: delta-rs evaluates them one inside the other.
    return " OR ".join(
        f"(_batch = '{batch}' AND {AT} IN ({', '.join(map(_literal, sorted(moments)))}))"
        for batch, moments in sorted(attempts.items())
    )


def _literal(at: datetime) -> str:
    return (
        f"arrow_cast('{at.astimezone(UTC).isoformat()}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    )
