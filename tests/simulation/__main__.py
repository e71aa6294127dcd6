"""Play random histories for some minutes; print what is found, shrunk, and how fast it went.

    python -m tests.simulation --seed 7 --minutes 5 --keep build/histories
    python -m tests.simulation --replay tests/simulation/histories/n3.json

The same seed draws the same histories. Exit code 1 where something is found that is not known,
unless that is only to be told; 2 where the simulation itself failed in one history of twenty.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulation.history import History, as_text, read_history
from tests.simulation.known import known_as
from tests.simulation.oracle import Finding
from tests.simulation.play import Played, play
from tests.simulation.shrink import shrink
from tests.simulation.swarm import THEMES, draw_history

_SOME_BROKEN = 20


def main() -> int:
    """Play until the time is over."""
    given = _arguments()
    if given.replay:
        return _replay(given.replay)
    if given.workers > 1:
        return _side_by_side(given.workers)
    session, until = Session(given), time.monotonic() + 60 * given.minutes
    try:
        while time.monotonic() < until and session.plays < given.histories:
            if given.first and session.unknown:
                break
            number = given.begin + session.plays
            session.play(draw_history(f"{given.seed}/{number}", given.theme))
    except KeyboardInterrupt:
        print("\ninterrupted")
    session.report()
    if session.broken * _SOME_BROKEN >= max(1, session.plays):
        return 2
    return 1 if session.unknown and not given.tell else 0


def _arguments() -> argparse.Namespace:
    asked = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    asked.formatter_class = argparse.RawDescriptionHelpFormatter
    asked.add_argument("--seed", default="1", help="any text")
    asked.add_argument("--minutes", type=float, default=5.0)
    asked.add_argument("--histories", type=int, default=10**9, help="at most so many")
    asked.add_argument("--begin", type=int, default=0, help="with the one of this number")
    asked.add_argument("--tell", action="store_true", help="what is found is no failure")
    asked.add_argument("--theme", default="", help=f"only one of: {', '.join(THEMES)}")
    at_once = "at most so many before a run has ended well; -1: any number"
    asked.add_argument("--faults", type=int, default=2, help=at_once)
    asked.add_argument("--workers", type=int, default=1, help="processes side by side")
    asked.add_argument("--each", type=int, default=0, help="show so many of a known hole")
    asked.add_argument("--first", action="store_true", help="stop at the first that is not known")
    asked.add_argument("--keep", type=Path, help="a folder for the histories that find something")
    asked.add_argument("--shrink", type=float, default=60.0, help="seconds for each that is shown")
    asked.add_argument("--replay", type=Path, help="play one history, and say what it does")
    return asked.parse_args()


def _side_by_side(workers: int) -> int:
    """The same in several processes, each with a seed of its own."""
    words = [*sys.argv[1:], "--workers", "1"]
    seed = _arguments().seed
    command = [sys.executable, "-m", "tests.simulation", *words, "--seed"]
    running = [subprocess.Popen([*command, f"{seed}.{number}"]) for number in range(workers)]
    try:
        return max(each.wait() for each in running)
    except KeyboardInterrupt:
        # They are told by the terminal as well, and report what they have.
        return max(each.wait() for each in running)


@dataclass
class Session:
    """What was played so far."""

    given: argparse.Namespace
    began: float = field(default_factory=time.monotonic)
    cpu: float = field(default_factory=time.process_time)
    plays: int = 0
    broken: int = 0
    actions: int = 0
    holes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def unknown(self) -> int:
        """How many findings are of no known hole."""
        return self.holes[""]

    def play(self, history: History) -> None:
        """Play a history; show what it finds, or how the simulation itself has failed."""
        self.plays += 1
        try:
            self._play(history)
        except Exception:
            self.broken += 1
            print(f"\n{history.seed}: the simulation itself has failed", flush=True)
            traceback.print_exc(file=sys.stdout)

    def _play(self, history: History) -> None:
        found = self._played(history)
        self.actions += found.actions
        if found.finding is None:
            return
        known = known_as(history.with_steps(found.done), found.finding)
        if known and self.holes[known] >= self.given.each:
            self.holes[known] += 1
            return
        self._show(history, found.finding)

    def _show(self, history: History, finding: Finding) -> None:
        seconds, small = self.given.shrink, history
        if seconds:
            small = shrink(history, finding.kind, seconds, self._played)
        again = self._played(small)
        small = small.with_steps(again.done)
        finding = again.finding or finding
        known = known_as(small, finding)
        self.holes[known] += 1
        self.kinds[finding.kind] += 1
        print(f"\n{history.seed}: {known or 'NOT KNOWN'}: {finding}", *again.told, sep="\n  ")
        sys.stdout.flush()
        if self.given.keep:
            self.given.keep.mkdir(parents=True, exist_ok=True)
            named = f"{known or finding.kind} {history.seed}".replace(",", "")
            path = self.given.keep / f"{named.replace('/', '-').replace(' ', '-')}.json"
            text = as_text(small, again.told, str(finding), known)
            path.write_text(text, encoding="utf-8")

    def _played(self, history: History) -> Played:
        faults = self.given.faults
        return play(history, at_once=faults if faults >= 0 else None)

    def report(self) -> None:
        """Say how many, how fast, and what was found."""
        seconds, cpu = time.monotonic() - self.began, time.process_time() - self.cpu
        print(
            f"\n{self.plays} histories, {self.actions} actions in {seconds:.0f} s:"
            f" {self.actions / seconds:.0f} a second, {self.actions / cpu:.0f} a CPU second"
        )
        known = {name: count for name, count in sorted(self.holes.items()) if name}
        print(f"known holes: {known or 'none'}; not known: {self.unknown}")
        if self.broken:
            print(f"in {self.broken} histories the simulation itself has failed")
        for kind, count in self.kinds.most_common():
            print(f"  {count:4}  {kind}")


def _replay(path: Path) -> int:
    stored = read_history(path)
    played = play(stored.history)
    print(*played.told, sep="\n")
    print(f"\n{played.finding or 'nothing is wrong'}; the file says: {stored.finding or 'nothing'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
