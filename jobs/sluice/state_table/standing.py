"""State standing: at which version of the log a state table stands, or why it is not trusted. Pure.

It stands at a version if and only if its transaction id says so. What others did to the table, or a
change of the rules, is a reason to build it anew: nothing is lost by that, as all of it is derived.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from sluice.offsets.quantities import format_moment
from sluice.state_table.commits import REBUILDING, StateCollection, StateCommit


@dataclass(frozen=True)
class StateVersion:
    """A version of the state table: what its commit was, and what it says if it is ours.

    `stands_at` is the version of its transaction id there, if it has it; `at` is when it was
    committed, by the writer's clock.
    """

    version: int
    operation: str
    changes_rows: bool
    stands_at: int | None = None
    commit: StateCommit | None = None
    collection: StateCollection | None = None
    at: datetime | None = None

    def collects(self, data_table_id: str) -> bool:
        """Whether it took nothing but deleted keys of that log away, as it says itself."""
        told = self.collection
        return (
            told is not None
            and self.operation == "DELETE"
            and told.data_table_id == data_table_id
            and told.state_version < self.version
        )


@dataclass(frozen=True)
class FoundState:
    """A state table as it is found; `versions` are its newest, as far as they matter, newest first.

    `stands_at` is the version of its transaction id; None where it has none. `digest` is that of
    the rules of today with the columns that the table has; `digest_then`, with those that it had
    at its newest commit of ours, where these are others and known.
    """

    table_id: str
    version: int
    stands_at: int | None
    digest: str
    versions: tuple[StateVersion, ...]
    digest_then: str | None = None

    @property
    def newest(self) -> StateCommit | None:
        """The newest commit of ours; None where the log has lost it."""
        return next((each.commit for each in self.versions if each.commit is not None), None)

    @property
    def is_new(self) -> bool:
        """Whether it was created, and has no rows yet."""
        return self.stands_at is None and not any(each.changes_rows for each in self.versions)


@dataclass(frozen=True)
class FoundLog:
    """The data table: its Delta id and its version.

    `commit_there` is what its commit is known by at the version where the state table stands; None
    where its log has lost that.
    """

    table_id: str
    version: int
    commit_there: int | None


def differences(found: FoundState, log: FoundLog) -> Iterator[str]:
    """Why the table is not the state of that log by these rules: expected, found."""
    if found.is_new:
        return
    if found.stands_at == REBUILDING:
        begun = next((each.at for each in found.versions), None)
        since = f" since {format_moment(begun)} UTC" if begun else ""
        yield (
            f"expected a whole table, found one that is being rebuilt{since}, or whose rebuild was"
            " interrupted"
        )
        return
    newest = found.newest
    if found.stands_at is None or newest is None or newest.data_version != found.stands_at:
        yield "expected a commit that says at which version of the data table it stands, found none"
        return
    yield from _of_others(found.versions, newest.data_table_id)
    if newest.data_table_id != log.table_id:
        yield (
            f"expected the state of data table {log.table_id}, found that of {newest.data_table_id}"
        )
    elif found.stands_at > log.version:
        yield (
            f"expected the state at version {log.version} of the data table or before, found"
            f" {found.stands_at}: an older copy of the data table was put back"
        )
    elif log.commit_there not in (None, newest.log_commit):
        yield (
            f"expected version {found.stands_at} of the data table as the state followed it, found"
            " another: an older copy of the data table was put back, and has grown anew"
        )
    if newest.digest != found.digest:
        if newest.digest == found.digest_then:
            yield "expected the columns that Sluice left, found others: the table was altered"
        else:
            yield (
                f"expected rules {found.digest}, found {newest.digest}: the spec's `state` was"
                " changed"
            )


def _of_others(versions: Sequence[StateVersion], data_table_id: str) -> Iterator[str]:
    """What is not a refresh that goes on from where the table stood before."""
    for number, each in enumerate(versions):
        commit = each.commit
        if commit is None:
            if each.changes_rows and not each.collects(data_table_id):
                yield (
                    f"expected rows that only Sluice writes, found a {each.operation} in version"
                    f" {each.version}"
                )
            continue
        before = next(
            (e.stands_at for e in versions[number + 1 :] if e.stands_at is not None), None
        )
        if before is not None and not _goes_on(commit, before):
            yield (
                f"expected the table at version {commit.after} of the data table before version"
                f" {each.version}, found {before}"
            )


def _goes_on(commit: StateCommit, before: int) -> bool:
    """Whether a commit may follow on a table that stood at that version of the log.

    One of appended rows may have been overtaken: what came is a part of its span, and older rows do
    not win. Which keys rows were removed of, only the whole span shows.
    """
    if commit.kind == "rewritten":
        return before == commit.after
    return commit.kind == "everything" or before >= commit.after
