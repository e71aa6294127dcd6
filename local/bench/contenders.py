"""The contenders: what each of them runs, by name."""

from __future__ import annotations

from collections.abc import Callable

from local.bench.comparisons import COMPARISONS, FEW, MANY
from local.bench.competition import Competition, Entry
from local.bench.contender import Contender
from local.bench.place import Place
from local.bench.raw_limit import RawLimit
from local.bench.sluice_runs import ColdRun, NothingNew, WarmRun
from local.bench.spark_jobs import (
    AvailableNow,
    Ingest,
    Plain,
    Settings,
    as_users_run_it,
    with_all_ours,
    with_our_jvm,
)
from local.bench.stage import ServerStage
from local.bench.world import RAW


def _plain(settings: Settings) -> Callable[..., Contender]:
    return lambda name, world, _: Plain(name, world, settings)


def _plain_raw(settings: Settings) -> Callable[..., Contender]:
    return lambda name, world, _: Plain(name, world, settings, None)


def _available_now(settings: Settings) -> Callable[..., Contender]:
    return lambda name, world, _: AvailableNow(name, world, settings)


ENTRIES: dict[str, Entry[ServerStage]] = {
    "raw-limit": Entry(
        "librdkafka to Arrow to Parquet, two processes: no decoding, commit or proof",
        lambda name, world, _: RawLimit(name, world),
    ),
    "plain": Entry("plain Spark batch job, as users run it", _plain(as_users_run_it)),
    "plain-flags": Entry("the same with our JVM settings", _plain(with_our_jvm)),
    "plain-all-flags": Entry(
        "the same with our JVM and session settings", _plain(with_all_ours), usual=False
    ),
    "available-now": Entry(
        "Structured Streaming, availableNow, as users run it", _available_now(as_users_run_it)
    ),
    "available-now-flags": Entry("the same with our JVM settings", _available_now(with_our_jvm)),
    "available-now-all-flags": Entry(
        "the same with our JVM and session settings", _available_now(with_all_ours), usual=False
    ),
    "run-cold": Entry(
        "`sluice run`, starting a Spark of its own", lambda name, world, _: ColdRun(name, world)
    ),
    "run-warm": Entry(
        "`sluice run` on a warm Spark server",
        lambda name, world, stage: WarmRun(name, world, Place(stage.server.connection)),
    ),
    "nothing-new": Entry(
        "`sluice run` when all has been read", lambda name, world, _: NothingNew(name, world)
    ),
    "ingest": Entry(
        "jobs/ingest.py alone, planned before", lambda name, world, _: Ingest(name, world)
    ),
    "plain-raw": Entry("plain Spark batch job, values not decoded", _plain_raw(as_users_run_it)),
    "plain-raw-flags": Entry(
        "the same with our JVM settings", _plain_raw(with_our_jvm), usual=False
    ),
    "ingest-raw": Entry(
        "jobs/ingest.py alone, format raw", lambda name, world, _: Ingest(name, world, RAW)
    ),
}
COMPETITION = Competition("local.bench", ServerStage, ENTRIES, COMPARISONS, (MANY, FEW))
