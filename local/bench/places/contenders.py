"""The contenders of the bench of places, by name, and which are compared."""

from __future__ import annotations

from collections.abc import Callable

from local.bench.comparisons import FEW
from local.bench.competition import Competition, Entry
from local.bench.contender import Contender
from local.bench.place import Place
from local.bench.places.stage import Places
from local.bench.sluice_runs import ColdRun, WarmRun
from local.bench.turns import Comparison
from local.bench.world import World

MANY = 1_000_000
_Make = Callable[[str, World, Places], Contender]


def _cold(place: Callable[[Places], Place]) -> _Make:
    return lambda name, world, stage: ColdRun(name, world, place(stage))


def _warm(place: Callable[[Places], Place]) -> _Make:
    return lambda name, world, stage: WarmRun(name, world, place(stage))


ENTRIES: dict[str, Entry[Places]] = {
    "local-cold": Entry(
        "`sluice run`, starting a Spark of its own; tables on disk", _cold(lambda on: on.local)
    ),
    "bucket-cold": Entry("the same; tables in a bucket", _cold(lambda on: on.bucket)),
    "cluster-cold": Entry(
        "tables on disk; its Spark has two workers of a cluster", _cold(lambda on: on.cluster)
    ),
    "local-warm": Entry(
        "`sluice run` on a warm Spark server; tables on disk", _warm(lambda on: on.local_server)
    ),
    "bucket-warm": Entry("the same; tables in a bucket", _warm(lambda on: on.bucket_server)),
    "cluster-warm": Entry(
        "tables on disk; the warm server has two workers of a cluster",
        _warm(lambda on: on.cluster_server),
    ),
}
COMPARISONS = tuple(
    Comparison(f"{place}-{how}", f"local-{how}")
    for place in ("bucket", "cluster")
    for how in ("cold", "warm")
)
COMPETITION = Competition("local.bench.places", Places, ENTRIES, COMPARISONS, (MANY, FEW))
