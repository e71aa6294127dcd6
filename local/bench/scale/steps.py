"""The steps that are measured, each in a process of its own.

    python -m local.bench.scale.steps WORLD STEP

The world is JSON; the last line of the output is what the step cost, as JSON.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from sluice.offsets.batches import BatchReference
from sluice.offsets.origin import Origin
from sluice.operations.maintain import maintain
from sluice.operations.reset.targets import named_target
from sluice.progress.lane_state import read_unchecked

from local.bench.scale.counting import OPENS, REQUESTS, count_calls
from local.bench.scale.lake import IdleUpkeep, WrittenLake
from local.bench.scale.world import A_DAY, World, utc_now


@dataclass(frozen=True)
class Cost:
    """What a step cost."""

    seconds: float
    megabytes: float
    opens: int
    requests: int


def _plan(world: World) -> None:
    if not world.open().plan("bench", "bench"):
        raise RuntimeError(f"{world.pipeline}: expected news, found none")


def _work(world: World) -> BatchReference:
    numbers = [each.number for each in read_unchecked(world.open().resources).unfinished]
    return BatchReference(world.sequence, range(numbers[0], numbers[-1] + 1))


def _ingest(world: World, work: BatchReference) -> None:
    world.open().ingest(work, WrittenLake(world))


def _settle(world: World) -> None:
    if not world.open().settle("bench", "bench"):
        raise RuntimeError(f"{world.pipeline}: expected a due receipt, found none")


def _preview(world: World) -> None:
    world.open().preview_reset(named_target("shift-by", str(-min(A_DAY, world.batches // 2))))


def _maintain(world: World) -> None:
    maintain(world.open().resources, IdleUpkeep(), Origin("bench", "bench", utc_now()))


def _verify_day(world: World) -> None:
    verdict = world.open().verify(lambda _, __: None, utc_now() - timedelta(days=1))
    if verdict.violations:
        raise RuntimeError(str(verdict.violations[0]))


def _idle(world: World) -> None:
    """Every pipeline of the warehouse, one after the other; all have the same topic."""
    for folder in sorted(world.warehouse.glob(f"{world.pipeline[:1]}*__offsets")):
        name = folder.name.removesuffix("__offsets")
        if replace(world, pipeline=name).open().plan("bench", "bench"):
            raise RuntimeError(f"{name}: expected no news, found some")


STEPS: Mapping[str, Callable[[World], Any]] = {
    "plan": _plan,
    "settle": _settle,
    "status": lambda world: world.open().status(),
    "preview": _preview,
    "maintain": _maintain,
    "verify": _verify_day,
    "idle": _idle,
}


def measure(world: World, step: str) -> Cost:
    """Take one step in this process, and say what it cost."""
    work = _work(world) if step == "ingest" else None
    counted = count_calls()
    started = time.monotonic()
    if work is not None:
        _ingest(world, work)
    else:
        STEPS[step](world)
    return Cost(
        seconds=time.monotonic() - started,
        megabytes=_peak_megabytes(),
        opens=counted[OPENS],
        requests=counted[REQUESTS],
    )


def _peak_megabytes() -> float:
    # Not getrusage: a new process begins with the peak of the one that started it.
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    return int(peak) / 1024


def main() -> None:
    """Measure one step."""
    given = json.loads(sys.argv[1])
    world = World(**given | {"warehouse": Path(given["warehouse"])})
    print(json.dumps(measure(world, sys.argv[2]).__dict__))


if __name__ == "__main__":
    main()
