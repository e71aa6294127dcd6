"""A terminal of 80 columns: what a command shows on it, and Ctrl-C."""

from __future__ import annotations

import contextlib
import os
import pty
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_SECONDS = 120


class Terminal:
    """A command whose stderr, and stdout unless a program reads it, is a terminal of its own."""

    def __init__(self, process: subprocess.Popen[bytes], near: int) -> None:
        self.process = process
        self.shown = ""
        self._near = near

    def shows(self, text: str) -> None:
        """Wait until it has shown this."""
        patience = time.monotonic() + _SECONDS
        while text not in self.shown:
            assert self._read(), f"ended without {text!r}: {self.shown}"
            # A bar is drawn again and again.
            assert time.monotonic() < patience, f"nothing of {text!r}: {self.shown[-2_000:]}"

    def interrupt(self) -> int:
        """Ctrl-C: all processes of the terminal get SIGINT. Returns the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.end()[0]

    def end(self) -> tuple[int, str]:
        """Read on to the end. Returns the exit code, and stdout where a program reads it."""
        while self._read():
            pass
        said = self.process.stdout.read().decode() if self.process.stdout else ""
        return self.process.wait(60), said

    def _read(self) -> bool:
        # Linux says so when the other end is closed.
        with contextlib.suppress(OSError):
            part = os.read(self._near, 65_536)
            self.shown += part.decode(errors="replace")
            return bool(part)
        return False


@contextlib.contextmanager
def in_terminal(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], piped: bool = False
) -> Iterator[Terminal]:
    """Run the command; `piped`: a program reads its stdout."""
    near, far = pty.openpty()
    given = {**os.environ, **environment, "COLUMNS": "80", "TERM": "xterm"}
    process = subprocess.Popen(
        command,
        env=given,
        cwd=folder,
        stdout=subprocess.PIPE if piped else far,
        stderr=far,
        start_new_session=True,
    )
    os.close(far)
    try:
        yield Terminal(process, near)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(near)
        if process.stdout:
            process.stdout.close()
