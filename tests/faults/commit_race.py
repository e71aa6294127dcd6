"""A commit race: JVMs that commit through a log store, and delta-rs, all as fast as they can."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, Transaction
from deltalake.exceptions import CommitFailedError

from tests.faults.striking import CLASS_PATH, SOURCE, compile_java
from tests.worlds.processes import send_line

RACER = "CommitRace"
JVMS = ("jvm-1", "jvm-2")
# As the reset's fence: an empty commit with a transaction id, and nothing else.
NO_HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)

# An application id and its version: one for each commit.
Commit = tuple[str, int]
Racer = subprocess.Popen[str]


def racers(
    log: str,
    folder: Path,
    versions: int,
    store: str = "sluice.LinkLogStore",
    jars: str = CLASS_PATH,
) -> dict[str, Racer]:
    """JVMs that commit up to that version, by default through the product's store for paths.

    `folder` is in front of their class path.
    """
    compile_java(SOURCE.with_name(f"{RACER}.java"), folder)
    return {
        name: subprocess.Popen(
            ["java", "-cp", f"{folder}:{jars}", RACER, store, log, name, str(versions)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in JVMS
    }


def one_commit(
    log: str,
    folder: Path,
    version: int,
    store: str = "sluice.LinkLogStore",
    jars: str = CLASS_PATH,
    told: str = "",
) -> str:
    """What a JVM says that makes this commit: `landed`, or the condition of what refused it.

    `told` is the commit's `userMetadata`.
    """
    compile_java(SOURCE.with_name("OneCommit.java"), folder)
    command = ["java", "-cp", f"{folder}:{jars}", "OneCommit", store, log, str(version), told]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def raced(racers: Mapping[str, Racer], table: DeltaTable, versions: int) -> tuple[set[Commit], int]:
    """Let JVMs and delta-rs commit; what was acknowledged, and how often a version was taken."""
    for racer in racers.values():
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
    for racer in racers.values():
        send_line(racer)
    acknowledged, met = set(fences(table, versions)), 0
    for name, racer in racers.items():
        said = racer.communicate(timeout=240)[0].split()
        assert racer.returncode == 0
        landed = {(name, int(number)) for number in said if number != "taken"}
        assert landed, f"{name} has landed nothing"
        acknowledged |= landed
        met += said.count("taken")
    return acknowledged, met


def fences(table: DeltaTable, versions: int) -> Iterator[Commit]:
    """Commit empty transactions with delta-rs; those that were acknowledged."""
    number = 1
    while table.version() < versions:
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
