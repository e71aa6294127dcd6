"""What others do to the data table: some of it stops the line, with the way back; some does not."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction
from sluice.errors import CommitConflict, ResetNeeded, TableRefused
from sluice.offsets.batches import BatchSequence
from sluice.operations.reset.targets import Target, shift_by, to_earliest, to_latest, to_table
from sluice.tables.delta_log import DeltaLog

from tests.worlds.pipelines import Installed, Pipelines, Topic, landed
from tests.worlds.processes import killed_at
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

RETENTION = "delta.setTransactionRetentionDuration"


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline that has landed two batches of ten records."""
    return landed(pipeline(topic()))


def more(trips: Installed, first: int) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(10, first))


def sql(trips: Installed, statement: str) -> None:
    trips.session().sql(statement.format(t=f"delta.`{trips.data}`")).collect()


def refused(trips: Installed, *texts: str) -> None:
    """Neither planning nor settling goes on, and nothing was written."""
    before = len(trips.rows("trips__offsets"))
    more(trips, 20)
    for verb in (trips.plan, trips.settle):
        with pytest.raises(TableRefused) as problem:
            verb()
        for text in texts:
            assert text in str(problem.value)
    assert len(trips.rows("trips__offsets")) == before


def exact(trips: Installed, rows: int, *altered: int) -> None:
    trips.run()
    assert trips.judge(altered=frozenset(altered)).facts.rows == rows


@pytest.mark.spark
def test_what_others_made_of_the_table_is_refused_until_it_is_taken_back(
    trips: Installed,
) -> None:
    replaced = is_replaced(trips)
    exact(trips, 30, replaced)
    is_a_clone(trips)
    exact(trips, 40, replaced)
    is_created_anew(trips)
    exact(trips, 50, replaced)
    has_a_second_writer(trips)
    exact(trips, 60, replaced)
    forgets_its_transactions(trips)
    exact(trips, 70, replaced)


def is_replaced(trips: Installed) -> int:
    version = trips.version()
    assert version is not None
    rows = trips.session().range(3).writeTo(f"delta.`{trips.data}`")
    rows.using("delta").createOrReplace()
    refused(
        trips,
        f"version {version + 1} is a CREATE OR REPLACE TABLE",
        f"RESTORE the table to version {version}",
    )
    sql(trips, f"RESTORE TABLE {{t}} TO VERSION AS OF {version}")
    return version + 1


def is_a_clone(trips: Installed) -> None:
    original = trips.folder / "original"
    trips.data.rename(original)
    trips.session().sql(f"CREATE TABLE delta.`{trips.data}` SHALLOW CLONE delta.`{original}`")
    refused(trips, "is a CLONE", "Put the original back")
    shutil.rmtree(trips.data)
    original.rename(trips.data)


def is_created_anew(trips: Installed) -> None:
    aside = trips.folder / "aside"
    trips.data.rename(aside)
    sql(
        trips,
        "CREATE TABLE {t} (value BINARY) USING delta TBLPROPERTIES ('sluice.pipeline' = 'trips')",
    )
    refused(trips, "expected Delta table", "another is in its place", "sluice recover trips")
    shutil.rmtree(trips.data)
    aside.rename(trips.data)


def has_a_second_writer(trips: Installed) -> None:
    version = DeltaTable(trips.data).version()
    foreign = CommitProperties(app_transactions=[Transaction("a-streaming-query", 7)])
    table = DeltaTable(trips.data)
    table.create_write_transaction([], "append", table.schema(), commit_properties=foreign)
    refused(trips, f"version {version + 1}", "'a-streaming-query'", "another writer")
    sql(trips, f"RESTORE TABLE {{t}} TO VERSION AS OF {version}")


def forgets_its_transactions(trips: Installed) -> None:
    sql(trips, f"ALTER TABLE {{t}} SET TBLPROPERTIES ('{RETENTION}' = 'interval 1 days')")
    refused(trips, RETENTION, "'interval 1 days'", "UNSET TBLPROPERTIES")
    sql(trips, f"ALTER TABLE {{t}} UNSET TBLPROPERTIES ('{RETENTION}')")


def test_a_copied_spec_that_names_the_table_of_another_pipeline_stops_itself_only(
    trips: Installed,
) -> None:
    copy = replace(trips, name="copies", keys={})
    copy.write_spec(table="trips")
    for verb in (copy.plan, lambda: copy.open().maintain("test", "pytest")):
        with pytest.raises(TableRefused, match=r"found 'trips', whose table it is\. Choose"):
            verb()
    more(trips, 20)
    exact(trips, 30)


@pytest.mark.spark
def test_a_restore_by_timestamp_is_understood(trips: Installed) -> None:
    first = trips.offsets("committed")[0]["data_version"]
    at = trips.session().sql(f"DESCRIBE HISTORY delta.`{trips.data}`")
    stamp = at.where(f"version = {first}").collect()[0]["timestamp"]
    sql(trips, f"RESTORE TABLE {{t}} TO TIMESTAMP AS OF '{stamp}'")
    with pytest.raises(ResetNeeded, match="found forward-1-2 undone"):
        trips.plan()
    trips.open().reset(to_table, "a test", "run", "pytest")
    exact(trips, 20)


@pytest.mark.spark
def test_a_restore_by_timestamp_that_was_judged_blocks_nothing_once_its_version_is_gone(
    trips: Installed,
) -> None:
    """Log cleanup has removed the version that it went back to, and not yet the RESTORE."""
    kept = trips.version()
    sql(trips, "DELETE FROM {t} WHERE _offset = 3")
    at = trips.session().sql(f"DESCRIBE HISTORY delta.`{trips.data}`")
    stamp = at.where(f"version = {kept}").collect()[0]["timestamp"]
    sql(trips, f"RESTORE TABLE {{t}} TO TIMESTAMP AS OF '{stamp}'")
    more(trips, 10)
    trips.run()
    DeltaTable(trips.data).create_checkpoint()
    for commit in sorted(trips.data.glob("_delta_log/*.json")):
        if int(commit.stem) <= (kept or 0) + 1:
            commit.unlink()
    preview = trips.open().preview_reset(shift_by(-5))
    assert [each.reread for each in preview.reset.cursor] == [5]
    trips.open().reset(shift_by(-5), "a test", "run", "pytest")
    exact(trips, 30)


@pytest.mark.spark
def test_a_plan_made_before_a_restore_does_not_land_after_it(trips: Installed) -> None:
    more(trips, 20)
    work = trips.plan()
    sql(trips, "RESTORE TABLE {t} TO VERSION AS OF 1")
    with pytest.raises(ResetNeeded, match="forward-1-2 undone"):
        trips.ingest(work)
    assert len(trips.rows()) == 10
    trips.open().reset(to_table, "a test", "run", "pytest")
    exact(trips, 30)


@pytest.mark.spark
def test_maintenance_and_added_columns_are_no_reason_to_stop(trips: Installed) -> None:
    sql(trips, "OPTIMIZE {t}")
    sql(trips, "ALTER TABLE {t} ADD COLUMNS (note STRING)")
    more(trips, 20)
    trips.run()
    trips.session().conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    sql(trips, "VACUUM {t} RETAIN 0 HOURS")
    more(trips, 30)
    exact(trips, 40)


@pytest.mark.spark
def test_deleted_rows_are_told_from_lost_ones(trips: Installed) -> None:
    sql(trips, "DELETE FROM {t} WHERE _offset IN (3, 4, 15)")
    more(trips, 20)
    trips.run()
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stderr
    assert "3 rows deleted by others" in done.stdout
    verdict = trips.sluice("verify", "--json")
    assert '"DELETE"' in verdict.stdout


def laid_out(topic: Topic, pipeline: Pipelines, **layout: list[str]) -> Installed:
    trips = pipeline(topic(), format={"type": "json", "schema": "id BIGINT, city STRING"}, **layout)
    values = [b'{"id": 1, "city": "Bonn"}', b'{"id": 2, "city": "Lima"}', None]
    produce(trips.bootstrap, trips.topics[0], values)
    trips.run()
    return trips


def test_a_partitioned_table_is_reset(topic: Topic, pipeline: Pipelines) -> None:
    trips = laid_out(topic, pipeline, partition_by=["city"])
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    exact(trips, 3)
    assert {row["_batch"] for row in trips.rows()} == {"forward-2-1"}


@pytest.mark.spark
def test_a_clustered_table_is_reset(topic: Topic, pipeline: Pipelines) -> None:
    """Its fence is written by Sluice itself: delta-rs does not write such tables."""
    trips = laid_out(topic, pipeline, cluster_by=["city"])
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    exact(trips, 3)
    assert {row["_batch"] for row in trips.rows()} == {"forward-2-1"}
    trips.session().sql(f"OPTIMIZE delta.`{trips.data}`").collect()
    exact(trips, 3)
    assert trips.sluice("verify").returncode == 0


@pytest.mark.spark
def test_a_fence_on_a_clustered_table_gives_way_to_a_batch_that_has_landed(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = laid_out(topic, pipeline, cluster_by=["city"])
    decided_on = trips.open().resources.data.snapshot().fencing()
    assert decided_on is not None
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 4}'])
    trips.run()
    closed = BatchSequence(trips.name, "forward", 1)
    with pytest.raises(CommitConflict, match="is another commit's"):
        decided_on.close([closed], datetime.now(UTC))
    assert not trips.open().resources.data.snapshot().closed(closed)
    exact(trips, 4)


@pytest.mark.spark
def test_a_table_whose_every_commit_needs_more_is_not_reset(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = laid_out(topic, pipeline)
    stamped = "SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')"
    trips.session().sql(f"ALTER TABLE delta.`{trips.data}` {stamped}")
    with pytest.raises(TableRefused, match=r"found inCommitTimestamp"):
        trips.open().reset(to_earliest, "a test", "run", "pytest")
    assert trips.offsets("reset_intended") == []
    exact(trips, 3)


@pytest.mark.parametrize("moves", [shift_by(0), to_latest], ids=["stays", "skips"])
def test_a_restore_behind_a_reset_is_noticed(trips: Installed, moves: Target) -> None:
    """The new generation has no batch yet: what the restore took away is of the one before."""
    more(trips, 20)
    held = trips.version()
    trips.open().reset(moves, "a test", "run", "pytest")
    assert held is not None
    DeltaTable(trips.data).restore(held - 1)
    with pytest.raises(ResetNeeded, match=r"found forward-1-2 undone: .*\[10, 20\)"):
        trips.plan()
    trips.open().reset(to_table, "a test", "run", "pytest")
    assert trips.plan().sequence.generation == 3
    exact(trips, 30)


@pytest.mark.spark
def test_a_reset_that_cannot_be_finished_after_a_restore_gives_way(trips: Installed) -> None:
    killed = trips.process(
        *("reset", "--shift-by", "0", "--execute", "--reason", "a test"),
        **killed_at("reset intended"),
    )
    assert len(trips.offsets("reset_intended")) == 2, killed.stderr
    version = trips.version()
    assert version is not None
    DeltaTable(trips.data).restore(version - 1)
    with pytest.raises(ResetNeeded, match="--to-table` first; then this one"):
        trips.plan()
    done = trips.open().reset(to_table, "back", "run", "pytest")
    assert done.closed_at == {"forward": 1, "backfill": 0}
    exact(trips, 20)


def test_after_a_restore_that_was_dealt_with_a_reset_goes_on_from_its_own_opening(
    trips: Installed,
) -> None:
    version = trips.version()
    assert version is not None
    DeltaTable(trips.data).restore(version - 1)
    trips.open().reset(to_table, "a test", "run", "pytest")
    trips.run()
    more(trips, 20)
    trips.open().reset(to_latest, "a test", "run", "pytest")
    stays = trips.open().reset(shift_by(0), "another", "run", "pytest")
    assert [(each.before, each.after.offsets.start) for each in stays.cursor] == [(30, 30)]
    more(trips, 30)
    trips.run()
    assert trips.ranges()["forward-4-1"] == {"[0]": (30, 40)}
    assert trips.judge().facts.rows == 30


@pytest.mark.spark
@pytest.mark.parametrize("feature", ["rowTracking", "allowColumnDefaults"])
def test_a_feature_that_delta_rs_does_not_write_stops_nothing(
    trips: Installed, feature: str
) -> None:
    sql(trips, f"ALTER TABLE {{t}} SET TBLPROPERTIES ('delta.feature.{feature}' = 'supported')")
    more(trips, 20)
    exact(trips, 30)
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    exact(trips, 30)
    assert {row["_batch"] for row in trips.rows()} == {"forward-2-1"}


@pytest.mark.spark
def test_what_a_dropped_feature_leaves_behind_stops_neither_reset_nor_recovery(
    trips: Installed,
) -> None:
    sql(trips, "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    sql(trips, "ALTER TABLE {t} DROP FEATURE deletionVectors")
    assert "checkpointProtection" in (DeltaTable(trips.data).protocol().writer_features or [])
    trips.open().reset(to_earliest, "a test", "run", "pytest")
    exact(trips, 20)
    shutil.rmtree(f"{trips.data}__offsets")
    done = trips.sluice("recover", "--execute", "--reason", "a test")
    assert done.returncode == 0, done.stderr
    more(trips, 20)
    exact(trips, 30)
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stdout


@pytest.mark.spark
def test_a_table_with_deletion_vectors_can_be_reset(trips: Installed) -> None:
    sql(trips, "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    pipeline = trips.open()
    (affected,) = pipeline.preview_reset(to_earliest).affected.values()
    assert affected.rows == 20
    pipeline.reset(to_earliest, "a test", "run", "pytest")
    exact(trips, 20)


@pytest.mark.spark
def test_rows_that_deletion_vectors_hide_are_none(trips: Installed) -> None:
    sql(trips, "ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    for left in ("MOD(_offset, 10) > 3", "MOD(_offset, 10) > 8", "_offset < 0"):
        assert not DeltaLog(str(trips.data)).snapshot().is_empty
        sql(trips, f"DELETE FROM {{t}} WHERE NOT ({left})")
    assert DeltaLog(str(trips.data)).snapshot().is_empty
