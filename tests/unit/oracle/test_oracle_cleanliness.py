"""The oracle sees what is left behind: processes by name or mark, secrets in files of all kinds."""

from __future__ import annotations

import gzip
import os
import sqlite3
import subprocess
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle import java_processes, marked_processes, no_orphans, no_secret

MARK = f"SLUICE_TEST_MARK={uuid.uuid4().hex}"
SECRET = "tr0ub4dor"


def wait_for_arguments(process: subprocess.Popen[bytes], first: str) -> None:
    """A process that has just been started shows its arguments a moment later."""
    while not Path(f"/proc/{process.pid}/cmdline").read_bytes().startswith(first.encode()):
        time.sleep(0.01)


@pytest.fixture
def java() -> Iterator[subprocess.Popen[bytes]]:
    """A process that goes by the name of java."""
    name, value = MARK.split("=")
    process = subprocess.Popen(
        ["/opt/jdk/bin/java", "60"],
        executable="/bin/sleep",
        env={**os.environ, name: value},
    )
    wait_for_arguments(process, "/opt/jdk/bin/java")
    yield process
    process.kill()
    process.wait()


def test_a_java_process_left_behind_is_an_orphan(java: subprocess.Popen[bytes]) -> None:
    def left() -> set[int]:
        return java_processes() & {java.pid}  # Others may start Java meanwhile.

    with pytest.raises(AssertionError, match=rf"{java.pid}: /opt/jdk/bin/java"):
        no_orphans(set(), left, patience=0)
    java.kill()
    no_orphans(set(), left)


def test_a_marked_process_left_behind_is_an_orphan(java: subprocess.Popen[bytes]) -> None:
    assert marked_processes(MARK) == {java.pid}
    with pytest.raises(AssertionError, match=str(java.pid)):
        no_orphans(set(), now=lambda: marked_processes(MARK), patience=0)


def write_text(path: Path) -> None:
    path.write_text(f"password={SECRET}")


def write_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(f"password={SECRET}".encode()))


def write_parquet(path: Path) -> None:
    headers = [[{"key": "auth", "value": SECRET.encode()}]] * 100
    pq.write_table(pa.table({"_headers": headers}), path, compression="zstd")


def write_sqlite(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE xcom (value BLOB)")
        database.execute("INSERT INTO xcom VALUES (?)", (f"x{SECRET}".encode(),))
        database.commit()


@pytest.mark.parametrize("write", [write_text, write_gzip, write_parquet, write_sqlite])
def test_a_secret_is_found_in_files_of_every_kind(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    write(tmp_path / "file")
    no_secret("n0t-to-be-f0und", tmp_path)
    with pytest.raises(AssertionError, match="11 Clean"):
        no_secret(SECRET, tmp_path)


def test_a_secret_is_found_in_the_arguments_of_a_process() -> None:
    process = subprocess.Popen([f"sleep-{SECRET}", "60"], executable="/bin/sleep")
    wait_for_arguments(process, f"sleep-{SECRET}")
    try:
        with pytest.raises(AssertionError, match=f"argv of {process.pid}"):
            no_secret(SECRET)
    finally:
        process.kill()
        process.wait()
