"""The benchmark: Sluice beside plain Spark, availableNow and the raw limit, turn by turn.

    python -m local.bench [--records 2000000] [--records 10000] [--rounds 5] [CONTENDER]…

Every turn of a contender is a whole process, and ends with a check that its table has each record
once more than before. Only ratios count: seconds depend on the machine and its load.
"""

from __future__ import annotations

from local.bench.competition import Competition, Contender
from local.bench.contenders import (
    FEW,
    as_users_run_it,
    available_now,
    cold_run,
    ingest,
    nothing_new,
    plain,
    prepare_nothing_new,
    prepare_warm_run,
    raw_limit,
    warm_run,
    with_all_ours,
    with_our_jvm,
)
from local.bench.stage import Place, Stage
from local.bench.turns import Comparison
from local.bench.world import RAW

MANY = 2_000_000


def _server(on: Stage) -> Place:
    return on.server


CONTENDERS = {
    "raw-limit": Contender(
        "librdkafka to Arrow to Parquet, two processes: no decoding, commit or proof", raw_limit
    ),
    "plain": Contender("plain Spark batch job, as users run it", plain, (as_users_run_it,)),
    "plain-flags": Contender("the same with our JVM settings", plain, (with_our_jvm,)),
    "plain-all-flags": Contender(
        "the same with our JVM and session settings", plain, (with_all_ours,), usual=False
    ),
    "available-now": Contender(
        "Structured Streaming, availableNow, as users run it", available_now, (as_users_run_it,)
    ),
    "available-now-flags": Contender(
        "the same with our JVM settings", available_now, (with_our_jvm,)
    ),
    "available-now-all-flags": Contender(
        "the same with our JVM and session settings", available_now, (with_all_ours,), usual=False
    ),
    "run-cold": Contender("`sluice run`, starting a Spark of its own", cold_run),
    "run-warm": Contender(
        "`sluice run` on a warm Spark server", warm_run, (_server,), prepare_warm_run
    ),
    "nothing-new": Contender(
        "`sluice run` when all has been read", nothing_new, prepare=prepare_nothing_new
    ),
    "ingest": Contender("driver/ingest.py alone, planned before", ingest),
    "plain-raw": Contender(
        "plain Spark batch job, values not decoded", plain, (as_users_run_it, None)
    ),
    "plain-raw-flags": Contender(
        "the same with our JVM settings", plain, (with_our_jvm, None), usual=False
    ),
    "ingest-raw": Contender("driver/ingest.py alone, format raw", ingest, (RAW,)),
}
COMPARISONS = (
    Comparison("run-cold", "available-now", {MANY: 0.80, FEW: 0.75}),
    Comparison("run-cold", "available-now-flags"),
    Comparison("run-warm", "available-now", {MANY: 0.40, FEW: 0.12}),
    Comparison("run-warm", "available-now-flags"),
    Comparison("run-cold", "plain"),
    Comparison("run-cold", "raw-limit"),
    Comparison("run-warm", "raw-limit"),
    Comparison("ingest", "plain", {MANY: 0.85}),
    Comparison("ingest", "plain-flags"),
    Comparison("ingest", "plain-all-flags"),
    Comparison("ingest", "raw-limit"),
    Comparison("ingest-raw", "plain-raw", {MANY: 0.80}),
    Comparison("ingest-raw", "plain-raw-flags"),
    Comparison("ingest-raw", "raw-limit"),
    Comparison("run-cold", "available-now-all-flags"),
)
COMPETITION = Competition("local.bench", CONTENDERS, COMPARISONS, (MANY, FEW))

main = COMPETITION.command(__doc__)

if __name__ == "__main__":
    main()
