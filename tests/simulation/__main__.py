"""Play random histories for some minutes; print what is found, shrunk, and how fast it went.

    python -m tests.simulation --seed 7 --minutes 5 [--keep build/histories]
    python -m tests.simulation --replay tests/simulation/histories/n3.json

Exit code 1 where something is found that is not known.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.simulation.history import as_text, read_history
from tests.simulation.known import known_as
from tests.simulation.play import play
from tests.simulation.shrink import shrink
from tests.simulation.swarm import draw_history


def main() -> int:
    """Play until the time is over."""
    asked = argparse.ArgumentParser(prog="make simulate", description=__doc__)
    asked.add_argument("--seed", default="1", help="the same seed draws the same histories")
    asked.add_argument("--minutes", type=float, default=5.0)
    asked.add_argument("--histories", type=int, default=10**9, help="at most so many")
    asked.add_argument("--keep", type=Path, help="a folder for the histories that find something")
    asked.add_argument("--replay", type=Path, help="play one history, and say what it does")
    asked.add_argument("--each", type=int, default=1, help="so many histories of a known hole")
    asked.add_argument("--no-shrink", action="store_true")
    given = asked.parse_args()
    if given.replay:
        return _replay(given.replay)
    until = time.monotonic() + 60 * given.minutes
    began, steps, plays, unknown = time.monotonic(), 0, 0, 0
    seen: dict[str, int] = {}
    holes: dict[str, int] = {}
    while time.monotonic() < until and plays < given.histories:
        history = draw_history(f"{given.seed}/{plays}")
        played = play(history)
        plays, steps = plays + 1, steps + played.steps
        if played.finding is None:
            continue
        kind = played.finding.kind
        seen[kind] = seen.get(kind, 0) + 1
        if known := known_as(history, played.finding):
            holes[known] = holes.get(known, 0) + 1
            if holes[known] > given.each:
                continue
        small = history if given.no_shrink else shrink(history, kind)
        again = play(small)
        finding = again.finding or played.finding
        known = known_as(small, finding)
        unknown += not known
        print(f"\n{history.seed}: {known or 'NOT KNOWN'}: {finding}", *again.told, sep="\n  ")
        sys.stdout.flush()
        if given.keep:
            given.keep.mkdir(parents=True, exist_ok=True)
            name = (
                f"{kind.replace(' ', '-').replace(',', '')}-{history.seed.replace('/', '-')}.json"
            )
            text = as_text(small, again.told, str(finding), known)
            (given.keep / name).write_text(text, encoding="utf-8")
    seconds = time.monotonic() - began
    print(
        f"\n{plays} histories, {steps} actions in {seconds:.0f} s: {steps / seconds:.0f} a second"
    )
    for kind, count in sorted(seen.items(), key=lambda each: -each[1]):
        print(f"  {count:4}  {kind}")
    print(f"known: {holes}\nnot known: {unknown}")
    return 1 if unknown else 0


def _replay(path: Path) -> int:
    stored = read_history(path)
    played = play(stored.history)
    print(*played.told, sep="\n")
    print(f"\n{played.finding or 'nothing is wrong'}; the file says: {stored.finding}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
