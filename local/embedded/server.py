"""A server: a program that runs on a port of its own, until it is killed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Self

from local.embedded.airflow_processes import ROOT
from local.embedded.ports import answers, free_port
from local.embedded.waiting import until

# What `local/servers.sh` has built.
PROGRAMS = ROOT / "build" / "bin"


class Server:
    def __init__(self, folder: Path, program: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._program = program
        self._process: subprocess.Popen[bytes] | None = None

    def command(self) -> list[str]:
        """What to run besides the program."""
        raise NotImplementedError

    def variables(self) -> dict[str, str]:
        """The environment of the program."""
        return {}

    def start(self) -> Self:
        """Start it, and wait until it answers."""
        name = self._program.name
        if not self._program.is_file():
            raise FileNotFoundError(f"{self._program} is missing: `local/servers.sh {name}`")
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._program), *self.command()],
                env={**os.environ, **self.variables()},
                stdout=log,
                stderr=log,
            )
        until(lambda: answers(self.port), f"{name} on port {self.port}", pause=0.1)
        return self

    def kill(self) -> None:
        """SIGKILL; what it keeps is on disk."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.kill()
