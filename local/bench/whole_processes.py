"""Whole processes: timed from the first start to the last end, and never left over."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import click
import psutil
from sluice.processes import die_with_parent, kill_family

PATIENCE_S = 1_800


def seconds_of(
    commands: Sequence[Sequence[str]], environment: Mapping[str, str], log: Path
) -> float:
    """Seconds until all commands have ended. Raises ClickException if one fails."""
    # What the turn before has written must not be this one's burden.
    os.sync()
    running: list[subprocess.Popen[bytes]] = []
    with log.open("wb") as out:
        started = time.monotonic()
        try:
            for command in commands:
                running.append(_start(command, environment, out.fileno()))
            for process in running:
                process.wait(started + PATIENCE_S - time.monotonic())
            seconds = time.monotonic() - started
        except subprocess.TimeoutExpired:
            raise click.ClickException(f"not over after {PATIENCE_S} s; see {log}") from None
        finally:
            _end(running)
    if any(process.returncode for process in running):
        said = log.read_text(encoding="utf-8", errors="replace")[-3000:]
        raise click.ClickException(f"{' '.join(commands[0])} failed; {log} ends:\n{said}")
    return seconds


def _start(
    command: Sequence[str], environment: Mapping[str, str], out: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        # Ctrl-C reaches this process alone, which then ends the others.
        start_new_session=True,
        preexec_fn=die_with_parent,
    )


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    for process in processes:
        if process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                kill_family({psutil.Process(process.pid)})
        process.wait()
