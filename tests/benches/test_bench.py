"""The bench runs with few records: each of three kinds of contenders has its turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds.benches import RECORDS, held

pytestmark = pytest.mark.integration
NAMES = ["available-now", "raw-limit", "run-cold"]


def test_the_bench_measures_whole_processes_and_counts_their_rows(tmp_path: Path) -> None:
    size, printed = held("local.bench", NAMES, tmp_path)
    assert size["records"] == RECORDS - 1, "as many for each of the four partitions"
    assert {name: len(each) for name, each in size["turns"]["seconds"].items()} == dict.fromkeys(
        NAMES, 1
    )
    assert "run-cold / available-now" in printed
