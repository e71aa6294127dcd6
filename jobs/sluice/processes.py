"""Processes: a process with all its descendants, and how they end together."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager, suppress

import psutil

# The supervisor of a task sends SIGKILL to the whole group five seconds after SIGTERM.
GRACE_SECONDS = 3.0
# From Linux's <sys/prctl.h>, see prctl(2); other systems have neither.
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def end_family(child: subprocess.Popen[str], grace: float = GRACE_SECONDS) -> None:
    """SIGTERM to the child and its descendants; after `grace` seconds, SIGKILL to the rest."""
    try:
        parent = psutil.Process(child.pid)
    except psutil.NoSuchProcess:
        return
    family = _send(signal.SIGTERM, _with_all_below({parent}))
    if not _all_gone(child, family, grace):
        _all_gone(child, kill_family(family), grace)


def kill_family(members: Set[psutil.Process]) -> set[psutil.Process]:
    """SIGKILL to the members and their descendants, never to this process; returns those hit."""
    # SIGSTOP first: a parent that loses a child could start another one before its own turn.
    myself = psutil.Process()
    stopped: set[psutil.Process] = set()
    while running := _with_all_below(members) - stopped - {myself}:
        stopped |= _send(signal.SIGSTOP, running)
    return _send(signal.SIGKILL, stopped)


def die_with_parent() -> None:
    """Call it in a forked child (Linux): the kernel kills the child when its parent dies.

    Without it, an out-of-memory kill of a task would leave its JVM running.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own (Linux)."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


@contextmanager
def watching_parent(end: Callable[[], None], pause: float = 1.0) -> Iterator[None]:
    """Call `end` if this process's parent, a task's supervisor, dies while the block runs.

    It is called again after each pause until the block ends: the first call may have no effect.
    """
    parent, over = os.getppid(), threading.Event()

    def watch() -> None:
        while not over.wait(pause):
            if os.getppid() != parent:
                end()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
    try:
        yield
    finally:
        over.set()


def _with_all_below(members: Set[psutil.Process]) -> set[psutil.Process]:
    """Looked up again before each signal: a JVM may have just started its Python driver."""
    found = set(members)
    for member in members:
        with suppress(psutil.NoSuchProcess):
            found.update(member.children(recursive=True))
    return found


def _send(signum: signal.Signals, family: set[psutil.Process]) -> set[psutil.Process]:
    for member in family:
        with suppress(psutil.NoSuchProcess):
            member.send_signal(signum)
    return family


def _all_gone(child: subprocess.Popen[str], family: set[psutil.Process], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        # Only Popen may reap the child: if psutil did, its exit code would read as 0.
        child.poll()
        if not any(_is_alive(member) for member in family):
            return True
        time.sleep(0.05)
    return False


def _is_alive(member: psutil.Process) -> bool:
    try:
        return bool(member.is_running() and member.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
