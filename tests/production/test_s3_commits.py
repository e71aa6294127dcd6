"""Commits to a bucket: two JVMs and delta-rs on one table; the fence against a commit in flight."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from sluice.lake.s3_conf import LOG_STORE, s3_conf
from sluice.tables.based_on import BasedOn
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.delta_log import DeltaLog

from local.embedded.waiting import until
from tests.faults.commit_race import Commit, commits, one_commit, raced, racers
from tests.faults.striking import CLASS_PATH, JARS, SOURCE, compile_java
from tests.production.worlds.answers import COMMIT, Answers
from tests.production.worlds.bucket_pipelines import InBucket
from tests.unit.builders import batch, offsets
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]

VERSIONS = 300
S3_CLASS_PATH = f"{JARS.with_name('s3')}/*:{CLASS_PATH}"


def test_two_jvms_and_delta_rs_overwrite_no_commit_of_another(
    in_bucket: Callable[..., InBucket], tmp_path: Path
) -> None:
    acknowledged, met, there = race(in_bucket("none"), tmp_path, LOG_STORE)
    assert met, "no two commits met"
    assert len(there) >= VERSIONS
    assert acknowledged == there


def test_deltas_own_log_store_loses_commits_in_the_same_race(
    in_bucket: Callable[..., InBucket], tmp_path: Path
) -> None:
    """So the race is one, and the class above is needed."""
    acknowledged, _, there = race(
        in_bucket("none"), tmp_path, "io.delta.storage.S3SingleDriverLogStore"
    )
    assert acknowledged - there, "nothing was lost: is Delta's own store safe by now?"


def test_a_commit_names_its_predecessor(in_bucket: Callable[..., InBucket], tmp_path: Path) -> None:
    trips = in_bucket("none")
    DeltaTable.create(f"{trips.uri}/one", pa.schema([("id", pa.int64())]))
    configure_hadoop(tmp_path)
    log = f"{trips.uri}/one/_delta_log"

    def commit(version: int) -> str:
        return one_commit(log, tmp_path, version, LOG_STORE, S3_CLASS_PATH)

    assert commit(2) == "SLUICE_NO_PREDECESSOR"
    assert DeltaTable(f"{trips.uri}/one").version() == 0
    assert [commit(1), commit(2)] == ["landed", "landed"]


def test_a_batch_lands_on_no_other_log_than_its_write_was_begun_on(
    in_bucket: Callable[..., InBucket], tmp_path: Path
) -> None:
    trips = in_bucket("none")
    uri = f"{trips.uri}/one"
    DeltaTable.create(uri, pa.schema([("id", pa.int64())]))
    configure_hadoop(tmp_path)
    begun = DeltaLog(uri).snapshot().log.based_on()
    assert begun is not None

    def commit(based_on: BasedOn) -> str:
        told = batch_metadata(batch(offsets(0, 3)), "an attempt", based_on=based_on)
        return one_commit(f"{uri}/_delta_log", tmp_path, 1, LOG_STORE, S3_CLASS_PATH, told)

    assert commit(replace(begun, digest=begun.digest ^ 1)) == "SLUICE_ANOTHER_LOG"
    assert DeltaTable(uri).version() == 0
    assert commit(begun) == "landed"


def race(trips: InBucket, folder: Path, store: str) -> tuple[set[Commit], int, set[Commit]]:
    """What was acknowledged, how often a version was taken, and what the log holds."""
    table = DeltaTable.create(f"{trips.uri}/race", pa.schema([("id", pa.int64())]))
    configure_hadoop(folder)
    made = racers(f"{trips.uri}/race/_delta_log", folder, VERSIONS, store, S3_CLASS_PATH)
    acknowledged, met = raced(made, table, VERSIONS)
    return acknowledged, met, set(commits(trips.warehouse / "race" / "_delta_log"))


def configure_hadoop(folder: Path, **more: str) -> None:
    """The product's settings for S3, in a folder that is on a class path."""
    ours = {
        key.removeprefix("spark.hadoop."): text
        for key, text in s3_conf(os.environ).items()
        if key.startswith("spark.hadoop.")
    }
    properties = "".join(
        f"<property><name>{key}</name><value>{text}</value></property>"
        for key, text in {**ours, **more}.items()
    )
    (folder / "core-site.xml").write_text(f"<configuration>{properties}</configuration>")


def test_half_a_commit_never_becomes_one(
    in_bucket: Callable[..., InBucket], tmp_path: Path
) -> None:
    """S3A keeps what is written on disk until the file is closed; here that disk is full."""
    trips = in_bucket("none")
    configure_hadoop(tmp_path, **{"fs.s3a.buffer.dir": str(tmp_path / "buffer")})
    compile_java(SOURCE.with_name("LargeCommit.java"), tmp_path)
    commits = trips.warehouse / "t" / "_delta_log"

    def write(version: int, actions: int, *limit: str) -> str:
        commit = f"{trips.uri}/t/_delta_log/{version:020d}.json"
        jvm = ["java", "-XX:-UsePerfData", "-cp", f"{tmp_path}:{S3_CLASS_PATH}", "LargeCommit"]
        command = [*limit, *jvm, LOG_STORE, commit, str(actions)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    full = ("prlimit", "--fsize=204800")
    assert write(0, 100, *full) == "acknowledged"
    assert write(1, 300, *full).startswith("refused: java.io.IOException: File too large")
    assert sorted(each.name for each in commits.glob("*.json")) == [f"{0:020d}.json"]
    assert write(1, 300) == "acknowledged"


def test_a_batch_in_flight_does_not_overwrite_the_fence(
    in_bucket: Callable[..., InBucket],
    topic: Callable[..., str],
    answers: Answers,
) -> None:
    trips = in_bucket(topic(), port=answers.port)
    produce(trips.bootstrap, trips.topics[0], numbered(100))
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    produce(trips.bootstrap, trips.topics[0], numbered(50, 100))
    with answers.to("PUT", rf"/{trips.name}{COMMIT}", times=1, held=True):
        run = trips.start("run")
        until(answers.met, "a commit", 120)
        # The rule is used up: the fence is not held.
        words = ("--shift-by", "-10", "--reason", "a test", "--execute")
        reset = trips.sluice("reset", *words)
        assert reset.returncode == 0, reset.stdout + reset.stderr
        answers.honest()
        ended = run.end()
    assert "superseded by a reset" in ended.stderr, ended.stderr
    commits = answers.asked("PUT", f"{trips.name}{COMMIT}")
    assert {each["if_none_match"] for each in commits} == {"*"}
    again = trips.process("run")
    assert again.returncode == 0, again.stderr
    closed = [each["closed_at"] for each in trips.offsets("reset_done")]
    assert closed == [1, 0]
    trips.judge()
