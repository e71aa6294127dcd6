"""A guarded command that dies by itself is started again, if it had settled; else it is over."""

from __future__ import annotations

from pathlib import Path

from local.embedded.guard import Guarded
from tests.worlds.processes import until


def dying(folder: Path, settled: float) -> tuple[Guarded, Path]:
    """A command that counts its starts, and fails soon after each."""
    starts = folder / "starts"
    command = ["sh", "-c", f"echo >> {starts}; sleep 0.3; exit 7"]
    return Guarded.start(command, folder / "log", settled=settled), starts


def test_a_command_that_had_settled_is_started_again(tmp_path: Path) -> None:
    guarded, starts = dying(tmp_path, settled=0.1)
    try:
        until(lambda: starts.exists() and len(starts.read_text()) >= 2, "a second start", 10)
        assert guarded.running
    finally:
        guarded.stop()
    assert not guarded.running


def test_a_command_that_cannot_run_is_not_tried_for_ever(tmp_path: Path) -> None:
    guarded, starts = dying(tmp_path, settled=60)
    assert guarded.process.wait(10) == 7
    assert len(starts.read_text()) == 1
