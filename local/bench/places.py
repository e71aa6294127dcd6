"""The benchmark of places: tables in a bucket, and Spark on a cluster, beside one machine alone.

    python -m local.bench.places [--records 1000000] [--records 10000] [--rounds 5] [CONTENDER]…

`sluice run`, cold and on a warm Spark server; each contender has two cores. Every turn is a whole
process, and ends with a check that its table has each record once more than before.
"""

from __future__ import annotations

from local.bench.competition import Competition, Contender
from local.bench.contenders import FEW, Placed, cold_run, prepare_warm_run, warm_run
from local.bench.turns import Comparison

MANY = 1_000_000


def _cold(runs: str, place: Placed) -> Contender:
    return Contender(runs, cold_run, (place,))


def _warm(runs: str, place: Placed) -> Contender:
    return Contender(runs, warm_run, (place,), prepare_warm_run)


CONTENDERS = {
    "local-cold": _cold(
        "`sluice run`, starting a Spark of its own; tables on disk", lambda on: on.local
    ),
    "bucket-cold": _cold("the same; tables in a bucket", lambda on: on.bucket),
    "cluster-cold": _cold(
        "tables on disk; its Spark has two workers of a cluster", lambda on: on.cluster
    ),
    "local-warm": _warm(
        "`sluice run` on a warm Spark server; tables on disk", lambda on: on.local_server
    ),
    "bucket-warm": _warm("the same; tables in a bucket", lambda on: on.bucket_server),
    "cluster-warm": _warm(
        "tables on disk; the warm server has two workers of a cluster", lambda on: on.cluster_server
    ),
}
COMPARISONS = tuple(
    Comparison(f"{place}-{how}", f"local-{how}")
    for place in ("bucket", "cluster")
    for how in ("cold", "warm")
)
COMPETITION = Competition("local.bench.places", CONTENDERS, COMPARISONS, (MANY, FEW))

main = COMPETITION.command(__doc__)

if __name__ == "__main__":
    main()
