"""Commit races: processes that commit to one log as fast as they can do not lose a commit."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable

from tests.faults.commit_race import commits, one_commit, raced, racers

pytestmark = pytest.mark.spark

VERSIONS = 1000


def test_spark_and_delta_rs_overwrite_no_commit_of_another(tmp_path: Path) -> None:
    """Delta's HDFSLogStore in its place loses about one commit in 300."""
    table = DeltaTable.create(tmp_path / "table", pa.schema([("id", pa.int64())]))
    log = tmp_path / "table" / "_delta_log"
    acknowledged, met = raced(racers(log.as_uri(), tmp_path, VERSIONS), table, VERSIONS)
    assert met, "no two commits met"
    assert acknowledged == set(commits(log))
    assert not [left.name for left in log.iterdir() if left.suffix != ".json"]


def test_a_commit_names_its_predecessor(tmp_path: Path) -> None:
    """Its commit, or a checkpoint of it, below which log cleanup has removed the commits."""
    table = DeltaTable.create(tmp_path / "table", pa.schema([("id", pa.int64())]))
    log = tmp_path / "table" / "_delta_log"
    before = sorted(each.name for each in log.iterdir())
    assert one_commit(log.as_uri(), tmp_path, 2) == "SLUICE_NO_PREDECESSOR"
    assert sorted(each.name for each in log.iterdir()) == before
    assert one_commit((tmp_path / "gone" / "_delta_log").as_uri(), tmp_path, 2) != "landed"
    assert not (tmp_path / "gone").exists()
    table.create_checkpoint()
    (log / f"{0:020}.json").unlink()
    assert one_commit(log.as_uri(), tmp_path, 1) == "landed"
