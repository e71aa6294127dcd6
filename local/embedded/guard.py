"""A guarded process: a command whose whole family ends on request, or when its owner dies.

    python guard.py GRACE SETTLED COMMAND...

The guard is the command's parent and adopts every orphan below it, so it can also end a Spark JVM
whose Airflow task was killed. SIGTERM (or the owner's death) asks the command to
stop and kills what is left after GRACE seconds; SIGUSR1 kills the family at once. A command that
ends by itself after SETTLED seconds (`inf`: never) is restarted, as by a service manager.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import psutil
from sluice.processes import adopt_orphans, die_with_parent, kill_family


@dataclass(frozen=True)
class Guarded:
    """The owner's handle of a guarded command."""

    process: subprocess.Popen[bytes]

    @classmethod
    def start(
        cls,
        command: list[str],
        log: Path,
        *,
        grace: float = 20,
        settled: float = math.inf,
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Guarded:
        """Start the command in its own session; its output goes to the log file."""
        guard = [sys.executable, "-P", __file__, str(grace), str(settled), *command]
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as out:
            process = subprocess.Popen(
                guard,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=env,
                cwd=cwd,
                start_new_session=True,
            )
        return cls(process)

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def family(self) -> list[psutil.Process]:
        """The command and everything below it, without the guard."""
        with contextlib.suppress(psutil.NoSuchProcess):
            below: list[psutil.Process] = psutil.Process(self.process.pid).children(recursive=True)
            return below
        return []

    def ask(self) -> None:
        """Ask the command to stop, without waiting for it."""
        if self.running:
            self.process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """Ask the command to stop, and wait until its whole family is gone."""
        self.ask()
        self.process.wait()

    def kill(self) -> None:
        """SIGKILL the command and everything below it, and wait until all of it is gone."""
        if self.running:
            self.process.send_signal(signal.SIGUSR1)
        self.process.wait()


def is_java(process: psutil.Process) -> bool:
    """Whether it is a JVM, of whatever program."""
    try:
        return bool(process.name() == "java")
    except psutil.NoSuchProcess:
        return False


def _is_spark(process: psutil.Process) -> bool:
    """Whether it is Spark's JVM: neither the script that starts it nor that script's own JVM."""
    try:
        arguments = process.cmdline()
    except psutil.NoSuchProcess:
        return False
    named = "org.apache.spark.deploy.SparkSubmit" in arguments
    java = named and Path(arguments[0]).name == "java"
    return java and "org.apache.spark.launcher.Main" not in arguments


def still_there(pids: Iterable[int]) -> list[psutil.Process]:
    """The processes of these ids, without those that have ended since the ids were read."""
    found = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            found.append(psutil.Process(pid))
    return found


def spark_jvms(pids: Iterable[int]) -> list[psutil.Process]:
    """Spark's JVMs among these, without the copy that one is while it starts another program."""
    found = {each.pid: each for each in still_there(pids) if _is_spark(each)}
    return [each for each in found.values() if _parent_of(each) not in found]


def _parent_of(process: psutil.Process) -> int | None:
    """The id of its parent; None once it has ended."""
    try:
        parent: int = process.ppid()
    except psutil.NoSuchProcess:
        return None
    return parent


def spawn(command: list[str]) -> int:
    pid = os.fork()
    if pid:
        return pid
    try:
        die_with_parent()
        os.execvp(command[0], command)
    except OSError as error:
        print(f"{command[0]}: {error}", file=sys.stderr, flush=True)
    os._exit(127)


def reap(pid: int) -> int | None:
    """Reap ended processes, adopted ones included; the exit code once `pid` is among them."""
    code = None
    while True:
        try:
            dead, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if not dead:
            return code
        if dead == pid:
            code = os.waitstatus_to_exitcode(status)


def kill_all_below() -> None:
    """SIGKILL until no descendant is left, and reap them all."""
    myself = {psutil.Process()}
    while kill_family(myself):
        reap(0)
        time.sleep(0.02)


def watch(pid: int, grace: float, owner: int, asked: set[int]) -> int:
    """Wait for the command's end; returns its exit code, or minus the signal that ended it."""
    deadline: float | None = None
    while (code := reap(pid)) is None:
        if deadline is None and (signal.SIGTERM in asked or os.getppid() != owner):
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + grace
        overdue = deadline is not None and time.monotonic() > deadline
        if overdue or signal.SIGUSR1 in asked:
            return -signal.SIGKILL
        time.sleep(0.05)
    return code


def main(grace: str, settled: str, *command: str) -> int:
    owner, asked = os.getppid(), set[int]()
    adopt_orphans()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
        signal.signal(number, lambda got, _: asked.add(got))
    while True:
        began = time.monotonic()
        code = watch(spawn(list(command)), float(grace), owner, asked)
        kill_all_below()
        if asked or os.getppid() != owner or time.monotonic() - began < float(settled):
            return code if code >= 0 else 128 - code
        now = f"{datetime.now():%Y-%m-%d %H:%M:%S}"
        print(f"{now} {command[0]} ended with {code}: it is started again", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
