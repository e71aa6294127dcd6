"""What a command loads before it works: help no engine, and pyarrow no pandas."""

from __future__ import annotations

import subprocess
import sys

import pytest

ENGINES = {
    *("pyspark", "grpc", "airflow", "deltalake", "pyarrow", "numpy", "pandas"),
    *("confluent_kafka", "aiokafka", "rich", "pydantic", "yaml"),
}
AFTER_MAIN = """
import sys
from sluice.cli import main
sys.argv = ["sluice", *sys.argv[1:]]
try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
"""
ARRAYS_AND_THEN_PANDAS = """
import sys
import sluice.tables.delta_log, sluice.tables.offsets_table
import pyarrow
made = pyarrow.table({"number": [1, None, 3]})
assert made.to_pylist()[0] == {"number": 1}
assert "pandas" not in sys.modules
import pandas
assert made.to_pandas()["number"].sum() == 4
assert pyarrow.array(pandas.Series([1.0, float("nan")])).null_count == 1
"""


def python(program: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *args]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def loaded_by(*args: str) -> set[str]:
    done = python(AFTER_MAIN, *args)
    assert "Usage: sluice" in done.stdout + done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "args",
    [
        *(("--help",), ("status", "--help"), ("reset", "--help"), ("quarantine", "--help")),
        *(("verify",), ("peek", "--help")),
    ],
    ids=" ".join,
)
def test_help_and_wrong_usage_load_no_engine(args: tuple[str, ...]) -> None:
    assert loaded_by(*args) & ENGINES == set()


def test_a_command_loads_no_other() -> None:
    loaded = loaded_by("status", "--help")
    assert {each for each in loaded if each.startswith("sluice.cli.commands.")} == {
        "sluice.cli.commands.status"
    }


def test_arrow_makes_arrays_without_pandas_and_still_serves_who_asks_for_it() -> None:
    done = python(ARRAYS_AND_THEN_PANDAS)
    assert done.returncode == 0, done.stderr


def test_a_look_without_a_registry_loads_nothing_that_asks_one_or_reads_its_schemas() -> None:
    done = python("import sys, sluice.operations.peek.peek; print(*sys.modules)")
    assert done.returncode == 0, done.stderr
    assert (
        set(done.stdout.split()) & {"httpx", "google.protobuf", "referencing", "pyarrow"} == set()
    )
