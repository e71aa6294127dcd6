"""Commit races: processes that commit to one log as fast as they can do not lose a commit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from sluice.tables.based_on import BasedOn
from sluice.tables.batch_commits import batch_metadata
from sluice.tables.delta_log import DeltaLog

from tests.faults.commit_race import commits, one_commit, raced, racers
from tests.unit.builders import batch, offsets

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


def test_a_batch_lands_on_no_other_log_than_its_write_was_begun_on(tmp_path: Path) -> None:
    """Also where others have landed there meanwhile, and log cleanup has removed that version."""
    folder, ids = tmp_path / "table", pa.schema([("id", pa.int64())])
    table, log = DeltaTable.create(folder, ids), folder / "_delta_log"
    begun = DeltaLog(str(folder)).snapshot().log.based_on()
    assert begun is not None

    def commit(version: int, based_on: BasedOn) -> str:
        told = batch_metadata(batch(offsets(0, 3)), "an attempt", based_on=based_on)
        return one_commit(log.as_uri(), tmp_path, version, told=told)

    assert [commit(1, begun), commit(2, begun)] == ["landed", "landed"]
    ahead = BasedOn(3, begun.digest)
    assert commit(3, ahead) == "SLUICE_ANOTHER_LOG", "an older copy took its place"
    table.update_incremental()
    table.create_checkpoint()
    (log / f"{0:020}.json").unlink()
    assert commit(3, begun) == "landed"
    shutil.rmtree(folder)
    DeltaTable.create(folder, ids)
    before = sorted(each.name for each in log.iterdir())
    assert commit(1, begun) == "SLUICE_ANOTHER_LOG"
    assert sorted(each.name for each in log.iterdir()) == before
    others = '{"sluice": {"based_on": "of others"}}'
    assert one_commit(log.as_uri(), tmp_path, 1, told=others) == "landed"
    assert one_commit(log.as_uri(), tmp_path, 2, told="based_on: others") == "landed"
