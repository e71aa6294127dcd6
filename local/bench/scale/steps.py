"""The steps that are measured, each in a process of its own.

    python -m local.bench.scale.steps WORLD STEP

The world is JSON; the last line of the output is what the step cost, as JSON.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from functools import partial, wraps
from pathlib import Path
from typing import Any

from aiokafka.client import AIOKafkaClient
from confluent_kafka.admin import AdminClient
from deltalake import DeltaTable
from sluice.broker import group_offsets, reader
from sluice.offsets.batches import BatchReference
from sluice.offsets.origin import Origin
from sluice.operations.maintain import maintain
from sluice.operations.reset.targets import named_target
from sluice.progress.lane_state import read_unchecked

from local.bench.scale.lake import IdleUpkeep, WrittenLake
from local.bench.scale.world import A_DAY, World, utc_now

_OPENS, _REQUESTS = "opens", "requests"
_ADMIN = ("describe_cluster", "describe_topics", "list_offsets", "describe_configs", "list_topics")


@dataclass(frozen=True)
class Cost:
    """What a step cost: also how many tables it opened, and its requests to Kafka."""

    seconds: float
    megabytes: float
    opens: int
    requests: int


def _plan(world: World) -> None:
    if not world.open().plan("bench", "bench"):
        raise RuntimeError(f"{world.pipeline}: expected news, found none")


def _ingest(world: World) -> Callable[[], object]:
    """What is due is looked up before, and not measured."""
    numbers = [each.number for each in read_unchecked(world.open().resources).unfinished]
    work = BatchReference(world.sequence, range(numbers[0], numbers[-1] + 1))
    return lambda: world.open().ingest(work, WrittenLake(world))


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
    take = _ingest(world) if step == "ingest" else partial(STEPS[step], world)
    counted = _count_calls()
    started = time.monotonic()
    take()
    seconds = time.monotonic() - started
    return Cost(seconds, _peak_megabytes(), counted[_OPENS], counted[_REQUESTS])


def _count_calls() -> Counter[str]:
    """From now on, every open and every request adds one; the bench's process only."""
    found: Counter[str] = Counter()
    _counted(DeltaTable, "__init__", found, _OPENS)
    for name in _ADMIN:
        _counted(AdminClient, name, found, _REQUESTS)
    _counted(AIOKafkaClient, "send", found, _REQUESTS)
    for module in (group_offsets, reader):
        # A consumer asks for metadata and its coordinator, or for records.
        _counted(module, "Consumer", found, _REQUESTS)
    return found


def _counted(owner: Any, name: str, found: Counter[str], what: str) -> None:
    original: Callable[..., Any] = getattr(owner, name)

    @wraps(original)
    def counting(*given: Any, **named: Any) -> Any:
        found[what] += 1
        return original(*given, **named)

    setattr(owner, name, counting)


def _peak_megabytes() -> float:
    # Not getrusage: a new process begins with the peak of the one that started it.
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("utf-8"))
    return int(peak) / 1024


def main() -> None:
    """Measure one step."""
    given = json.loads(sys.argv[1])
    world = World(**given | {"warehouse": Path(given["warehouse"])})
    print(json.dumps(asdict(measure(world, sys.argv[2]))))


if __name__ == "__main__":
    main()
