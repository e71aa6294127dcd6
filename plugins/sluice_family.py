"""A process family: a child of ours with everything below it, and how it ends."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil

# The supervisor of a task sends SIGKILL to the whole group five seconds after SIGTERM.
GRACE_SECONDS = 3.0
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def end_family(child: subprocess.Popen[str], grace: float = GRACE_SECONDS) -> None:
    """SIGTERM to the child and all below it, SIGKILL to what is left after the grace."""
    family = _family(child)
    for signum, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, grace)):
        # Asked again: a shell becomes a JVM, and a JVM may have just started its Python driver.
        family |= _family(child)
        for member in family:
            _send(member, signum)
        if _all_gone(child, family, seconds):
            return


def die_with_parent() -> None:
    """To be called in a forked child (Linux): the kernel kills it when our task process is killed.

    Without it, an out-of-memory kill of the task would leave the JVM running.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@contextmanager
def watching_parent(end: Callable[[], None], pause: float = 1.0) -> Iterator[None]:
    """Call `end` when our own parent, a task's supervisor, dies while the block runs."""
    parent, over = os.getppid(), threading.Event()

    def watch() -> None:
        while not over.wait(pause):
            if os.getppid() != parent:
                return end()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _family(child: subprocess.Popen[str]) -> set[psutil.Process]:
    try:
        process = psutil.Process(child.pid)
        return {process, *process.children(recursive=True)}
    except psutil.NoSuchProcess:
        return set()


def _send(member: psutil.Process, signum: signal.Signals) -> None:
    try:
        member.send_signal(signum)
    except psutil.NoSuchProcess:
        return


def _all_gone(child: subprocess.Popen[str], family: set[psutil.Process], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        # Only Popen may bury the child: were psutil to do it, its exit code would read as 0.
        child.poll()
        if not any(_is_alive(member) for member in family):
            return True
        time.sleep(0.05)
    return False


def _is_alive(member: psutil.Process) -> bool:
    try:
        return member.is_running() and member.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
