"""The command line in this process: what `sluice` prints, and its exit code."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any
from unittest.mock import patch

from sluice.cli import main


def run_main(
    words: Sequence[str], environment: Mapping[str, str], folder: Path
) -> CompletedProcess[str]:
    """Run `sluice …` in that folder; `environment` comes on top of this process's own."""
    said, errors = io.StringIO(), io.StringIO()
    code: Any = None
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(errors),
        patch.object(sys, "argv", [*words]),
        patch.dict(os.environ, environment),
        _logging_and_interrupts_restored(),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    return CompletedProcess(words, code, said.getvalue(), errors.getvalue())


@contextlib.contextmanager
def _logging_and_interrupts_restored() -> Iterator[None]:
    """`main` sends logging to stderr, unless it is already configured, and handles Ctrl-C."""
    root, interrupted = logging.getLogger(), signal.getsignal(signal.SIGINT)
    handlers, level = root.handlers, root.level
    root.handlers = []
    try:
        yield
    finally:
        root.handlers = handlers
        root.setLevel(level)
        signal.signal(signal.SIGINT, interrupted)
