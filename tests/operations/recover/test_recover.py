"""The offsets table is lost, old, damaged, or of another data table: `sluice recover`."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.errors import GapUnexplained, OffsetsDamaged, SluiceError, TableRefused
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import shift_by, to_earliest
from sluice.registry.kept_schemas import KeptSchemas
from sluice.schemas.registered import RegisteredSchema

from local.embedded.waiting import until
from tests.worlds.altered_tables import clean_the_log
from tests.worlds.pipelines import Installed, Pipelines, Topic, landed, more
from tests.worlds.processes import Run, killed_at
from tests.worlds.records import delete_records, end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline of two partitions, one of them idle, that has landed two batches of ten."""
    return landed(pipeline(topic(2)))


def offsets_of(trips: Installed) -> Path:
    return trips.warehouse / "trips__offsets"


def refused(trips: Installed, *texts: str) -> None:
    """Nothing goes on; the way back is named."""
    for step in (trips.plan, trips.settle, lambda: trips.open().preview_reset(to_earliest)):
        with pytest.raises(TableRefused) as problem:
            step()
        for text in (*texts, "`sluice recover trips`"):
            assert text in str(problem.value)


def recover(trips: Installed) -> str:
    """Preview, then do it; what was printed."""
    before = sorted(trips.warehouse.rglob("*"))
    shown = trips.sluice("recover")
    assert (shown.returncode, "Nothing was changed" in shown.stdout) == (0, True), shown.stderr
    assert sorted(trips.warehouse.rglob("*")) == before
    done = trips.sluice("recover", "--execute", "--reason", "the disk was replaced")
    assert done.returncode == 0, done.stderr
    again = trips.sluice("recover", "--execute", "--reason", "once more")
    assert "nothing to recover" in again.stdout, again.stderr
    return done.stdout


def exact(trips: Installed, rows: int, **known: object) -> None:
    trips.run()
    assert trips.judge(**known).facts.rows == rows
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stderr


def test_a_lost_offsets_table_is_built_from_the_log(trips: Installed) -> None:
    read_again(trips, 0, 5)
    trips.open().reset(shift_by(-5), "a rewind", "run", "pytest")
    more(trips, 10, 20)
    trips.run()
    shutil.rmtree(offsets_of(trips))
    refused(trips, "the offsets table is an older one, or lost")
    recover(trips)
    assert trips.ranges()["forward-2-1"] == {"[0]": (15, 30), "[1]": (0, 0)}
    closed = {
        (row["generation"], row["lane"]): row["closed_at"] for row in trips.offsets("reset_done")
    }
    assert closed == {
        (2, "forward"): 2,
        (2, "backfill"): 1,
        (3, "forward"): 1,
        (3, "backfill"): 0,
    }
    more(trips, 10, 30)
    exact(trips, 40)
    assert trips.ranges()["forward-3-1"] == {"[0]": (30, 40), "[1]": (0, 0)}


def read_again(trips: Installed, start: int, end: int) -> None:
    selection = offset_ranges([f"{trips.topics[0]}[0] [{start}, {end})"])
    trips.ingest(trips.open().backfill(selection, "run", "pytest").work)
    trips.settle()


@pytest.mark.spark
def test_the_offsets_table_of_a_clustered_table_is_built_as_well(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic(2), cluster_by=["_offset"]))
    shutil.rmtree(offsets_of(trips))
    recover(trips)
    more(trips, 10, 20)
    exact(trips, 30)


def test_an_older_offsets_table_goes_on_where_it_ends(trips: Installed) -> None:
    backup = trips.folder / "backup"
    shutil.copytree(offsets_of(trips), backup)
    more(trips, 10, 20)
    trips.run()
    trips.open().reset(shift_by(0), "a test", "run", "pytest")
    more(trips, 10, 30)
    trips.run()
    shutil.rmtree(offsets_of(trips))
    backup.rename(offsets_of(trips))
    refused(trips)
    said = recover(trips)
    assert "2 batches from the data table's log: forward-1-3 … forward-2-1" in said
    assert {row["actor"] for row in trips.offsets("planned") if row["batch_id"] < 3} >= {"pytest"}
    more(trips, 10, 40)
    exact(trips, 50)


def rows_deleted(offsets: Path) -> None:
    table = DeltaTable(offsets)
    table.alter.set_table_properties({"delta.appendOnly": "false"})
    table.delete("event = 'planned'")


def file_lost(offsets: Path) -> None:
    for each in offsets.glob("event=planned/*.parquet"):
        each.unlink()


def old_file_lost(offsets: Path) -> None:
    """No run reads it; `history` does."""
    oldest = min(offsets.glob("event=committed/*.parquet"), key=lambda each: each.stat().st_mtime)
    oldest.unlink()


def test_a_file_that_only_some_commands_read_is_missed_all_the_same(trips: Installed) -> None:
    old_file_lost(offsets_of(trips))
    for command in ("history", "verify"):
        assert "`sluice recover trips` builds it" in trips.sluice(command).stderr
    assert "the offsets table in place gets a new name" in recover(trips)
    exact(trips, 20)


def test_an_offsets_table_that_cannot_be_read_is_moved_away_first(trips: Installed) -> None:
    """As its log may come back, only the operator can say that it will not."""
    (offsets_of(trips) / "_delta_log" / f"{1:020d}.json").write_text('{"commitInfo": {')
    for command in ("plan", "recover"):
        refusal = trips.sluice(command).stderr
        assert "move its folder away; then `sluice recover trips`" in refusal
    offsets_of(trips).rename(trips.folder / "damaged")
    recover(trips)
    exact(trips, 20)


@pytest.mark.parametrize("damaged", [rows_deleted, file_lost])
def test_a_damaged_offsets_table_is_set_aside(
    trips: Installed, damaged: Callable[[Path], None]
) -> None:
    kept = KeptSchemas(str(offsets_of(trips)), "orders")
    kept.advance("registry", "trips-value", RegisteredSchema("7", "AVRO", '"int"'))
    damaged(offsets_of(trips))
    with pytest.raises(OffsetsDamaged, match="`sluice recover trips` builds it"):
        trips.plan()
    assert "the offsets table in place gets a new name" in recover(trips)
    assert kept.reader("registry", "trips-value") is not None
    assert len(list(trips.warehouse.glob("trips__offsets__*"))) == 1
    more(trips, 10, 20)
    exact(trips, 30)


def copied(trips: Installed) -> None:
    """A copy of the rows in the table's place, as CTAS makes it: another id, no transactions."""
    table = DeltaTable(trips.data)
    rows, properties = table.to_pyarrow_table(), dict(table.metadata().configuration)
    schema = table.schema()
    shutil.rmtree(trips.data)
    DeltaTable.create(trips.data, schema, configuration=properties, raise_if_key_not_exists=False)
    write_deltalake(trips.data, rows, mode="append")


def test_a_copy_of_the_rows_is_no_new_pipeline(topic: Topic, pipeline: Pipelines) -> None:
    """Nothing tells of it but its rows."""
    trips = landed(pipeline(topic(2), consumer_group=None))
    copied(trips)
    shutil.rmtree(offsets_of(trips))
    refused(trips, "expected no rows")
    recover(trips)
    more(trips, 10, 20)
    exact_copy(trips, 30)


def once(trips: Installed) -> int:
    """How many rows there are, none twice."""
    stored = trips.rows()
    assert len(stored) == len({(row["_partition"], row["_offset"]) for row in stored})
    return len(stored)


def exact_copy(trips: Installed, rows: int) -> None:
    """Of older batches only the rows tell; they are counted, and no record is there twice."""
    trips.run()
    assert once(trips) == rows
    verified = trips.sluice("verify")
    assert (verified.returncode, "not compared: 20 rows" in verified.stdout) == (0, True)


def test_a_copy_beside_a_table_that_knows_only_the_first_plan_is_no_new_one_either(
    trips: Installed,
) -> None:
    """Its plan names no Delta id: there was no table yet."""
    copied(trips)
    DeltaTable(offsets_of(trips)).restore(1)
    with pytest.raises(OffsetsDamaged, match="`sluice recover trips`"):
        trips.plan()
    recover(trips)
    more(trips, 10, 20)
    exact_copy(trips, 30)


def test_a_table_without_rows_begins_where_its_first_batch_did(
    topic: Topic, pipeline: Pipelines
) -> None:
    """A RESTORE keeps the transaction ids of batches whose rows it takes."""
    where = topic(2)
    trips = landed(pipeline(where, start={"offsets": {where: {0: 5}}}))
    DeltaTable(trips.data).restore(0)
    shutil.rmtree(offsets_of(trips))
    refused(trips, "found forward-1-2")
    assert "[0]: goes on at 5" in recover(trips)
    trips.run()
    assert once(trips) == 15
    assert trips.sluice("verify").returncode == 0


def test_a_receipt_whose_rows_are_gone_is_none(trips: Installed) -> None:
    offsets = DeltaTable(offsets_of(trips))
    offsets.restore(offsets.version() - 1)
    for command in ("plan", "verify", "reset"):
        words = ("--to-earliest",) if command == "reset" else ()
        assert "expected the receipt of forward-1-2" in trips.sluice(command, *words).stderr
    recover(trips)
    exact(trips, 20)


def test_a_reset_whose_rows_are_gone_is_missed(trips: Installed) -> None:
    trips.open().reset(shift_by(0), "a test", "run", "pytest")
    offsets = DeltaTable(offsets_of(trips))
    offsets.restore(offsets.version() - 1)
    with pytest.raises(OffsetsDamaged, match="expected the rows of 2 commits, found those of 1"):
        trips.plan()
    recover(trips)
    exact(trips, 20)


def test_what_was_skipped_is_skipped_again(trips: Installed) -> None:
    """The record that its batches leave out was skipped: Kafka still holds it."""
    more(trips, 10, 20)
    at = f"{trips.topics[0]}[0]@22"
    skipped = trips.sluice("reset", "--skip", at, "--execute", "--reason", "it breaks")
    assert skipped.returncode == 0, skipped.stderr
    trips.run()
    shutil.rmtree(offsets_of(trips))
    said = recover(trips)
    assert "[0] [22, 23): read by no batch (skipped by" in said
    assert f"`sluice reprocess trips --range '{trips.topics[0]}[0] [22, 23)'` reads it" in said
    exact(trips, 29, skipped=frozenset({(0, 22)}))
    read_again(trips, 22, 23)
    assert once(trips) == 30
    assert trips.sluice("verify").returncode == 0


def test_what_kafka_holds_is_not_lost(topic: Topic, pipeline: Pipelines) -> None:
    """Its receipt waits until those offsets are read again: here nobody knows of a drop."""
    form = {"type": "json", "schema": "id BIGINT"}
    trips = pipeline(topic(), format=form, quarantine={"max_ratio": 1.0})
    produce(trips.bootstrap, trips.topics[0], [b'{"id": 1}', b"{"])
    trips.run()
    DeltaTable(trips.warehouse / "trips__quarantine").delete()
    shutil.rmtree(offsets_of(trips))
    assert "no receipt yet, the next run asks again" in recover(trips)
    with pytest.raises(GapUnexplained, match="Kafka still holds some of them"):
        trips.run()
    read_again(trips, 1, 2)
    exact(trips, 1)
    assert len(trips.offsets("committed")) == 2


def test_no_batch_behind_one_that_lacks_records_counts_as_settled(
    topic: Topic, pipeline: Pipelines
) -> None:
    """Nor does that one, which is the first of its sequence."""
    form = {"type": "json", "schema": "id BIGINT"}
    trips = pipeline(topic(), format=form, quarantine={"max_ratio": 1.0})
    for values in ([b'{"id": 1}', b"{"], [b'{"id": 2}']):
        produce(trips.bootstrap, trips.topics[0], values)
        trips.run()
    DeltaTable(trips.warehouse / "trips__quarantine").delete()
    shutil.rmtree(offsets_of(trips))
    assert "no receipt yet, the next run asks again" in recover(trips)
    assert trips.offsets("committed") == []
    with pytest.raises(GapUnexplained, match="Kafka still holds some of them"):
        trips.run()
    read_again(trips, 1, 2)
    exact(trips, 2)
    assert len(trips.offsets("committed")) == 3


def test_a_batch_that_landed_without_the_one_before_it_is_read_again(
    topic: Topic, pipeline: Pipelines
) -> None:
    """In the first run no plan names the table: it is exchanged between the batches of one plan."""
    trips = pipeline(topic(), max_records_per_batch=5)
    more(trips, 10)
    trips.ingest(trips.plan())
    only_the_newest_batch(trips)
    refused(trips, "found none of forward-1-1: another table was in its place")
    assert "[0]: goes on at 0" in recover(trips)
    trips.run()
    assert once(trips) == 10
    assert trips.sluice("verify").returncode == 0


def only_the_newest_batch(trips: Installed) -> None:
    """Another table in the place of the first, in which only the newest batch has landed."""
    table = DeltaTable(trips.data)
    metadata = table.history(1)[0]["userMetadata"]
    properties, schema = dict(table.metadata().configuration), table.schema()
    rows = table.to_pyarrow_table(filters=[("_batch", "=", "forward-1-2")])
    app = table.transaction_version("sluice:trips:forward:1")
    assert app == 2
    shutil.rmtree(trips.data)
    DeltaTable.create(trips.data, schema, configuration=properties, raise_if_key_not_exists=False)
    landed_by = CommitProperties(
        custom_metadata={"userMetadata": metadata},
        app_transactions=[Transaction("sluice:trips:forward:1", app)],
    )
    write_deltalake(trips.data, rows, mode="append", commit_properties=landed_by)


def test_rows_that_others_deleted_come_back_only_if_they_may(trips: Installed) -> None:
    """A copy in the table's place: the log that told of the deletion is gone."""
    DeltaTable(trips.data).delete("_batch = 'forward-1-2'")
    copied(trips)
    refused(trips, "another is in its place")
    seen = trips.sluice("recover").stdout
    assert "forward-1-2: its receipt counts 10 rows" in seen
    assert "--execute --reason … --bring-back-erased does it." in seen
    done = trips.sluice("recover", "--execute", "--reason", "a test")
    assert "`sluice recover trips --bring-back-erased" in done.stderr
    refused(trips, "another is in its place")
    allowed = trips.sluice("recover", "--execute", "--reason", "a test", "--bring-back-erased")
    assert allowed.returncode == 0, allowed.stderr
    trips.run()
    assert once(trips) == 20
    assert trips.sluice("verify").returncode == 0


def test_rows_that_a_copy_lacks_are_recorded(trips: Installed) -> None:
    """Others deleted them before the copy was made; its log knows nothing of it."""
    DeltaTable(trips.data).delete("_offset = 3")
    copied(trips)
    said = recover(trips)
    assert "[0] [3, 4): rows of forward-1-1 are not there" in said
    trips.run()
    assert once(trips) == 19
    assert trips.sluice("verify").returncode == 0
    read_again(trips, 0, 5)
    assert once(trips) == 20
    DeltaTable(trips.data).delete("_offset = 15")
    assert trips.sluice("verify").returncode == 0


def test_what_is_gone_with_the_table_is_told(trips: Installed) -> None:
    """Kafka has let go of some of what it held."""
    shutil.rmtree(trips.data)
    delete_records(trips.bootstrap, trips.topics[0], 5)
    done = trips.sluice("recover", "--execute", "--reason", "nobody has a copy")
    assert "[0] [0, 5): gone with the data table, and no longer in the log: lost" in done.stdout
    (loss,) = trips.offsets("loss")
    assert (loss["start_offset"], loss["end_offset"], loss["gap_lost"]) == (0, 5, 5)
    trips.run()
    assert once(trips) == 15
    assert trips.sluice("verify").returncode == 0


def test_version_1_is_left_behind(trips: Installed) -> None:
    old = trips.warehouse / "_sluice" / "offsets"
    old.parent.mkdir()
    offsets_of(trips).rename(old)
    refused(trips, "format version 2", "move the old one away")
    recover(trips)
    more(trips, 10, 20)
    exact(trips, 30)


@pytest.mark.spark
def test_a_clone_in_its_place_is_taken_over_with_all_its_rows(trips: Installed) -> None:
    original = trips.data.rename(trips.folder / "original")
    trips.session().sql(f"CREATE TABLE delta.`{trips.data}` SHALLOW CLONE delta.`{original}`")
    refused(trips, "is a CLONE", "Put the original back")
    recover(trips)
    more(trips, 10, 20)
    trips.run()
    assert stored(trips) == sorted(numbered(30))
    trips.open().reset(shift_by(-10), "a reset goes on", "run", "pytest")
    trips.run()
    assert stored(trips) == sorted(numbered(30))
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stderr


def stored(trips: Installed) -> list[bytes]:
    """By Spark: delta-rs does not find the files of a shallow clone."""
    rows = trips.session().read.format("delta").load(str(trips.data)).collect()
    return sorted(bytes(row["value"]) for row in rows)


def test_a_table_that_is_gone_for_good_is_begun_anew(trips: Installed) -> None:
    shutil.rmtree(trips.data)
    refused(trips, "found no table")
    assert "the next run begins at `start`" in trips.sluice("recover").stdout
    done = trips.sluice("recover", "--execute", "--reason", "nobody has a copy")
    assert done.returncode == 0, done.stderr
    exact(trips, 20)
    # And once more: it is no new pipeline because it was one before.
    shutil.rmtree(trips.data)
    refused(trips, "found no table")
    again = trips.sluice("recover", "--execute", "--reason", "again nobody has a copy")
    assert again.returncode == 0, again.stderr
    exact(trips, 20)


def test_where_the_table_is_gone_for_good_a_start_behind_the_beginning_is_told(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = landed(pipeline(topic(2), start={"timestamp": "2001-01-01T00:00:00Z"}))
    shutil.rmtree(trips.data)
    told = "`start: timestamp 2001-01-01T00:00:00.000000Z`: records that Kafka holds before it are"
    assert told in trips.sluice("recover").stdout
    done = trips.sluice("recover", "--execute", "--reason", "nobody has a copy")
    assert (done.returncode, told in done.stdout) == (0, True), done.stderr
    exact(trips, 20)


@pytest.mark.spark
def test_a_table_that_cannot_be_fenced_is_refused_before_anything_is_set_aside(
    trips: Installed,
) -> None:
    stamped = "SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')"
    trips.session().sql(f"ALTER TABLE delta.`{trips.data}` {stamped}")
    file_lost(offsets_of(trips))
    for more_words in ((), ("--execute", "--reason", "a test")):
        done = trips.sluice("recover", *more_words)
        assert (done.returncode, "inCommitTimestamp" in done.stderr) == (1, True), done.stderr
    assert not list(trips.warehouse.glob("trips__offsets__*"))


def test_batches_whose_commits_are_gone_are_told_by_their_rows(trips: Installed) -> None:
    clean_the_log(trips)
    shutil.rmtree(offsets_of(trips))
    said = recover(trips)
    assert "20 rows of batches without a plan or receipt" in said
    more(trips, 10, 20)
    trips.run()
    assert len(trips.rows()) == 30
    verified = trips.sluice("verify")
    assert verified.returncode == 0, verified.stderr
    assert "not compared: 20 rows" in verified.stdout


def test_markers_behind_the_last_record_and_quarantine_are_counted(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(
        topic(), format={"type": "json", "schema": "id BIGINT"}, quarantine={"max_ratio": 1.0}
    )
    producer = transactional(trips.bootstrap)
    send(producer, trips.topics[0], [b'{"id": 1}', b"{"])
    end(trips.bootstrap, trips.topics[0], producer, commit=True)
    trips.run()
    shutil.rmtree(offsets_of(trips))
    recover(trips)
    (receipt,) = trips.offsets("committed")
    assert (receipt["records"], receipt["quarantined"], receipt["gap_control"]) == (1, 1, 1)
    exact(trips, 1)


@pytest.mark.spark
@pytest.mark.parametrize("point", ["offsets set aside", "recovery fenced"])
def test_a_recovery_that_dies_is_given_again(trips: Installed, point: str) -> None:
    if point == "offsets set aside":
        rows_deleted(offsets_of(trips))
    else:
        shutil.rmtree(offsets_of(trips))
    command = ("recover", "--execute", "--reason", "a test")
    assert trips.process(*command, **killed_at(point)).returncode != 0
    with pytest.raises(SluiceError, match="`sluice recover trips`"):
        trips.plan()
    again = trips.sluice(*command)
    assert again.returncode == 0, again.stderr
    more(trips, 10, 20)
    exact(trips, 30)


def test_of_two_recoveries_one_wins(trips: Installed) -> None:
    shutil.rmtree(offsets_of(trips))
    command = ("recover", "--execute", "--reason", "a test")
    runs = [trips.start(*command) for _ in range(2)]
    done = [each.end() for each in runs]
    assert [each.returncode for each in done] == [0, 0], [each.stderr for each in done]
    opened = {row["generation"] for row in trips.offsets("reset_done")}
    # One that has fenced and was overtaken closes a generation more; none is left out.
    assert opened == set(range(2, 2 + len(opened)))
    more(trips, 10, 20)
    exact(trips, 30)


def frozen_behind_its_fence(trips: Installed) -> tuple[Run, psutil.Process]:
    frozen = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": "recovery fenced: freeze"}
    late = trips.start("recover", "--execute", "--reason", "a test", **frozen)
    process = psutil.Process(late.process.pid)
    until(lambda: process.status() == psutil.STATUS_STOPPED, "a frozen recovery")
    return late, process


def test_a_recovery_whose_new_generation_another_closes_begins_again(trips: Installed) -> None:
    shutil.rmtree(offsets_of(trips))
    both = [frozen_behind_its_fence(trips) for _ in range(2)]
    for late, process in both:
        done = late.end_thawed(process)
        assert done.returncode == 0, done.stderr
    opened = {row["generation"] for row in trips.offsets("reset_done")}
    # A recovery closes all that it finds, also the generation that it would have gone on with.
    assert opened == {2, 3, 4}
    more(trips, 10, 20)
    exact(trips, 30)


def test_a_recovery_that_was_overtaken_writes_nothing(trips: Installed) -> None:
    shutil.rmtree(offsets_of(trips))
    late, process = frozen_behind_its_fence(trips)
    assert trips.sluice("recover", "--execute", "--reason", "a test").returncode == 0
    more(trips, 10, 20)
    trips.run()
    before = DeltaTable(offsets_of(trips)).version()
    done = late.end_thawed(process)
    assert (done.returncode, "nothing to recover" in done.stdout) == (0, True), done.stderr
    assert DeltaTable(offsets_of(trips)).version() == before
    exact(trips, 30)


@pytest.mark.spark
def test_a_row_without_coordinates_is_no_hindrance(trips: Installed) -> None:
    """Somebody has inserted it by hand; only the proof minds."""
    sql = f"INSERT INTO delta.`{trips.data}` (value) VALUES (cast('by hand' AS BINARY))"
    trips.session().sql(sql)
    shutil.rmtree(offsets_of(trips))
    recover(trips)
    trips.run()
    assert len(trips.rows()) == 21
    assert trips.sluice("verify").returncode == 1


def test_work_of_a_plan_that_is_gone_is_refused(trips: Installed) -> None:
    """A cleared `ingest` whose plan an older copy of the offsets table does not have."""
    shutil.copytree(offsets_of(trips), trips.folder / "older")
    more(trips, 10, 20)
    work = trips.plan()
    shutil.rmtree(offsets_of(trips))
    (trips.folder / "older").rename(offsets_of(trips))
    with pytest.raises(OffsetsDamaged, match=r"forward-1-3: expected its plan .* clear `plan`"):
        trips.ingest(work)
    exact(trips, 30)


def test_a_plan_from_before_the_loss_never_lands(trips: Installed) -> None:
    more(trips, 10, 20)
    work, zombie = trips.plan(), trips.open()
    shutil.rmtree(offsets_of(trips))
    recover(trips)
    more(trips, 10, 30)
    assert not zombie.outstanding(work)
    exact(trips, 40)
