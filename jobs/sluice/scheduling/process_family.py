"""A process family: a child of ours with everything below it, and how it ends."""

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
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def end_family(child: subprocess.Popen[str], grace: float = GRACE_SECONDS) -> None:
    """SIGTERM to the child and all below it, SIGKILL to what is left after the grace."""
    try:
        parent = psutil.Process(child.pid)
    except psutil.NoSuchProcess:
        return
    family = _send(signal.SIGTERM, _with_all_below({parent}))
    if _all_gone(child, family, grace):
        return
    # Stopped first: who loses a child by SIGKILL could start another one before its own turn.
    stopped: set[psutil.Process] = set()
    while running := _with_all_below(family) - stopped:
        stopped |= _send(signal.SIGSTOP, running)
    _all_gone(child, _send(signal.SIGKILL, stopped), grace)


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


def _with_all_below(members: Set[psutil.Process]) -> set[psutil.Process]:
    """Asked again before each signal: a JVM may have just started its Python driver."""
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
        # Only Popen may bury the child: were psutil to do it, its exit code would read as 0.
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
