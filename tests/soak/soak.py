"""The soak itself: everything starts, the faults strike, everything heals, and is judged."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from local.embedded.broker import Broker
from local.embedded.topics import create_topic
from tests.faults.striking import faulty_log_store
from tests.soak.attempts import Attempts
from tests.soak.diary import Diary
from tests.soak.judgement import Judgement, judge
from tests.soak.parcels import plain, transactions
from tests.soak.producers import Producing, Target
from tests.soak.reader import Reader
from tests.soak.scene import Scene
from tests.soak.schedule import faults
from tests.soak.strikes import strike
from tests.worlds.pipelines import Installed, no_spark
from tests.worlds.records import end

TOPIC, PARTITIONS = "soak", 4
# Kafka's default. With less, a killed broker that comes back may leave a transaction open forever:
# it ends those that timed out before its partitions have a leader, and passes over them.
BROKER = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "10000"}
THREADS = 64
LAST_RUNS, LAST_PATIENCE = 5, 1200.0
TELL_EVERY = 15.0
KEYS = {
    "format": {"type": "json", "schema": "id BIGINT, note STRING"},
    "quarantine": {"max_ratio": 0.5},
    "max_records_per_batch": 2_000,
    "max_batches_per_run": 10,
}


@dataclass(frozen=True)
class Plan:
    """What is asked for: the seed decides about all that is random."""

    seed: int
    minutes: float
    rate: int

    @property
    def seconds(self) -> float:
        return 60 * self.minutes


@dataclass
class Soak:
    """One soak in a folder of its own; `tell` prints a line on how it goes."""

    plan: Plan
    folder: Path
    tell: Callable[[str], None]
    diary: Diary = field(init=False)
    healing: threading.Event = field(default_factory=threading.Event)
    judged: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.diary = Diary(self.folder / "diary.txt")

    def go(self) -> tuple[Scene, Reader, Judgement]:
        where = self.folder / "broker"
        with Broker(where, settings=BROKER) as broker, ThreadPoolExecutor(THREADS) as pool:
            scene = self._scene(broker)
            reader = Reader(scene.trips.data)
            with self._cleared(scene):
                reading = pool.submit(reader.watch, self.judged)
                self._storm(scene, reader, pool)
                self._heal(scene)
                self.judged.set()
                self._done(reading)
                self.tell("judging")
                scene.attempts.judge()
                return scene, reader, judge(scene.trips, reader.sightings)

    @contextmanager
    def _cleared(self, scene: Scene) -> Iterator[None]:
        """However it ends: every thread does, and no process of the product is left."""
        try:
            yield
        finally:
            self.healing.set()
            self.judged.set()
            scene.attempts.clear_away()

    def _scene(self, broker: Broker) -> Scene:
        create_topic(broker.bootstrap, TOPIC, PARTITIONS, {"retention.ms": "-1"})
        where, classes = self.folder / "pipeline", self.folder / "classes"
        where.mkdir()
        classes.mkdir()
        trips = Installed(where, broker.bootstrap, [TOPIC], no_spark)
        trips.write_spec(spark=faulty_log_store(classes), **KEYS)
        attempts = Attempts(trips, self.diary, self.healing)
        target = Target(broker.bootstrap, TOPIC, PARTITIONS)
        return Scene(broker, target, trips, attempts, self.diary, self.healing)

    def _storm(self, scene: Scene, reader: Reader, pool: ThreadPoolExecutor) -> None:
        seed, seconds, rate = self.plan.seed, self.plan.seconds, self.plan.rate
        self.diary.begin()
        threads = [pool.submit(scene.attempts.keep_running)]
        for parcels in (plain(seed, seconds, rate), transactions(seed, seconds, rate)):
            producing = Producing(scene.target, self.diary, self.healing)
            threads.append(pool.submit(producing.go, parcels))
        telling = pool.submit(self._tell_along, scene, reader)
        for fault in faults(seed, seconds):
            self.healing.wait(max(0.0, fault.at - self.diary.now))
            threads.append(pool.submit(strike, scene, fault))
        self.healing.wait(max(0.0, seconds - self.diary.now))
        self.tell("healing: every fault ends, then one more run")
        self.healing.set()
        wait_for([*threads, telling])
        for thread in threads:
            self._done(thread)

    def _tell_along(self, scene: Scene, reader: Reader) -> None:
        while not self.healing.wait(TELL_EVERY):
            version = reader.sightings[-1].version if reader.sightings else "none"
            self.tell(
                f"{self.diary.now:4.0f} s: {self.diary.injected.total()} faults,"
                f" {len(scene.attempts.all)} processes, table version {version}"
            )

    def _heal(self, scene: Scene) -> None:
        """No fault is in force any more: the next run catches up, and the one after says so."""
        scene.attempts.end_all()
        self._await_open_transactions(scene)
        scene.attempts.failpoints.clear()
        for _ in range(LAST_RUNS):
            last = scene.attempts.wait(scene.attempts.start("run"), LAST_PATIENCE)
            if last.how != "ok":
                self.diary.find(f"{last}, with no fault in force, ended with {last.how}")
                return
            if "nothing new" in last.output():
                return
        self.diary.find(f"{LAST_RUNS} runs after the last fault have not caught up")

    def _await_open_transactions(self, scene: Scene) -> None:
        """The broker ends those whose producers have died."""
        for _ in range(3):
            try:
                end(scene.target.bootstrap, TOPIC, commit=True, partitions=PARTITIONS)
            except AssertionError:
                continue
            return
        self.diary.find("Kafka: a transaction stays open, although its time is over")

    def _done(self, thread: Future[None]) -> None:
        if problem := thread.exception():
            self.diary.find(f"the soak itself: {problem!r}")
