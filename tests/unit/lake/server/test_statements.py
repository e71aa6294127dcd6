"""How an attempt on a Spark server hears the signals that end its process."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

# Stands for the session of a server that does not answer.
SCRIPT = """
import os, signal, sys
from sluice.lake.server.statements import Statements

class Client:
    def set_retry_policies(self, policies): pass

class Session:
    client = Client()
    def addTag(self, tag): pass
    def interruptTag(self, tag): print("interrupted", flush=True)
    def stop(self): print("left", flush=True)

number = signal.Signals[sys.argv[1]]
if sys.argv[2] == "ignored":
    signal.signal(number, signal.SIG_IGN)
if sys.argv[2] == "handled":
    signal.signal(number, lambda *_: print("handled", flush=True))
before = signal.getsignal(number)
with Statements(Session()).ending_with_the_process():
    os.kill(os.getpid(), number)
print("goes on", signal.getsignal(number) is before)
"""


@pytest.mark.patient
@pytest.mark.parametrize(
    ("number", "how", "said", "code"),
    [
        ("SIGTERM", "default", ["interrupted", "left"], -signal.SIGTERM),
        ("SIGTERM", "handled", ["interrupted", "left", "handled", "goes on True"], 0),
        # As nohup and a shell's `&` do.
        ("SIGINT", "ignored", ["goes on True"], 0),
    ],
)
def test_statements_are_interrupted_first_and_then_the_process_ends_as_it_would_have(
    number: str, how: str, said: list[str], code: int
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, number, how], capture_output=True, text=True, check=False
    )
    assert (done.stdout.splitlines(), done.returncode) == (said, code), done.stderr
