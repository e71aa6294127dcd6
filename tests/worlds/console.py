"""A console: `sluice` commands in one process, so that one JVM serves all of them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from tests.worlds.pipelines import Installed
from tests.worlds.processes import Run, send_line

# Each reply is one line; any other output to stdout, such as the JVM's, goes to stderr.
ANSWERING = """
import json, os, sys
from pathlib import Path
from tests.worlds.command_line import run_main

replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
for line in sys.stdin:
    words, environment, folder = json.loads(line)
    done = run_main(words, environment, Path(folder))
    print(json.dumps([done.returncode, done.stdout, done.stderr]), file=replies, flush=True)
"""
ID = "$ID"
_PREVIEWED = re.compile(r"--as-previewed (\S+) exactly")


@dataclass
class Console:
    """What an operator types about one pipeline, and the answers."""

    run: Run
    about: Installed
    previewed: str = ""

    def does(self, words: str | Sequence[str]) -> str:
        """Run a command, which must succeed. `$ID` stands for the id of the preview before it."""
        code, said, errors = self._asked(words)
        assert code == 0, f"{words}: {said}{errors}"
        if found := _PREVIEWED.search(said):
            self.previewed = found[1]
        return said

    def refuses(self, words: str | Sequence[str]) -> str:
        """Run a command that must end with exit code 1. Returns its stderr."""
        code, said, errors = self._asked(words)
        assert code == 1, f"{words}: {said}{errors}"
        return errors

    def _asked(self, words: str | Sequence[str]) -> tuple[int, str, str]:
        typed = shlex.split(words) if isinstance(words, str) else words
        words = [self.previewed if word == ID else word for word in typed]
        line = words, self.about.environment, str(self.about.folder)
        console = self.run.process
        assert console.stdout
        send_line(console, json.dumps(line))
        reply = console.stdout.readline()
        assert reply, f"{words}: the console has ended: {self.run.stderr.read_text()}"
        code, said, errors = json.loads(reply)
        return code, said, errors
