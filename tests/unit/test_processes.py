"""A process family ends with the one that is responsible for it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from local.embedded.waiting import until

JOBS = Path(__file__).resolve().parents[2] / "jobs"

CHILD = """
import os, pathlib, sys, time
sys.path.append({jobs!r})
from sluice.processes import watching_parent
def end():
    with open({ended!r}, "a") as file:
        file.write("ended ")
    if pathlib.Path({ended!r}).read_text().count("ended") > 1:
        os._exit(0)
with watching_parent(end, pause=0.05):
    pathlib.Path({started!r}).touch()
    time.sleep(10)
"""
PARENT = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', {child!r}]).wait()"


def test_the_end_comes_when_the_supervisor_is_killed_and_not_before(tmp_path):
    started, ended = tmp_path / "started", tmp_path / "ended"
    child = CHILD.format(jobs=str(JOBS), started=str(started), ended=str(ended))
    supervisor = subprocess.Popen([sys.executable, "-c", PARENT.format(child=child)])
    until(started.exists, "the child", seconds=10)
    time.sleep(0.3)
    assert not ended.exists()
    supervisor.kill()
    supervisor.wait()
    until(ended.exists, "the end", seconds=10)
    # Whoever does not hear it at once is told again.
    until(lambda: ended.read_text().count("ended") > 1, "a second call", seconds=10)
