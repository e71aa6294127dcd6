"""Attempts: the processes of the product that a soak starts, one run after the other."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

import psutil

from local.embedded.guard import is_java, still_there
from tests.soak.diary import Diary
from tests.soak.outcomes import explained, verdict
from tests.worlds.pipelines import Installed
from tests.worlds.processes import Run

PAUSE = 0.5
# A process of the product that takes longer, after the end of every fault, hangs.
PATIENCE = 240.0


@dataclass
class Attempt:
    """A process of the product; `excuses` are the ends that faults have given it."""

    number: int
    command: str
    run: Run
    started: float
    excuses: set[str] = field(default_factory=set)
    ended: float = float("inf")
    how: str = ""
    _output: list[str] = field(default_factory=list)
    _reading: threading.Thread = field(init=False, repr=False, compare=False)

    def __str__(self) -> str:
        return f"{self.command} {self.number}"

    @property
    def alive(self) -> bool:
        return self.run.process.poll() is None

    def read_along(self) -> None:
        """Read what it prints, so that it never waits for us."""
        assert self.run.process.stdout is not None
        read = self.run.process.stdout.read
        self._reading = threading.Thread(target=lambda: self._output.append(read()), daemon=True)
        self._reading.start()

    def output(self) -> str:
        """All that it has printed. Waits for the end of its whole family."""
        self._reading.join()
        return "".join(self._output)

    def jvms(self) -> list[psutil.Process]:
        """Its JVM, if it has started one."""
        return [each for each in self.family() if is_java(each)]

    def family(self) -> list[psutil.Process]:
        return still_there(self.run.family)


@dataclass
class Attempts:
    """All of them. `healing` ends the loop; `failpoints` wait for the next run to start."""

    trips: Installed
    diary: Diary
    healing: threading.Event
    all: list[Attempt] = field(default_factory=list)
    failpoints: deque[tuple[str, str, set[str]]] = field(default_factory=deque)
    _starting: threading.Lock = field(default_factory=threading.Lock)

    def keep_running(self) -> None:
        """`sluice run`, again and again."""
        while not self.healing.is_set():
            self.wait(self.start("run", armed=True))
            self.healing.wait(PAUSE)

    def start(
        self,
        command: str,
        *args: str,
        armed: bool = False,
        excuses: set[str] | None = None,
        **env: str,
    ) -> Attempt:
        """Start a command; `armed` hands it the failpoint that waits, if there is one."""
        mine = set(excuses or ())
        if armed and self.failpoints:
            variable, point, more = self.failpoints.popleft()
            env |= {"SLUICE_TEST": "1", variable: point}
            mine |= more
        with self._starting:
            run = self.trips.start(command, *args, **env)
            attempt = Attempt(len(self.all) + 1, command, run, self.diary.now, mine)
            self.all.append(attempt)
        attempt.read_along()
        told = [value for name, value in env.items() if name != "SLUICE_TEST"]
        self.diary.write(f"{attempt} starts {' '.join([*args, *told])} ({run.stderr.name})")
        return attempt

    def wait(self, attempt: Attempt, patience: float = float("inf")) -> Attempt:
        """Wait for the end of the process; what it started may go on."""
        deadline = time.monotonic() + patience
        while attempt.alive:
            if time.monotonic() > deadline:
                self.diary.find(f"{attempt} hangs: no end within {patience:.0f} s")
                attempt.run.clear_away()
            time.sleep(0.05)
        attempt.ended = self.diary.now
        code, errors = attempt.run.process.returncode, attempt.run.stderr.read_text()
        attempt.how = verdict(code, errors)
        self.diary.write(f"{attempt} ended: {attempt.how}")
        return attempt

    @contextlib.contextmanager
    def quiet(self, patience: float) -> Iterator[bool]:
        """No process of the product is there, and none starts; False if some do not end in time."""
        deadline = time.monotonic() + patience
        with self._starting:
            while any(each.run.family for each in self.all) and time.monotonic() < deadline:
                time.sleep(0.05)
            yield not any(each.run.family for each in self.all)

    def pick(self, share: float) -> Attempt | None:
        """One of those that run."""
        alive = [each for each in list(self.all) if each.alive and each.command == "run"]
        return alive[int(share * len(alive))] if alive else None

    def end_all(self) -> None:
        """Wait for all that was started; what does not end is a finding."""
        for attempt in list(self.all):
            if not attempt.how:
                self.wait(attempt, PATIENCE)
        deadline = time.monotonic() + 30
        while left := [each for each in self.all if each.run.family]:
            if time.monotonic() > deadline:
                names = ", ".join(map(str, left))
                self.diary.find(f"processes of {names} were left behind")
                self.clear_away()
            time.sleep(0.1)

    def clear_away(self) -> None:
        for attempt in list(self.all):
            attempt.run.clear_away()

    def judge(self) -> None:
        """Every failure that no fault explains is a finding."""
        for attempt in self.all:
            excuses = attempt.excuses | self.diary.excuses(attempt.started, attempt.ended)
            if not explained(attempt.how, excuses):
                where = f"from {attempt.started:.0f} to {attempt.ended:.0f} s"
                self.diary.find(
                    f"{attempt} ({where}) ended with {attempt.how}; excused were"
                    f" {sorted(excuses) or 'none'}. See {attempt.run.stderr.name}"
                )

    def ends(self) -> Counter[str]:
        return Counter(each.how for each in self.all if each.command == "run")

    def stopped(self) -> int:
        """How many have reached the failpoint that waited for them."""
        return sum("failpoint " in each.run.stderr.read_text() for each in self.all)
