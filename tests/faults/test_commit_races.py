"""Commit races: processes that commit to one log as fast as they can do not lose a commit."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Transaction
from deltalake.exceptions import CommitFailedError

from tests.faults.striking import CLASS_PATH, SOURCE, compile_java

pytestmark = pytest.mark.spark

RACER = "CommitRace"
JVMS = ("jvm-1", "jvm-2")
SECONDS = 6
# As the reset's fence: an empty commit with a transaction id, and nothing else.
NO_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)

# An application id and its version: one for each commit.
Commit = tuple[str, int]


def test_spark_and_delta_rs_overwrite_no_commit_of_another(tmp_path: Path) -> None:
    """Delta's HDFSLogStore in its place loses about one commit in 300."""
    table = DeltaTable.create(tmp_path / "table", pa.schema([("id", pa.int64())]))
    log = tmp_path / "table" / "_delta_log"
    compile_java(SOURCE.with_name(f"{RACER}.java"), tmp_path)
    racers = {name: race(name, log, tmp_path) for name in JVMS}
    for racer in racers.values():
        assert racer.stdout.readline() == "ready\n"
    for racer in racers.values():
        racer.stdin.write("\n")
        racer.stdin.flush()
    acknowledged = set(fences(table))
    met = 0
    for name, racer in racers.items():
        said = racer.communicate(timeout=60)[0].split()
        assert racer.returncode == 0
        landed = {(name, int(number)) for number in said if number != "taken"}
        assert landed, f"{name} has landed nothing"
        acknowledged |= landed
        met += said.count("taken")
    assert met, "no two commits met"
    assert acknowledged == set(commits(log))
    assert not [left.name for left in log.iterdir() if left.suffix != ".json"]


def race(name: str, log: Path, classes: Path) -> subprocess.Popen[str]:
    """A JVM that commits through the product's log store."""
    store = ["sluice.LinkLogStore", str(log), name, str(SECONDS)]
    return subprocess.Popen(
        ["java", "-cp", f"{classes}:{CLASS_PATH}", RACER, *store],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def fences(table: DeltaTable) -> Iterator[Commit]:
    """Commit empty transactions with delta-rs; those that were acknowledged."""
    end, number = time.monotonic() + SECONDS, 1
    while time.monotonic() < end:
        time.sleep(0.02)
        table.update_incremental()
        fence = CommitProperties(app_transactions=[Transaction("delta-rs", number)])
        try:
            table.create_write_transaction(
                [],
                "append",
                table.schema(),
                commit_properties=fence,
                post_commithook_properties=NO_HOOKS,
            )
        except CommitFailedError:
            continue
        yield "delta-rs", number
        number += 1


def commits(log: Path) -> Iterator[Commit]:
    """What the log holds."""
    for commit in log.glob("*.json"):
        for line in commit.read_text(encoding="utf-8").splitlines():
            if found := json.loads(line).get("txn"):
                yield found["appId"], found["version"]
