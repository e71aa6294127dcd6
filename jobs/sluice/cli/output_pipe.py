"""Standard output as a pipe: its reader, such as `head`, may leave before the end."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Pipe(io.FileIO):
    """A pipe. After its reader has left, the rest goes nowhere."""

    left = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write to the reader, if it is still there."""
        try:
            return super().write(data)
        except BrokenPipeError:
            self.left = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return memoryview(data).nbytes


def allow_readers_to_leave() -> None:
    """Let the command go on when its output has no reader any more.

    Its exit code then still says what became of its work.
    """
    if sys.stdout is not sys.__stdout__ or sys.stdout is None or sys.stdout.isatty():
        return
    pipe = _Pipe(sys.stdout.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(pipe), encoding=sys.stdout.encoding, errors=sys.stdout.errors
    )


def reader_has_left() -> bool:
    """Whether standard output has no reader any more, as its last writing has shown."""
    sys.stdout.flush()
    pipe = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(pipe, _Pipe) and pipe.left
