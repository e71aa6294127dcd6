"""Faults of the data table: rewound, read again, restored, optimized, put back, dropped."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deltalake import DeltaTable
from deltalake.exceptions import CommitFailedError, TableNotFoundError

from tests.soak.attempts import Attempt
from tests.soak.outcomes import KILLED
from tests.soak.scene import Scene
from tests.soak.schedule import Fault

REASON = ("--execute", "--reason", "soak")
# Of the newest batches, how many a RESTORE may take away.
UNDONE = 5
PATIENCE = 90.0
# What a backfill says that a reset has closed.
CLOSED = ("BackfillClosed",)


def rewind(scene: Scene, fault: Fault) -> bool:
    """Everything is read again."""
    with _cursor(scene) as free:
        if not free or not scene.trips.version():
            return False
        with scene.diary.in_force(*CLOSED):
            scene.attempts.wait(scene.attempts.start("reset", "--to-earliest", *REASON))
    return True


def kill_rewind(scene: Scene, fault: Fault) -> bool:
    """A reset dies at its middle; the next plan finishes it."""
    with _cursor(scene) as free:
        if not free or not scene.trips.version():
            return False
        armed: dict[str, Any] = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": fault.point}
        words = ("reset", "--to-earliest", *REASON)
        with scene.diary.in_force(*CLOSED):
            scene.attempts.wait(scene.attempts.start(*words, excuses={KILLED}, **armed))
            scene.until(lambda: not _unfinished(scene), PATIENCE)
    return True


def read_again(scene: Scene, fault: Fault) -> bool:
    """An operator's backfill of a range, beside everything else; sometimes it dies on its way."""
    rows = [row for row in scene.trips.offsets("committed") if row["records"]]
    if not rows:
        return False
    row = rows[int(fault.share * len(rows))]
    offsets = f"{row['topic']}[{row['partition']}] [{row['start_offset']}, {row['end_offset']})"
    armed: dict[str, Any] = {}
    if fault.point:
        armed = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": fault.point}
    excuses = {"CommitFailed", *({KILLED} if armed else ())}
    scene.attempts.wait(
        scene.attempts.start("reprocess", "--range", offsets, excuses=excuses, **armed)
    )
    return True


def restore(scene: Scene, fault: Fault) -> bool:
    """An analyst's RESTORE: runs stop, the documented command makes it whole."""
    with _cursor(scene) as free:
        landed = sorted({row["data_version"] for row in scene.trips.offsets("committed")})
        if not free or len(landed) < 2:
            return False
        newest = landed[-UNDONE:][1:]
        to = newest[int(fault.share * len(newest))] - 1
        with scene.diary.in_force("ResetNeeded", "SparkFailed", "CommitFailed", *CLOSED):
            try:
                DeltaTable(scene.trips.data).restore(to)
            except CommitFailedError as problem:
                scene.diary.write(f"RESTORE: {problem}")
                return False
            scene.diary.write(f"RESTORE to version {to}")
            _stopped_then_reset(scene)
    return True


def _stopped_then_reset(scene: Scene) -> None:
    restored = scene.diary.now

    def since() -> list[Attempt]:
        return [each for each in scene.attempts.all if each.started > restored and each.how]

    scene.until(lambda: any(each.how == "ResetNeeded" for each in since()), PATIENCE)
    for attempt in since():
        if attempt.how == "ok":
            scene.diary.find(f"{attempt} passed over a RESTORE that took batches away")
    while scene.attempts.wait(scene.attempts.start("reset", "--to-table", *REASON)).how != "ok":
        scene.healing.wait(1)


def optimize(scene: Scene, fault: Fault) -> bool:
    """What table maintenance does, at the same time."""
    if not scene.trips.version():
        return False
    with scene.diary.in_force("SparkFailed"):
        try:
            DeltaTable(scene.trips.data).optimize.compact()
        except (CommitFailedError, TableNotFoundError) as problem:
            scene.diary.write(f"OPTIMIZE: {problem}")
            return False
    return True


def put_back(scene: Scene, fault: Fault) -> bool:
    """The folder of some seconds ago takes the table's place: every run stops until it is gone."""
    with _cursor(scene) as free:
        if not free or not scene.trips.version():
            return False
        copy = scene.trips.folder / f"copy at {fault.at:.0f}"
        with scene.attempts.quiet(PATIENCE) as quiet:
            if not quiet:
                return False
            shutil.copytree(scene.trips.data, copy)
        receipts = len(scene.trips.offsets("committed"))
        if not scene.until(lambda: len(scene.trips.offsets("committed")) > receipts, PATIENCE):
            return False
        return _in_its_place(scene, copy)


def drop(scene: Scene, fault: Fault) -> bool:
    """The table is moved away: every run stops, and none creates another."""
    with _cursor(scene) as free:
        return bool(free and scene.trips.version()) and _in_its_place(scene, None)


def _in_its_place(scene: Scene, other: Path | None) -> bool:
    """Another folder, or none, in the table's place until a run was refused."""
    aside = scene.trips.folder / "aside"
    with scene.attempts.quiet(PATIENCE) as quiet:
        if not quiet:
            return False
        scene.trips.data.rename(aside)
        if other is not None:
            other.rename(scene.trips.data)
    swapped = scene.diary.now
    scene.diary.write(f"{other.name if other else 'nothing'} in the table's place")

    def since() -> list[Attempt]:
        return [each for each in scene.attempts.all if each.started > swapped and each.how]

    with scene.diary.in_force("TableRefused"):
        scene.until(lambda: any(each.how == "TableRefused" for each in since()), PATIENCE)
        with scene.attempts.quiet(2 * PATIENCE):
            for attempt in since():
                if attempt.how == "ok":
                    scene.diary.find(f"{attempt} trusted a table that is not the known one")
            if other is None and scene.trips.data.exists():
                scene.diary.find("a table was created in the place of the known one")
            shutil.rmtree(scene.trips.data, ignore_errors=True)
            aside.rename(scene.trips.data)
    return True


def optimize_before_receipts(scene: Scene, fault: Fault) -> bool:
    """A run dies before its receipt; then others OPTIMIZE, and VACUUM the files it would count."""
    if not scene.trips.version():
        return False
    scene.attempts.failpoints.append(("SLUICE_FAILPOINT", "before receipt: kill", {KILLED}))
    scene.until(lambda: not scene.attempts.failpoints, PATIENCE)
    with scene.attempts.quiet(PATIENCE) as quiet:
        # Another fault may have moved the table away.
        if not quiet or not scene.trips.version():
            return False
        table = DeltaTable(scene.trips.data)
        table.optimize.compact()
        table.vacuum(0, dry_run=False, enforce_retention_duration=False)
    return True


@contextlib.contextmanager
def _cursor(scene: Scene) -> Iterator[bool]:
    free = scene.at_the_cursor.acquire(blocking=False)
    try:
        yield free
    finally:
        if free:
            scene.at_the_cursor.release()


def _unfinished(scene: Scene) -> bool:
    rows = scene.trips.rows(f"{scene.trips.name}__offsets")
    known: dict[str, set[int]] = {"reset_intended": set(), "reset_done": set()}
    for row in rows:
        known.get(row["event"], set()).add(row["generation"])
    return known["reset_intended"] > known["reset_done"]
