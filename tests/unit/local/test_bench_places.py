"""Where the contenders of the bench of places have their tables and their Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from local.bench.stage import Place, Stage
from local.bench.world import OurPipeline, World
from local.embedded.gateway import Gateway


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(Stage(tmp_path / "bench", "localhost:9092"), "flights", 4)


def test_tables_on_disk_are_in_the_contenders_own_folder(world: World) -> None:
    ours = OurPipeline(world, "local-cold")
    assert ours.table == world.stage.folder / "4" / "local-cold" / "local_cold"
    assert ours.environment["SLUICE_WAREHOUSE"] == str(ours.folder)
    assert "AIRFLOW_CONN_SPARK_DEFAULT" not in ours.environment


def test_tables_in_a_bucket_have_a_prefix_of_their_own_and_each_turn_finds_it_empty(
    world: World, tmp_path: Path
) -> None:
    gateway = Gateway(tmp_path / "s3")
    ours = OurPipeline(world, "bucket-cold", Place(gateway=gateway))
    (ours.table / "_delta_log").mkdir(parents=True)
    ours.create("flights")
    assert ours.table == gateway.objects / "lake" / "4" / "bucket-cold" / "bucket_cold"
    assert ours.environment["SLUICE_WAREHOUSE"] == "s3a://lake/4/bucket-cold"
    assert ours.environment["AIRFLOW_CONN_SLUICE_WAREHOUSE"] == gateway.connection()
    assert not ours.table.exists()


def test_a_stage_starts_nothing_that_nobody_asks_for(tmp_path: Path) -> None:
    with Stage(tmp_path, "localhost:9092") as stage:
        spark = json.loads(str(stage.local.spark))
    assert spark == {"conn_type": "spark", "host": "local[2]"}
    assert list(tmp_path.iterdir()) == []
