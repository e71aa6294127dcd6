"""Foreign commits: what other writers did to the data table, what stops a run, what was undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sluice.errors import ResetNeeded, TableRefused, as_lines
from sluice.moves import Advice, Move, advice
from sluice.offsets.batches import Batch
from sluice.offsets.ranges import merged
from sluice.offsets.resets import undone_backfills

RESTORE = "RESTORE"
# What a RESTORE went back to where the log has lost that version: it may have undone everything.
UNKNOWN = -1
_REPLACED = ("CREATE OR REPLACE", "REPLACE TABLE")
_KEEPS_ROWS = (
    *(RESTORE, "OPTIMIZE", "REORG", "VACUUM"),
    *("SET TBLPROPERTIES", "UNSET TBLPROPERTIES", "CHANGE COLUMN"),
)
# With this table property Delta expires transaction ids, and so forgets which batches landed.
TRANSACTION_RETENTION = "delta.setTransactionRetentionDuration"


@dataclass(frozen=True)
class TableCommit:
    """One commit of the data table's log.

    `restored` is the version that a RESTORE went back to, or UNKNOWN; `writers` are the commit's
    transaction ids.
    """

    version: int
    operation: str
    restored: int | None = None
    writers: tuple[str, ...] = ()


@dataclass(frozen=True)
class LandedBatch:
    """A committed batch and the version of the data table it landed in."""

    batch: Batch
    version: int


def require_no_foreign_commits(
    table: str, pipeline: str, commits: Sequence[TableCommit], properties: Mapping[str, str]
) -> None:
    """Refuse a table that is not the one Sluice has been writing, or that has a second writer.

    OPTIMIZE, VACUUM, added columns and deleted rows are allowed, and so is anything that a RESTORE
    has undone. Raises TableRefused.
    """
    now, restores = _newest(commits), restores_of(commits)
    for commit in (each for each in commits if in_effect(each.version, now, restores)):
        found = _refusal(pipeline, commit)
        if found:
            did = f"{table}: version {commit.version} is a {commit.operation}"
            raise TableRefused(f"{did}: ", found)
    if TRANSACTION_RETENTION in properties:
        raise TableRefused(
            f"{table}: expected no property {TRANSACTION_RETENTION}, found"
            f" {properties[TRANSACTION_RETENTION]!r}: it makes Delta forget which batches are"
            " committed."
            f" ALTER TABLE … UNSET TBLPROPERTIES ('{TRANSACTION_RETENTION}'), and run again."
        )


def judged_up_to(commits: Iterable[TableCommit], version: int) -> list[TableCommit]:
    """The commits, where all up to a version have been judged before.

    A RESTORE among those undid nothing that counts, so that it no longer matters where it went.
    """
    return [
        replace(each, restored=None)
        if each.restored == UNKNOWN and each.version <= version
        else each
        for each in commits
    ]


def _refusal(pipeline: str, commit: TableCommit) -> str | Advice:
    if commit.restored == UNKNOWN:
        return (
            "expected one to a version that the table's log still holds, found none: it is unknown"
            f" what it undid. RESTORE the table to version {commit.version - 1}, and run again."
        )
    if commit.operation.startswith(_REPLACED):
        return advice(
            "expected the table that Sluice created, found another in its place. ",
            _way_back(pipeline, commit),
            "; or choose a new `table` and `pipeline`.",
        )
    if commit.operation == "CLONE":
        return advice(
            "expected the table that Sluice created, found a copy, which has no record of the"
            " batches in it. Put the original back; or, if this one is to take its place, ",
            Move("recover", (pipeline,)),
            " goes on with it.",
        )
    foreign = [each for each in commit.writers if not each.startswith(f"sluice:{pipeline}:")]
    if foreign:
        return advice(
            f"expected transaction ids of pipeline {pipeline} only, found {foreign[0]!r}: another"
            " writer. Let it write to a table of its own. ",
            _way_back(pipeline, commit),
            ".",
        )
    return ""


def _way_back(pipeline: str, commit: TableCommit) -> Advice:
    if commit.version:
        return Advice(f"RESTORE the table to version {commit.version - 1}, and run again")
    return advice(
        "Put the table back that was here; or, if nobody has it, move this one away, and ",
        Move("recover", (pipeline,)),
        " lets the pipeline begin anew",
    )


def may_have_deleted(pipeline: str, commits: Sequence[TableCommit]) -> list[TableCommit]:
    """Other writers' commits, still in effect, that may have deleted rows from the table."""
    now, restores = _newest(commits), restores_of(commits)
    return [
        each
        for each in commits
        if each.version > 0
        and not each.operation.startswith(_KEEPS_ROWS)
        and not any(writer.startswith(f"sluice:{pipeline}:") for writer in each.writers)
        and in_effect(each.version, now, restores)
    ]


def undone_by_restore(
    landed: Iterable[LandedBatch], commits: Sequence[TableCommit]
) -> list[LandedBatch]:
    """The batches whose rows a RESTORE removed from the table, in order.

    Their transaction ids stay committed (delta-io/delta issue 1813).
    """
    now, restores = _newest(commits), restores_of(commits)
    return [e for e in landed if not in_effect(e.version, max(now, e.version), restores)]


def require_all_there(
    table: str, pipeline: str, undone: Sequence[LandedBatch], commits: Sequence[TableCommit]
) -> None:
    """Raises ResetNeeded with the batches that a RESTORE has undone, and the way forward."""
    if not undone:
        return
    restore = [each for each in commits if each.restored is not None][-1]
    names = ", ".join(str(each.batch) for each in undone)
    read = merged(planned.offsets for each in undone for planned in each.batch.ranges)
    ranges = ", ".join(map(str, read))
    backfills = [each.batch for each in undone if each.batch.sequence.lane == "backfill"]
    raise ResetNeeded(
        as_lines(
            [
                advice(
                    f"{table}: version {restore.version} is a RESTORE to version"
                    f" {restore.restored}: expected the rows of every committed batch, found"
                    f" {names} undone: {ranges}. ",
                    Move("reset", (pipeline, "--to-table")),
                    " shows how they are read again, and does it with --execute; or RESTORE the"
                    f" table to version {restore.version - 1}.",
                ),
                *undone_backfills(pipeline, backfills),
            ]
        )
    )


Restores = Sequence[tuple[int, int]]
"""Version and restored version of every RESTORE, newest first."""


def restores_of(commits: Iterable[TableCommit]) -> Restores:
    """The RESTOREs among some commits."""
    found = [(each.version, each.restored) for each in commits if each.restored is not None]
    return sorted(found, reverse=True)


def in_effect(version: int, at: int, restores: Restores) -> bool:
    """Whether one version's changes are still present at another, given every RESTORE between."""
    for restore, restored in restores:
        if version < restore <= at:
            return in_effect(version, restored, restores)
    return version <= at


def _newest(commits: Iterable[TableCommit]) -> int:
    return max((each.version for each in commits), default=0)
