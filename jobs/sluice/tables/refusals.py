"""Refusals: what an error of delta-rs or pyarrow means, by the reader's next move."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, DeltaError

from sluice.errors import (
    CommitConflict,
    CommitFailed,
    CommitUnknown,
    NewerFormat,
    OffsetsDamaged,
    SluiceError,
    StateRefused,
    TableRefused,
)
from sluice.moves import Advice, Move, advice
from sluice.tables.error_text import first_line
from sluice.tables.features import unfenceable_features, unwritable_features
from sluice.tables.predecessor import require_predecessor
from sluice.tables.put_if_absent import require_put_if_absent
from sluice.tables.table_files import is_unanswered, not_answered
from sluice.tables.warehouse import is_on_s3

_WITHOUT_BACKUP = " Without one, move its folder away: the next run then says what leads on."
_WITHOUT_FOLDER = " Without a backup, move its folder away; then "
UNREADABLE = (TableRefused, FileNotFoundError, DeltaError, pa.ArrowException)
"""What reading a table's files raises where they are gone, damaged, or of an unknown feature."""


def newer_format(where: str, key: str, expected: int, found: int) -> NewerFormat:
    """The refusal of a stored format above the one that is known."""
    return NewerFormat(
        f"{where}: {key}: expected {expected} or less, found {found}. A newer Sluice has written"
        " here: use that one. Nothing was changed."
    )


def unreadable_log(uri: str, why: str) -> CommitUnknown:
    """The error for a table whose log does not tell what is committed."""
    return CommitUnknown(
        f"{uri}: its log cannot be read: {why}. Run again. If it stays so, put a copy of the table"
        " back."
    )


@contextmanager
def reading_log() -> Iterator[None]:
    """Read the log of a table with rows of records. Raises CommitUnknown, with the way back."""
    try:
        yield
    except CommitUnknown as problem:
        raise CommitUnknown(problem, _WITHOUT_BACKUP) from problem


@contextmanager
def reading(uri: str, otherwise: str = _WITHOUT_BACKUP) -> Iterator[None]:
    """Read a table. Raises TableRefused where its files are gone, else CommitUnknown.

    Raises StoreUnavailable where an object store does not answer. `otherwise` names the next
    step if there is no backup.
    """
    try:
        yield
    except FileNotFoundError as problem:
        raise TableRefused(
            f"{uri}: a file of the table is gone: {first_line(problem)}. Restore the table from"
            f" its backup.{otherwise}"
        ) from problem
    except (DeltaError, OSError, pa.ArrowException) as problem:
        if is_on_s3(uri) and is_unanswered(problem):
            raise not_answered(uri, problem) from problem
        raise CommitUnknown(
            f"{uri}: cannot be read: {first_line(problem)}. Run again when its store answers; if"
            f" it stays, restore the table from its backup.{otherwise}"
        ) from problem


def reading_offsets(uri: str, pipeline: str) -> AbstractContextManager[None]:
    """Read an offsets table, which can be built anew. Raises OffsetsDamaged or CommitUnknown."""
    recover = advice(Move("recover", (pipeline,)), " builds it from the data table.")
    return _reading_derived(uri, recover, OffsetsDamaged, " Or ")


def reading_state(uri: str, pipeline: str) -> AbstractContextManager[None]:
    """Read a state table, which can be made anew. Raises StateRefused or CommitUnknown."""
    move = Move("rebuild", (pipeline, "--execute"))
    rebuild = advice(move, " makes it anew from the data table.")
    return _reading_derived(uri, rebuild, StateRefused, _WITHOUT_FOLDER)


@contextmanager
def _reading_derived(
    uri: str, way_back: Advice, damaged: type[SluiceError], leading_to: str
) -> Iterator[None]:
    """Read a table that is made of the data table; `damaged` is raised where files are gone."""
    try:
        with reading(uri, otherwise=""):
            yield
    except TableRefused as gone:
        raise damaged(gone, leading_to, way_back) from gone
    except CommitUnknown as problem:
        raise CommitUnknown(problem, _WITHOUT_FOLDER, way_back) from problem


@contextmanager
def storing(uri: str) -> Iterator[None]:
    """Change a table. Raises CommitFailed where its store refuses.

    Raises SettingsError on an object store where one commit could overwrite another.
    """
    require_put_if_absent(uri)
    try:
        yield
    except (DeltaError, OSError) as problem:
        raise CommitFailed(f"{uri}: {first_line(problem)}. Run again.") from problem


@contextmanager
def committing(based_on: DeltaTable, app_ids: Iterable[str] | None = None) -> Iterator[None]:
    """Commit to a table. Raises what `_failed` says; CommitFailed where its store refuses.

    CommitConflict as well where the version that it is based on is gone. What landed in spite of
    a failure, the next attempt reads and adopts.
    """
    with storing(based_on.table_uri):
        require_predecessor(based_on)
        try:
            yield
        except CommitFailedError as problem:
            raise _failed(based_on, problem, app_ids) from problem


def _failed(based_on: DeltaTable, problem: Exception, app_ids: Iterable[str] | None) -> Exception:
    """What a failed commit means, by the table as it is now: delta-rs has one error for it all.

    CommitConflict if a commit with one of these transaction ids has landed since; without ids, any
    commit. With ids it is a fence, which needs fewer features. TableRefused for a feature that
    it cannot be committed with; otherwise CommitFailed.
    """
    uri = based_on.table_uri
    with reading(uri):
        now = DeltaTable(uri)
        unwritable = unwritable_features(now)
        unknown = unwritable if app_ids is None else unfenceable_features(now)
        moved = (
            now.version() != based_on.version()
            if app_ids is None
            else any(_moved(based_on, now, each) for each in app_ids)
        )
    if unknown:
        return TableRefused(
            f"{uri}: expected table features that delta-rs writes, found {', '.join(unknown)}."
            " Remove them with ALTER TABLE … DROP FEATURE, then run again."
        )
    # A feature has come that asks for the other way to write a fence.
    if moved or (unwritable and app_ids is not None):
        return CommitConflict(f"{uri}: {first_line(problem)}")
    return CommitFailed(f"{uri}: {first_line(problem)}. Nothing was written; run again.")


def _moved(then: DeltaTable, now: DeltaTable, app_id: str) -> bool:
    return then.transaction_version(app_id) != now.transaction_version(app_id)
