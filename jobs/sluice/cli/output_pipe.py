"""Standard output, to a pipe or a file: a reader such as `head` may leave, a disk may be full."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Output(io.FileIO):
    """A pipe or a file. What comes after a failure goes nowhere."""

    reader_left = False

    def write(self, data: ReadableBuffer, /) -> int:
        """Write to it, if its reader is still there. Raises ClickException if it cannot."""
        try:
            return super().write(data)
        except OSError as problem:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            if not isinstance(problem, BrokenPipeError):
                raise click.ClickException(
                    f"standard output: {problem.strerror}. It is not whole; write it elsewhere."
                ) from problem
            self.reader_left = True
            return memoryview(data).nbytes


def allow_readers_to_leave() -> None:
    """Let the command go on when its output has no reader any more.

    Its exit code then still says what became of its work. Output that cannot be written is an
    error: what is missing of it might be the half that matters.
    """
    if sys.stdout is not sys.__stdout__ or sys.stdout is None or sys.stdout.isatty():
        return
    output = _Output(sys.stdout.fileno(), "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(output), encoding=sys.stdout.encoding, errors=sys.stdout.errors
    )


def reader_has_left() -> bool:
    """Whether standard output has no reader any more, as its last writing has shown."""
    sys.stdout.flush()
    output = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return isinstance(output, _Output) and output.reader_left
