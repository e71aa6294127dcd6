"""Which mutations of the catalogue a simulation finds, and after how long: a table, for people.

    python -m tests.simulation.mutants --minutes 10

Each is planted in a copy of the product, and played until something is found that is not known,
and that the same history does not find in the product as it is. Those of Spark and of the client
of the real brokers lie outside of this world.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.mutations.catalogue import SEEN_BY_ORACLE
from tests.mutations.catalogue_of_tests import SEEN_BY_TESTS
from tests.mutations.mutation import Mutation
from tests.mutations.planting import ROOT, environment_of, plant

_FOUND = re.compile(r"^\S+/(?P<number>\d+): NOT KNOWN.*$", re.MULTILINE)
_OUTSIDE = ("sluice/lake/", "sluice/broker/", "sluice/scheduling/", "jvm/")


def in_this_world() -> Iterator[Mutation]:
    """The mutations of what runs in a simulation."""
    return (e for e in (*SEEN_BY_ORACLE, *SEEN_BY_TESTS) if not e.file.startswith(_OUTSIDE))


def main() -> int:
    """Play them one by one."""
    asked = argparse.ArgumentParser(prog="python -m tests.simulation.mutants")
    asked.add_argument("--minutes", type=float, default=10.0, help="at most, for each")
    asked.add_argument("--seed", default="mutants")
    asked.add_argument("--only", default="", help="names that hold this text")
    asked.add_argument("--part", default="0/1", help="such as 1/2: every second one")
    given = asked.parse_args()
    number, parts = map(int, given.part.split("/"))
    for mutation in list(in_this_world())[number::parts]:
        if given.only in mutation.name:
            print(_told(mutation, given.minutes, given.seed), flush=True)
    return 0


def _told(mutation: Mutation, minutes: float, seed: str) -> str:
    began, number = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = plant(mutation, Path(folder))
        while (left := minutes - (time.monotonic() - began) / 60) > 0:
            said = _played(jobs, seed, "--begin", str(number), "--minutes", str(left))
            found = _FOUND.search(said)
            if found is None:
                return _line(began, mutation, "not found" if "histories," in said else said[-200:])
            number = int(found["number"])
            alone = "--begin", str(number), "--histories", "1"
            if _FOUND.search(_played(ROOT / "jobs", seed, *alone)) is None:
                return _line(began, mutation, found[0])
            number += 1
    return _line(began, mutation, "not found")


def _played(jobs: Path, seed: str, *options: str) -> str:
    """What a simulation prints that stops at its first finding."""
    command = [sys.executable, "-m", "tests.simulation", "--first", "--shrink", "0"]
    done = subprocess.run(
        [*command, "--seed", seed, *options],
        cwd=ROOT,
        env={**environment_of(jobs), "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def _line(began: float, mutation: Mutation, said: str) -> str:
    return f"{time.monotonic() - began:6.0f} s  {mutation.name}: {said.strip()[:150]}"


if __name__ == "__main__":
    sys.exit(main())
