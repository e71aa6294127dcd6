"""The bench of places runs with few records: on disk, in a bucket, and on a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.worlds.benches import figures

pytestmark = [pytest.mark.integration, pytest.mark.spark]
NAMES = ["bucket-cold", "cluster-cold", "local-cold"]


def test_a_batch_lands_in_each_place_and_is_compared(tmp_path: Path) -> None:
    found, printed = figures(tmp_path, "local.bench.places", "--records", "401", *NAMES)
    (size,) = found["measured"]
    assert sorted(size["turns"]["seconds"]) == NAMES
    assert "bucket-cold / local-cold" in printed
    assert "cluster-cold / local-cold" in printed
