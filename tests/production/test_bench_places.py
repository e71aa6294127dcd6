"""The bench of places runs with few records: on disk, in a bucket, and on a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds.benches import held

pytestmark = [pytest.mark.integration, pytest.mark.spark]
NAMES = ["bucket-cold", "cluster-cold", "local-cold"]


def test_a_batch_lands_in_each_place_and_is_compared(tmp_path: Path) -> None:
    size, printed = held("local.bench.places", NAMES, tmp_path)
    assert sorted(size["turns"]["seconds"]) == NAMES
    assert "bucket-cold / local-cold" in printed
    assert "cluster-cold / local-cold" in printed
