"""Foreign commits: what other writers did to the data table, what stops a run, what was undone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from sluice.errors import ResetNeeded, TableRefused
from sluice.moves import Advice, Move, advice
from sluice.offsets.batches import Batch
from sluice.offsets.ranges import merged

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
    transaction ids, and `numbers` their versions.
    """

    version: int
    operation: str
    restored: int | None = None
    writers: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


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


def brought_back(commits: Sequence[TableCommit], judged: int) -> list[TableCommit]:
    """The commits up to a version that others had undone by then, and have in effect again."""
    now, restores = _newest(commits), restores_of(commits)
    return [
        each
        for each in commits
        if each.version <= judged
        and not in_effect(each.version, judged, restores)
        and in_effect(each.version, now, restores)
    ]


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
        "Put the table back that was here; or, if there is no copy, move this one away, and ",
        Move("recover", (pipeline,)),
        " lets the pipeline start over",
    )


def takes_no_rows(commit: TableCommit) -> bool:
    """Whether a commit has taken no row away, by its operation alone."""
    return commit.operation.startswith("CREATE TABLE") or changes_no_rows(commit)


def changes_no_rows(commit: TableCommit) -> bool:
    """Whether the table has the same rows as before, by the operation alone."""
    return commit.operation.startswith(_KEEPS_ROWS) and not commit.operation.startswith(RESTORE)


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


def require_all_there(
    table: str,
    pipeline: str,
    undone: Sequence[Batch],
    back: Sequence[Batch],
    commits: Sequence[TableCommit],
) -> None:
    """Raises ResetNeeded with the batches that a RESTORE has undone or brought back, and the way
    forward.

    Transaction ids stay as they were (delta-io/delta issue 1813).
    """
    if not undone and not back:
        return
    restore = [each for each in commits if each.restored is not None][-1]
    found = [_named(undone, "undone")] if undone else []
    found += [_named(back, "there again, which a reset has given up")] if back else []
    # Until then a backfill is refused as well: the reset names the command that reads it again.
    raise ResetNeeded(
        f"{table}: version {restore.version} is a RESTORE to version {restore.restored}: expected"
        f" the rows of every committed batch, and of no other, found {'; and '.join(found)}. ",
        Move("reset", (pipeline, "--to-table")),
        " goes on from the rows that are there, and shows with what; it does it with --execute."
        f" Or RESTORE the table to version {restore.version - 1}.",
    )


def _named(batches: Sequence[Batch], what: str) -> str:
    read = merged(planned.offsets for each in batches for planned in each.ranges)
    return f"{', '.join(map(str, batches))} {what}: {', '.join(map(str, read))}"


Restores = Sequence[tuple[int, int]]
"""Version and restored version of every RESTORE, newest first."""


def restores_of(commits: Iterable[TableCommit]) -> Restores:
    """The RESTOREs among some commits."""
    found = [(each.version, each.restored) for each in commits if each.restored is not None]
    return sorted(found, reverse=True)


def in_effect(version: int, at: int, restores: Restores) -> bool:
    """Whether one version's changes are still present at another, given every RESTORE up to it.

    Also those before a version that a RESTORE went back to: it may have been a RESTORE itself.
    """
    for restore, restored in restores:
        if version < restore <= at:
            return in_effect(version, restored, restores)
    return version <= at


def _newest(commits: Iterable[TableCommit]) -> int:
    return max((each.version for each in commits), default=0)
