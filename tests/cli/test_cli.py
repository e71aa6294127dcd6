"""The command line as people and programs use it: output, exit codes, and errors that help."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from local.embedded.ports import free_port
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    made = pipeline(topic(2))
    for partition, count in enumerate((7, 5)):
        produce(made.bootstrap, made.topics[0], numbered(count), partition)
    return made


def answer(trips: Installed, command: str, *args: str) -> dict[str, Any]:
    done = trips.sluice(command, *args, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["pipeline"] == trips.name
    return found


def said(trips: Installed, command: str) -> str:
    done = trips.sluice(command)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.spark
@pytest.mark.seam
def test_every_command_for_people(trips: Installed) -> None:
    assert "would be planned" in said(trips, "plan")
    assert trips.ranges() == {}, "the command plan writes nothing"
    ran = trips.process("run")
    assert (ran.returncode, "forward-1-1: 12 records, 0 quarantined, 0 gaps" in ran.stdout) == (
        0,
        True,
    ), ran.stderr
    name = trips.topics[0]
    assert said(trips, "plan") == f"trips: nothing new: cursor at {name}[0]@7, {name}[1]@5\n"
    assert said(trips, "run") == "trips: nothing new\n"
    assert "last batch forward-1-1" in said(trips, "status")
    assert "forward-1-1" in said(trips, "history")
    proof = said(trips, "verify")
    assert "compared with 12 records in Kafka" in proof
    assert "FAILED" not in proof
    assert trips.judge().facts.rows == 12


@pytest.mark.spark
def test_a_run_on_a_busy_topic_ends(trips: Installed) -> None:
    """It brings what was there when it began; what comes meanwhile may wait."""
    ended = threading.Event()

    def keep_producing() -> None:
        while not ended.wait(0.1):
            produce(trips.bootstrap, trips.topics[0], numbered(5, 100))

    producer = threading.Thread(target=keep_producing)
    producer.start()
    try:
        run = trips.start("run")
        assert run.process.wait(180) == 0
    finally:
        ended.set()
        producer.join()
    assert "has all that could be read when the run began" in run.end().stdout
    before = len(trips.rows())
    assert before >= 12
    trips.run()
    assert len(trips.rows()) > before, "the topic went on"
    trips.judge()


def test_a_table_that_cannot_be_read_is_named(trips: Installed) -> None:
    """A store that is away, or a file that somebody removed: no traceback, and nothing changes."""
    trips.run()
    for file in (trips.warehouse / "trips__offsets").rglob("*.parquet"):
        file.unlink()
    for command in ("plan", "status", "history", "verify"):
        done = trips.sluice(command)
        assert done.returncode == 1
        assert "trips__offsets" in done.stderr
        assert "Traceback" not in done.stderr
    (trips.warehouse / "trips__offsets" / "_delta_log" / f"{0:020d}.json").write_text("{")
    assert "CommitUnknown: " in trips.sluice("status").stderr


def test_every_command_for_programs(trips: Installed) -> None:
    planned = answer(trips, "plan")["batches"]
    assert isinstance(planned, list)
    assert [(each["batch"], each["offsets"]) for each in planned] == [("forward-1-1", 12)]
    before = answer(trips, "status")
    found = [(each["lag"], each["lag_seconds"] is not None) for each in before["partitions"]]
    assert found == [(7, True), (5, True)], "known before the first run, too"
    trips.run()
    status = answer(trips, "status")
    found = [(each["cursor"], each["lag"]) for each in status["partitions"]]
    assert (status["last_batch"], found) == ("forward-1-1", [(7, 0), (5, 0)])
    history = answer(trips, "history", "-n", "1")["batches"]
    assert [(each["batch"], each["records"]) for each in history] == [("forward-1-1", 12)]
    assert (history[0]["actor"], bool(history[0]["recorded_at"])) == ("pytest", True)
    assert answer(trips, "run") == {"pipeline": "trips", "settled": []}
    proof = answer(trips, "verify")
    assert (proof["exact"], proof["compared"], proof["violations"]) == (True, 12, [])
    assert trips.judge().facts.rows == 12


def row_lost(table: Path) -> None:
    """A commit that says it is a batch, and takes a row away."""
    batch = CommitProperties(app_transactions=[Transaction("sluice:trips:forward:1", 1)])
    DeltaTable(table).delete("_offset = 2 AND _partition = 1", commit_properties=batch)


def row_duplicated(table: Path) -> None:
    rows = DeltaTable(table).to_pyarrow_table()
    write_deltalake(table, rows.slice(0, 1), mode="append")


def test_verify_sees_what_was_done_behind_its_back(trips: Installed) -> None:
    trips.run()
    kept = trips.folder / "kept"
    shutil.copytree(trips.warehouse, kept)
    for tamper, invariant in ((row_lost, "complete"), (row_duplicated, "unique")):
        tamper(trips.data)
        done = trips.sluice("verify", "--json")
        assert done.returncode == 1, tamper.__name__
        found = json.loads(done.stdout)
        assert not found["exact"]
        assert invariant in {each["invariant"] for each in found["violations"]}
        shutil.rmtree(trips.warehouse)
        shutil.copytree(kept, trips.warehouse)
    assert trips.sluice("verify").returncode == 0
    assert trips.judge().facts.rows == 12


def refused(trips: Installed, *expected: str, **env: str) -> None:
    """`sluice run` ends with code 1 and says all of this, without a traceback."""
    says_why(trips.sluice("run", **env), *expected)


def says_why(done: CompletedProcess[str], *expected: str) -> None:
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert [text for text in expected if text not in done.stderr] == [], done.stderr


def test_a_missing_connection_is_named_with_an_example(pipeline: Pipelines) -> None:
    variable = "AIRFLOW_CONN_KAFKA_DEFAULT"
    trips = pipeline("any")
    refused(trips, "SettingsError", variable, "is not set", "bootstrap.servers", **{variable: ""})


def test_an_unknown_pipeline_names_the_folder_and_what_is_there(pipeline: Pipelines) -> None:
    trips = pipeline("any")
    trips.spec_file.rename(trips.spec_file.with_name("others.yaml"))
    trips.name = "nobody"
    refused(trips, "SpecError", "a spec of a pipeline 'nobody', found pipelines: trips")


def test_a_broker_that_is_down_is_named_and_worth_a_retry(pipeline: Pipelines) -> None:
    trips = pipeline("any")
    trips.bootstrap = f"127.0.0.1:{free_port()}"
    refused(trips, "BrokerUnavailable", trips.bootstrap, "run again")
    assert trips.ranges() == {}


def test_a_bad_spec_names_file_key_found_and_allowed(pipeline: Pipelines) -> None:
    trips = pipeline("any", on_data_loss="ignore", colour="red")
    said = ("SpecError", str(trips.spec_file), "colour: unknown key; allowed", "'ignore'")
    refused(trips, *said)
    says_why(trips.process("run"), *said)


def test_a_failpoint_outside_of_tests_is_refused(trips: Installed) -> None:
    refused(trips, "SettingsError", "SLUICE_TEST=1", SLUICE_FAILPOINT="plan durable: kill")


def test_wrong_usage_has_its_own_exit_code(pipeline: Pipelines) -> None:
    trips = pipeline("any")
    for words in (
        ("run", "--bogus"),
        ("history", "-n", "0"),
        ("nonsense",),
        ("reprocess",),
        ("reprocess", "--range", "flights[0]"),
        ("backfill", "--from", "gestern", "--to", "2024-01-05"),
        ("quarantine show", "--batch", "forward-1"),
    ):
        assert trips.sluice(*words).returncode == 2
    assert trips.process("run", "--bogus").returncode == 2
