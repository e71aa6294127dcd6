"""Ctrl-C: the last words of a command, and an end at once, whatever the main thread does."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from local.embedded.waiting import until

WAITING = """
import ctypes, threading, time
from sluice.cli.interrupts import last_words
with last_words(lambda: "the last words"):
    {}
"""
READY = 'print("ready", flush=True)'

# A library that waits in C, and does not come back when a signal comes.
DEAF = """
    mutex, libc = ctypes.create_string_buffer(256), ctypes.CDLL(None)
    libc.pthread_mutex_lock(mutex)
    threading.Timer(1, lambda: print("ready", flush=True)).start()
    libc.pthread_mutex_lock(mutex)
"""

# As after nohup, and in a shell script's `&`.
IGNORING = """
import os, signal, sluice.cli
from sluice.cli.interrupts import last_words
signal.signal(signal.SIGINT, signal.SIG_IGN)

def command(**_):
    with last_words(lambda: "the last words"):
        os.kill(os.getpid(), signal.SIGINT)
    print("goes on")

sluice.cli.command_line = command
sluice.cli.main()
"""


@pytest.mark.patient
@pytest.mark.parametrize(
    ("waits", "code"),
    [(f"{READY}; time.sleep(60)", -signal.SIGINT), (DEAF.strip(), 130)],
    ids=["py", "C"],
)
def test_the_last_words_are_said_and_the_process_ends(waits: str, code: int) -> None:
    process = started(waits)
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=30)
    assert (process.returncode, said) == (code, "")
    assert errors == "interrupted: the last words\n"


def test_after_the_block_a_signal_does_what_it_did_before() -> None:
    # One long sleep would miss a signal that comes just before it.
    asleep = "\nprint('after', flush=True)\nwhile True: time.sleep(0.1)\n"
    process = started_with(WAITING.format(READY) + asleep)
    assert process.stdout
    until(lambda: process.stdout and process.stdout.readline() == "after\n", "the block's end")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "the last words" not in errors


def test_what_is_ignored_stays_ignored() -> None:
    done = subprocess.run([sys.executable, "-c", IGNORING], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "goes on\n", "")


def started(waits: str) -> subprocess.Popen[str]:
    return started_with(WAITING.format(waits))


def started_with(program: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.patient
def test_it_ends_although_nobody_reads_the_words() -> None:
    process = started(DEAF.strip())
    assert process.stderr
    process.stderr.close()
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130
    assert process.stdout
    process.stdout.close()
