"""Processes of the product: started with a mark, watched, killed, and never left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

from local.embedded.guard import is_spark
from tests.oracle import marked_processes

SLUICE = Path(sys.executable).with_name("sluice")
PLANNING_ALONE = """
import json, sys
from sluice.cli.caller import current_user, open_named
pipeline, origin = open_named(sys.argv[1]), current_user()
print("ready", flush=True)
for _ in sys.stdin:
    print(json.dumps(pipeline.plan(origin.run_id, origin.actor).as_dict()), flush=True)
"""
# The first compiler alone starts faster, and the second would compete for the same cores.
JAVA_TUNING = {
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
SETTLING_ALONE = """
import sys
from sluice.cli.caller import current_user, open_named
origin = current_user()
open_named(sys.argv[1]).settle(origin.run_id, origin.actor)
"""

Found = TypeVar("Found")


def killed_at(point: str) -> dict[str, str]:
    """The environment in which a process kills itself at a step of the protocol."""
    return {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": f"{point}: kill"}


def until(look: Callable[[], Found], what: str, seconds: float = 60, pause: float = 0.05) -> Found:
    """Look again and again; fails when nothing was found in time."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s: {what}"
        time.sleep(pause)
    return found


@dataclass
class Run:
    """A process of the product, with everything that it started. Its stderr goes to a file."""

    process: subprocess.Popen[str]
    marker: str
    stderr: Path

    @property
    def family(self) -> set[int]:
        """Its processes that still run, orphans too."""
        return {pid for pid in marked_processes(self.marker) if _runs(pid)}

    def jvm(self) -> psutil.Process:
        """Its JVM, as soon as there is one."""

        def look() -> list[psutil.Process]:
            with contextlib.suppress(psutil.NoSuchProcess):
                return [each for each in map(psutil.Process, self.family) if is_spark(each)]
            return []

        return until(look, "a JVM")[0]

    def says(self, text: str) -> None:
        """Wait until it, or its JVM, has said this on stderr."""

        def said() -> bool:
            ended = self.process.poll() is not None
            errors = self.stderr.read_text()
            assert text in errors or not ended, f"ended without a word of {text!r}: {errors}"
            return text in errors

        until(said, text, 120)

    def kill(self) -> None:
        """SIGKILL the process alone; what it started may go on."""
        self.process.kill()
        self.process.wait()

    def clear_away(self) -> None:
        """After a test that failed: nothing goes on."""
        for pid in self.family:
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def end(self, given: str = "") -> subprocess.CompletedProcess[str]:
        """Give it its last input; wait until it has ended, and nothing that it started is left."""
        output, _ = self.process.communicate(given, timeout=240)
        until(lambda: not self.family, "an end of all that the run started", 30)
        code, errors = self.process.returncode, self.stderr.read_text()
        return subprocess.CompletedProcess(self.process.args, code, output, errors)


def start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Run:
    """Start it in that folder, with this on top of our environment; its stderr goes there, too."""
    token = uuid.uuid4().hex
    stderr = folder / f"{token}.stderr"
    with stderr.open("w") as errors:
        process = subprocess.Popen(
            command,
            env={**os.environ, **environment, "SLUICE_TEST_RUN": token},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    return Run(process, f"SLUICE_TEST_RUN={token}", stderr)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
