"""Scenarios: what happens to a pipeline before the oracle judges it.

    python -m tests.mutations.scenarios NAME BOOTSTRAP FOLDER

Prints the broken invariants as JSON. It runs in a process of its own, so that a mutated package
can take the place of ours. Its batches land without Spark, unless the connection spark_default says
where there is one, which all share. A product that notices its own mutation and stops is judged as
well.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import uuid
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deltalake import DeltaTable
from sluice.errors import TableRefused
from sluice.lake.opened import SparkEngine
from sluice.tables.offsets_appends import append_plan

from local.embedded.broker import Broker
from local.embedded.topics import create_topic
from tests.oracle import read_truth
from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.left_out import land_without
from tests.worlds.pipelines import Installed, more
from tests.worlds.records import (
    delete_records,
    delete_topic,
    end,
    numbered,
    produce,
    send,
    transactional,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from sluice.progress.resources import PipelineResources

# Where Spark is; unset, batches land without it.
CONNECTION = "AIRFLOW_CONN_SPARK_DEFAULT"
Expectations = dict[str, Any]
JSON = {"type": "json", "schema": "id BIGINT"}
SCENARIOS: dict[str, Callable[[Installed], Expectations | None]] = {}


def scenario(function: Callable[[Installed], Expectations | None]) -> None:
    SCENARIOS[function.__name__.replace("_", " ")] = function


@scenario
def plain_records(trips: Installed) -> None:
    more(trips, 10)
    trips.run()


@scenario
def an_open_transaction(trips: Installed) -> Expectations:
    more(trips, 3)
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(2, 3))
    trips.plan()
    return {"settled": False, "caught_up": False}


@scenario
def an_aborted_transaction(trips: Installed) -> None:
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(4))
    producer.abort_transaction(30)
    more(trips, 3)
    trips.run()


@scenario
def a_plan_that_was_left(trips: Installed) -> None:
    more(trips, 10)
    trips.plan()
    more(trips, 10, 10)
    trips.ingest(trips.plan())
    trips.run()


@scenario
def a_plan_that_nobody_has_landed(trips: Installed) -> Expectations:
    more(trips, 10)
    trips.run()
    more(trips, 10, 10)
    trips.plan()
    trips.settle()
    return {"caught_up": False}


@scenario
def two_planners(trips: Installed) -> Expectations:
    from sluice.errors import CommitConflict
    from sluice.offsets.origin import Origin
    from sluice.progress.lane_state import read_unchecked
    from sluice.protocol.plan.known_logs import KnownLogs
    from sluice.protocol.plan.write_plan import next_plan

    more(trips, 10)
    resources = trips.open().resources
    lane = read_unchecked(resources)
    new = next_plan(resources, lane, KnownLogs(resources.kafka.state(resources.spec)))
    snapshot = resources.offsets.snapshot_to_write()
    for _ in range(2):
        with contextlib.suppress(CommitConflict):
            append_plan(snapshot, new, Origin("run", "test", datetime.now(UTC)))
            snapshot = resources.offsets.snapshot()
    return {"settled": False, "caught_up": False}


@scenario
def the_same_batch_twice(trips: Installed) -> None:
    more(trips, 10)
    work = trips.plan()
    for _ in range(2):
        with contextlib.suppress(Exception):
            trips.ingest(work)
    trips.settle()


@scenario
def a_malformed_record(trips: Installed) -> None:
    trips.write_spec(format=JSON, quarantine={"max_ratio": 0.5})
    produce(trips.bootstrap, trips.topics[0], [*numbered(4), b"{broken"])
    trips.run()


@scenario
def two_kinds_of_record(trips: Installed) -> Expectations:
    trips.write_spec(only={"header": "kind", "value": "order"})
    topic = trips.topics[0]
    produce(trips.bootstrap, topic, numbered(4), headers=[("kind", b"order")])
    produce(trips.bootstrap, topic, numbered(3), headers=[("kind", b"click")])
    trips.run()
    return {"keeps": lambda found: found["headers"] == [{"key": "kind", "value": b"order"}]}


@scenario
def a_schema_mended_after_an_attempt_has_died(trips: Installed) -> None:
    from sluice.errors import SparkFailed
    from sluice.failpoints import reaching

    def dies(point: str) -> None:
        if point == "quarantine written":
            raise SparkFailed("the process dies")

    strict = {"type": "json", "schema": "id BIGINT, n INT"}
    trips.write_spec(format=strict, quarantine={"max_ratio": 1})
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 1, "n": "A"}'] * 3)
    with contextlib.suppress(SparkFailed), reaching(dies):
        trips.run()
    trips.write_spec(format=JSON)
    trips.run()


@scenario
def a_rewind(trips: Installed) -> None:
    from sluice.operations.reset.targets import to_earliest

    more(trips, 10)
    trips.run()
    trips.open().reset(to_earliest, "a scenario", "run", "test")
    trips.run()


@scenario
def a_backfill(trips: Installed) -> None:
    from sluice.operations.backfill.selection import offset_ranges

    more(trips, 10)
    trips.run()
    more(trips, 5, 10)
    everything = offset_ranges([f"{trips.topics[0]}[0] [0, 15)"])
    trips.ingest(trips.open().backfill(everything, "test", "test").work)
    trips.run()


@scenario
def a_backfill_of_the_middle(trips: Installed) -> None:
    from sluice.operations.backfill.selection import offset_ranges

    more(trips, 10)
    trips.run()
    middle = offset_ranges([f"{trips.topics[0]}[0] [3, 6)"])
    trips.ingest(trips.open().backfill(middle, "test", "test").work)
    trips.settle()


@scenario
def a_backfill_of_a_record_that_was_compacted(trips: Installed) -> None:
    """It is the only one that is gone; the partitions beside its own still hold its offset."""
    from sluice.operations.backfill.selection import offset_ranges

    name = f"{trips.topics[0]}-compacted"
    settings = {key.replace("_", "."): str(value) for key, value in COMPACTED.items()}
    assert create_topic(trips.bootstrap, name, 3, settings)
    trips.topics = [name]
    trips.write_spec()
    for partition in range(3):
        for key in (b"1", b"2", b"3"):
            produce(trips.bootstrap, name, numbered(1), partition, key=key)
    for key in (b"2", *[b"others"] * 5):
        produce(trips.bootstrap, name, numbered(1), key=key)
    trips.run()
    compact(trips.bootstrap, [name])
    again = offset_ranges([f"{name}[{partition}] [0, 3)" for partition in range(3)])
    trips.ingest(trips.open().backfill(again, "test", "test").work)
    trips.run()


@scenario
def a_log_that_was_replaced(trips: Installed) -> Expectations:
    return replaced_log(trips, lambda: None)


@scenario
def a_log_that_was_replaced_after_a_reset(trips: Installed) -> Expectations:
    from sluice.operations.reset.targets import shift_by

    return replaced_log(trips, lambda: trips.open().reset(shift_by(0), "a scenario", "run", "test"))


def replaced_log(trips: Installed, before: Callable[[], object]) -> Expectations:
    """A broker of its own comes back with an older copy, which grows over the cursor."""
    name, folder = trips.topics[0], trips.folder / "broker"
    with Broker(folder) as broker:
        trips.bootstrap = broker.bootstrap
        assert create_topic(broker.bootstrap, name, 1, {})
        more(trips, 5)
        broker.stop()
        copy = shutil.copytree(folder / "data", trips.folder / "copy")
        broker.start()
        more(trips, 5, 5)
        trips.run()
        truth = read_truth(broker.bootstrap, [name])
        before()
        broker.stop()
        shutil.rmtree(folder / "data")
        shutil.copytree(copy, folder / "data")
        broker.start()
        more(trips, 10, 1000)
        with contextlib.suppress(Exception):
            trips.run()
        noticed = len(trips.ranges()) == 1
        return {"truth": truth if noticed else read_truth(broker.bootstrap, [name]), "group": None}


@scenario
def a_zombie_after_a_reset(trips: Installed) -> None:
    zombie_after(trips, trips.open().resources)


@scenario
def a_zombie_after_a_fence_that_was_overwritten(trips: Installed) -> None:
    from tests.mutations.overwritten import Overwritten

    resources = trips.open().resources
    zombie_after(trips, replace(resources, data=Overwritten(resources.data.uri)))


def zombie_after(trips: Installed, resetting: PipelineResources) -> None:
    """A Spark application that was past all checks when the reset came."""
    from sluice.lake.port import BatchAttempt
    from sluice.offsets.origin import Origin
    from sluice.operations.reset.close_generation import reset
    from sluice.operations.reset.targets import to_earliest
    from sluice.progress.lane_state import read_unchecked

    more(trips, 10)
    trips.run()
    more(trips, 5, 10)
    work = trips.plan()
    pipeline = trips.open()
    batch = read_unchecked(pipeline.resources).history.batch(work.batches[0])
    reset(resetting, to_earliest, "a scenario", Origin("run", "test", datetime.now(UTC)))
    with pipeline.open_lake() as lake:
        lake.land(BatchAttempt(batch, tuple(each.offsets for each in batch.ranges), "late"))
    trips.run()


@scenario
def records_that_retention_took(trips: Installed) -> Expectations:
    more(trips, 10)
    trips.run()
    truth = read_truth(trips.bootstrap, trips.topics)
    more(trips, 10, 10)
    delete_records(trips.bootstrap, trips.topics[0], 15)
    trips.write_spec(on_data_loss="record")
    trips.run()
    return {"remembered": truth}


@scenario
def a_restored_table(trips: Installed) -> None:
    more(trips, 10)
    trips.run()
    more(trips, 10, 10)
    DeltaTable(trips.data).restore(0)
    with contextlib.suppress(Exception):
        trips.run()
    if trips.offsets("committed")[-1]["batch_id"] == 1:
        from sluice.operations.reset.targets import to_table

        trips.open().reset(to_table, "a scenario", "run", "test")
        trips.run()


@scenario
def a_table_put_back_after_a_reset(trips: Installed) -> None:
    from sluice.operations.reset.targets import shift_by

    more(trips, 10)
    trips.run()
    copy = shutil.copytree(trips.data, trips.folder / "last night")
    more(trips, 10, 10)
    trips.run()
    trips.open().reset(shift_by(0), "a scenario", "run", "test")
    newer = trips.data.rename(trips.folder / "newer")
    copy.rename(trips.data)
    more(trips, 10, 20)
    with contextlib.suppress(TableRefused):
        trips.run()
        return
    trips.data.rename(copy)
    newer.rename(trips.data)
    trips.run()


@scenario
def a_topic_created_anew(trips: Installed) -> Expectations:
    name = trips.topics[0]
    more(trips, 10)
    trips.run()
    truth = read_truth(trips.bootstrap, [name])
    delete_topic(trips.bootstrap, name)
    assert create_topic(trips.bootstrap, name, 1, {})
    more(trips, 15)
    with contextlib.suppress(Exception):
        trips.run()
    # What the new topic holds is not the pipeline's, as long as nobody has decided so.
    noticed = len(trips.ranges()) == 1
    return {"truth": truth} if noticed else {"remembered": truth}


@scenario
def files_vacuumed_before_the_receipt(trips: Installed) -> None:
    more(trips, 3)
    trips.run()
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], numbered(2))
    end(trips.bootstrap, trips.topics[0], producer, commit=True)
    trips.ingest(trips.plan())
    table = DeltaTable(trips.data)
    table.optimize.compact()
    table.vacuum(retention_hours=0, enforce_retention_duration=False, dry_run=False)
    with contextlib.suppress(FileNotFoundError):
        trips.settle()


@scenario
def a_record_left_out(trips: Installed) -> Expectations:
    from sluice.errors import GapUnexplained
    from sluice.operations.backfill.selection import offset_ranges

    trips.write_spec(on_data_loss="record")
    more(trips, 10)
    trips.run()
    more(trips, 10, 10)
    faulty = land_without(trips, trips.plan(), 15, read_truth(trips.bootstrap, trips.topics))
    with contextlib.suppress(GapUnexplained):
        trips.settle()
    gap = offset_ranges([f"{trips.topics[0]}[0] [15, 16)"])
    trips.ingest(trips.open().backfill(gap, "test", "test").work)
    trips.settle()
    return {"altered": frozenset({faulty})}


def spark(trips: Installed) -> AbstractContextManager[SparkSession]:
    """The pipeline's session, where the connection says; the package may be a mutated one."""
    from sluice.pipeline import find_pipeline

    found = find_pipeline(trips.name, {**trips.environment, CONNECTION: os.environ[CONNECTION]})
    assert isinstance(found.engine, SparkEngine)
    return found.engine.open_spark(found.spec, None)


def main(name: str, bootstrap: str, folder: str) -> None:
    topic = f"mutation-{uuid.uuid4().hex[:12]}"
    assert create_topic(bootstrap, topic, 1, {})
    with contextlib.ExitStack() as at_the_end:
        session = cache(lambda: at_the_end.enter_context(spark(trips)))
        written = CONNECTION not in os.environ
        trips = Installed(Path(folder), bootstrap, [topic], session, written=written)
        print(json.dumps(found_in(trips, name)), flush=True)


def found_in(trips: Installed, name: str) -> dict[str, Any]:
    """What the oracle says after the scenario."""
    trips.write_spec()
    stopped, expectations = None, None
    try:
        expectations = SCENARIOS[name](trips)
    except Exception as problem:
        stopped = f"{type(problem).__name__}: {problem}"
    verdict = trips.verdict(**(expectations or {}))
    return {
        "broken": sorted(verdict.invariants),
        "planned": verdict.facts.planned,
        "verdict": str(verdict),
        "stopped": stopped,
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
