"""Processes of the product: marked at start, watched, killed, and never left behind."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from local.embedded.guard import spark_jvms
from local.embedded.waiting import until
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
JAVA_TUNING = {
    # The first compiler alone starts faster; the second would compete for the same cores.
    "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1",
    "SPARK_LOCAL_IP": "127.0.0.1",
}
SETTLING_ALONE = """
import sys
from sluice.cli.caller import current_user, open_named
origin = current_user()
open_named(sys.argv[1]).settle(origin.run_id, origin.actor)
"""


def killed_at(point: str) -> dict[str, str]:
    """The environment that makes a process kill itself at a step of the protocol."""
    return {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": f"{point}: kill"}


def send_line(process: subprocess.Popen[str], line: str = "") -> None:
    """Send a line to a process that waits for one."""
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


@dataclass
class Run:
    """A process of the product and all that it started. Its stderr goes to a file."""

    process: subprocess.Popen[str]
    marker: str
    stderr: Path

    @property
    def family(self) -> set[int]:
        """Its processes that still run, including orphans."""
        return {pid for pid in marked_processes(self.marker) if _runs(pid)}

    def jvm(self) -> psutil.Process:
        """Wait for its JVM."""
        return until(lambda: spark_jvms(self.family), "a JVM")[0]

    def says(self, text: str) -> None:
        """Wait until it, or its JVM, has written this to stderr."""

        def said() -> bool:
            ended = self.process.poll() is not None
            errors = self.stderr.read_text()
            assert text in errors or not ended, f"ended without a word of {text!r}: {errors}"
            return text in errors

        until(said, text, 120)

    def kill(self) -> None:
        """SIGKILL this process only; its children may live on."""
        self.process.kill()
        self.process.wait()

    def clear_away(self) -> None:
        """Kill everything that a failed test left running."""
        for pid in self.family:
            with contextlib.suppress(psutil.NoSuchProcess):
                psutil.Process(pid).kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()

    def end_thawed(self, frozen: psutil.Process) -> subprocess.CompletedProcess[str]:
        """Let it go on wherever this process of it freezes itself; wait for its end."""
        while self.process.poll() is None:
            with contextlib.suppress(psutil.NoSuchProcess):
                frozen.resume()
            time.sleep(0.2)
        return self.end()

    def end(self, given: str = "") -> subprocess.CompletedProcess[str]:
        """Send the last input; wait until it, and everything it started, has ended."""
        output, _ = self.process.communicate(given, timeout=240)
        until(lambda: not self.family, "an end of all that the run started", 30)
        code, errors = self.process.returncode, self.stderr.read_text()
        return subprocess.CompletedProcess(self.process.args, code, output, errors)


def start(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Run:
    """Start a command in that folder, with these variables added; its stderr goes there, too."""
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
