"""A table's log at one version: its commits, and what each says of its batch."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from deltalake import DeltaTable

from sluice.offsets.batches import Batch, BatchSequence
from sluice.offsets.ranges import TopicPartition
from sluice.offsets.spec_edition import SpecEdition
from sluice.tables.based_on import BasedOn
from sluice.tables.batch_commits import (
    BatchCommit,
    LoggedBatch,
    NamedRange,
    aside_of,
    attempt_of,
    batch_of,
    edition_of,
    filtered_of,
    fingerprinted_ends,
    fingerprints_of,
    instead_of,
    logged_batch,
    named_ranges,
)
from sluice.tables.commits import (
    OthersCommits,
    commit_info,
    commit_infos,
    commits_after,
    written_at,
)
from sluice.tables.doubt_marks import mark_topics, marked_topics
from sluice.tables.foreign_commits import (
    TableCommit,
    brought_back,
    in_effect,
    require_no_foreign_commits,
    restores_of,
)
from sluice.tables.judged_marks import digest_of

log = logging.getLogger(__name__)

# Who set something is looked up in so many commits: a run must not cost more with each.
_NEWEST_NAMED = 100


class LogSnapshot:
    """A table's log up to one version; empty where there is no table yet.

    `others` are commits of others that were read at earlier versions, and gets those read here.
    """

    def __init__(
        self, uri: str, table: DeltaTable | None, others: OthersCommits | None = None
    ) -> None:
        self._uri = uri
        self._others = {} if others is None else others
        self._table = table
        self._known_above: int | None = None
        self._digests: dict[tuple[int, str], int | None] = {}

    def require_known_format(self, since: int = -1) -> None:
        """Raises NewerFormat where a commit above a version is a newer Sluice's."""
        if self._table is None or self._table.version() <= since:
            return
        if self._known_above is not None and self._known_above <= since:
            return
        for version, commit in commit_infos(self._table, self._others):
            if version <= since:
                break
            batch_of(commit)
        self._known_above = since

    def require_no_foreign_commits(self, pipeline: str, since: int = -1) -> list[TableCommit]:
        """The commits above a version, if none of them replaced the table or is another writer's.

        Nor any that a RESTORE among them has brought back.

        Raises TableRefused with what was done to the table, and the way back.
        """
        if self._table is None:
            return []
        commits = commits_after(self._table, since, self._others)
        again = brought_back(self.commits(), since) if restores_of(commits) else []
        properties = self._table.metadata().configuration
        require_no_foreign_commits(self._uri, pipeline, [*again, *commits], properties)
        return commits

    def commits(self, above: int = -1) -> list[TableCommit]:
        """Every commit above a version that the log still holds, unjudged."""
        return [] if self._table is None else commits_after(self._table, above, self._others)

    def digest(self, version: int, known: str) -> int | None:
        """What a commit is known by, beside what else is known; None where the log has lost it."""
        asked = version, known
        if self._table is not None and asked not in self._digests:
            self._digests[asked] = digest_of(self._table, *asked)
        return self._digests.get(asked)

    def based_on(self) -> BasedOn | None:
        """This version, as a commit names it; None where the log has lost the commit there."""
        if self._table is None:
            return None
        version = int(self._table.version())
        digest = self.digest(version, "")
        return None if digest is None else BasedOn(version, digest)

    def logged_batches(self) -> list[LoggedBatch]:
        """The batches whose commits the log still holds, newest first."""
        if self._table is None:
            return []
        found = (logged_batch(*each) for each in commit_infos(self._table, self._others))
        return [each for each in found if each is not None]

    def batches_in_effect(self) -> list[LoggedBatch]:
        """Those of them that no RESTORE has undone."""
        restores = restores_of(self.commits())
        newest = self._table.version() if self._table else 0
        return [e for e in self.logged_batches() if in_effect(e.version, newest, restores)]

    def newest_edition(self) -> tuple[str, SpecEdition] | None:
        """The newest batch's name, and the part of the spec that decided its rows.

        None where there is no batch, or its commit does not say.
        """
        if self._table is None:
            return None
        for version, commit in commit_infos(self._table, self._others):
            if newest := logged_batch(version, commit):
                edition = edition_of(commit)
                return None if edition is None else (newest.name, edition)
        return None

    def commit_naming(self, name: str) -> tuple[int, str] | None:
        """The newest commit whose parameters name a column, property or constraint, for a message.

        Its version and operation; None where it is not among the newest ones.
        """
        if self._table is None:
            return None
        for version, commit in islice(commit_infos(self._table), _NEWEST_NAMED):
            told = commit.get("operationParameters") or {}
            if logged_batch(version, commit) is None and name in " ".join(map(str, told.values())):
                return version, str(commit.get("operation"))
        return None

    def commit_of(self, batch: Batch) -> BatchCommit | None:
        """The commit of a committed batch; None when the log has lost it."""
        found = self._find(batch)
        if found is None:
            return None
        version, commit = found
        rows = int(commit.get("operationMetrics", {}).get("numOutputRows", 0))
        ranges = frozenset(named_ranges(commit))
        return BatchCommit(
            version=version,
            rows=rows,
            attempt=attempt_of(commit),
            ranges=ranges,
            spec=edition_of(commit),
            aside=aside_of(commit),
            filtered=filtered_of(commit),
        )

    def doubtful(self, batch: Batch) -> Collection[str]:
        """The topic ids of a batch that the table itself says are in doubt."""
        return () if self._table is None else marked_topics(self._table, batch)

    def mark_doubtful(self, batch: Batch, topic_ids: Collection[str], now: datetime) -> None:
        """Have the table say so itself, if it can. Raises CommitConflict or CommitFailed."""
        if self._table is None or not mark_topics(self._table, batch, topic_ids, now):
            log.warning("%s: it cannot say that %s is in doubt", self._uri, batch)

    def committed_at(self, batch: Batch) -> datetime | None:
        """When a batch was committed, by the writer's clock; None when the log has lost it."""
        found = self._find(batch)
        return None if found is None else written_at(found[1])

    def written_at(self, version: int) -> datetime | None:
        """When a version was committed, by the writer's clock; None when the log has lost it."""
        told = None if self._table is None else commit_info(self._table, version)
        return None if told is None else written_at(told)

    def landed_in(self, batch: Batch) -> int:
        """The version a committed batch landed in; the last one lost if the log has lost that.

        The latest that it can be, so that a RESTORE between the two counts as having undone it.
        A log that has lost none is of a copy, whose first version has brought the rows.
        """
        found = self.commit_of(batch)
        return max(0, self.last_lost) if found is None else found.version

    def instead_of(self, batch: Batch, version: int) -> str:
        """What the log holds in a version instead of a batch; "" where the batch, or nothing."""
        told = None if self._table is None else commit_info(self._table, version)
        return "" if told is None else instead_of(batch, told)

    def lacks(self, sequence: BatchSequence, number: int, above: int) -> bool:
        """Whether the log holds all above a version, and no commit of this batch there."""
        if self._table is None:
            return False
        for version, commit in commit_infos(self._table, self._others):
            if version <= above or batch_of(commit) == (sequence.app_id, number):
                return version <= above
        return False

    @property
    def last_lost(self) -> int:
        """The newest version whose commit is no longer in the log; -1 where all are there."""
        if self._table is None:
            return -1
        oldest = int(self._table.version()) + 1
        for version, _ in commit_infos(self._table, self._others):
            oldest = version
        return oldest - 1

    def fingerprints(self, batch: Batch, landed: int | None = None) -> Mapping[TopicPartition, str]:
        """The known fingerprints of a batch's commit; none when the log has lost the commit.

        `landed` is the version in which it landed in this table, where that is known.
        """
        found = self._find(batch, landed)
        return {} if found is None else fingerprints_of(found[1])

    def fingerprinted_ends(self) -> Iterator[tuple[NamedRange, str]]:
        """The ranges of every batch in the log, each with the known fingerprint at its end."""
        if self._table is not None:
            for _, commit in commit_infos(self._table, self._others):
                yield from fingerprinted_ends(commit)

    def _find(
        self, batch: Batch, landed: int | None = None
    ) -> tuple[int, Mapping[str, Any]] | None:
        """The version and commitInfo of a batch; nearly always among the newest few."""
        if self._table is None:
            return None
        mine = (batch.sequence.app_id, batch.number)
        if landed is not None and landed <= self._table.version():
            # Others' commits since then may be very many.
            told = commit_info(self._table, landed)
            if told is None or batch_of(told) == mine:
                return None if told is None else (landed, told)
        return next(
            (each for each in commit_infos(self._table, self._others) if batch_of(each[1]) == mine),
            None,
        )
