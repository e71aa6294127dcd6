"""Ctrl-C: the last words of a command that changes something, before it ends at once."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

# A library may keep Python from hearing a signal, for example while it waits for a store.
_PATIENCE_S = 5.0
# What a shell reports of a process that SIGINT has ended.
_EXIT_CODE = 128 + signal.SIGINT

Words = Callable[[], str]


@contextmanager
def last_words(words: Words) -> Iterator[None]:
    """In the block, Ctrl-C writes `interrupted: …` to standard error, and the process ends.

    It ends as on the signal itself (130 in a shell), or after 5 s with exit code 130 if the main
    thread does not come back from a library. `words` are asked for then. A process that ignores
    Ctrl-C, as a shell script's `&` makes it, goes on doing so.
    """
    before = signal.getsignal(signal.SIGINT)
    if before is signal.SIG_IGN:
        yield
        return
    heard, told = os.pipe()
    os.set_blocking(told, False)
    former = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    threading.Thread(target=partial(_wait, heard, words), daemon=True).start()
    signal.signal(signal.SIGINT, partial(_end, words))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(former)
        # The thread ends with its pipe.
        os.close(told)


def _end(words: Words, number: int, _: object) -> None:
    """Say them, and let the signal do what it does without a handler."""
    _write(words())
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _wait(heard: int, words: Words) -> None:
    """End the process if a signal has come, and it has not ended in time."""
    with open(heard, "rb", buffering=0) as pipe:
        while number := pipe.read(1):
            if number[0] == signal.SIGINT:
                threading.Event().wait(_PATIENCE_S)
                _write(words())
                os._exit(_EXIT_CODE)


def _write(words: str) -> None:
    # Not by sys.stderr: the signal may have come in the middle of one of its lines.
    begin = "\n" if sys.stderr.isatty() else ""
    # Its reader, such as `tee`, may have been interrupted as well.
    with suppress(OSError):
        os.write(2, f"{begin}interrupted: {words}\n".encode())
