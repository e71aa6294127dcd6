"""A guarded command ends with all below it; it is started again if it dies after it had settled."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from local.embedded.guard import Guarded, spark_jvms
from local.embedded.waiting import until


def dying(folder: Path, settled: float) -> tuple[Guarded, Path]:
    """A command that counts its starts, and fails soon after each."""
    starts = folder / "starts"
    command = ["sh", "-c", f"echo >> {starts}; sleep 0.3; exit 7"]
    return Guarded.start(command, folder / "log", settled=settled), starts


@pytest.mark.patient
def test_a_command_that_had_settled_is_started_again(tmp_path: Path) -> None:
    guarded, starts = dying(tmp_path, settled=0.1)
    try:
        until(lambda: starts.exists() and len(starts.read_text()) >= 2, "a second start", 10)
        assert guarded.running
    finally:
        guarded.stop()
    assert not guarded.running


@pytest.mark.patient
def test_a_command_that_cannot_run_is_not_tried_for_ever(tmp_path: Path) -> None:
    guarded, starts = dying(tmp_path, settled=60)
    assert guarded.process.wait(10) == 7
    assert len(starts.read_text()) == 1


def test_a_kill_ends_orphans_that_left_the_session_and_start_new_children(tmp_path: Path) -> None:
    restless = "trap '' TERM; while :; do sleep 60; done"
    script = f'setsid sh -c "{restless}" & (setsid sh -c "{restless}" &) ; exec sleep 60'
    guarded = Guarded.start(["sh", "-c", script], tmp_path / "log")
    until(lambda: len(guarded.family()) == 5, "two shells with a child each", 10)
    family = guarded.family()
    guarded.kill()
    assert [each for each in family if each.is_running()] == []


def test_a_guard_starts_without_airflow() -> None:
    script = "import sys, local.embedded.guard; sys.exit('airflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_a_process_that_has_ended_is_no_jvm_of_spark() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert spark_jvms([ended.pid]) == []


# As Spark's JVM does for the moment in which it starts another program.
COPIES_ITSELF = """
import os, sys, time
child = os.fork()
if child:
    print(child, flush=True)
time.sleep(60)
"""


def test_the_copy_that_a_jvm_makes_of_itself_is_no_other_jvm() -> None:
    words = ["java", "-c", COPIES_ITSELF, "org.apache.spark.deploy.SparkSubmit"]
    jvm = subprocess.Popen(words, executable=sys.executable, stdout=subprocess.PIPE, text=True)
    assert jvm.stdout
    copy = psutil.Process(int(jvm.stdout.readline()))
    try:
        assert copy.cmdline() == words
        assert [each.pid for each in spark_jvms([copy.pid, jvm.pid])] == [jvm.pid]
    finally:
        copy.kill()
        jvm.kill()
        jvm.communicate()
