"""An empty mount is told from a new warehouse by the name that the settings give it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sluice.broker.client_settings import ClientSettings
from sluice.clock import SYSTEM_CHANCE, SYSTEM_CLOCK
from sluice.errors import NewerFormat, SettingsError
from sluice.offsets.origin import Origin
from sluice.pipeline import open_pipeline
from sluice.progress.resources import PipelineResources
from sluice.protocol.plan.dry_run import dry_run
from sluice.protocol.plan.known_warehouse import mark_warehouse, require_known_warehouse
from sluice.protocol.plan.write_plan import plan
from sluice.settings import Settings
from sluice.tables.warehouse import Warehouse

from tests.unit.builders import CLUSTER, spec
from tests.worlds.memory_log import MemoryCluster, MemoryKafka

CLIENT = ClientSettings.from_extra("kafka_default", {"bootstrap.servers": "localhost:9"})


def named(root: Path, name: str | None = "prod") -> Warehouse:
    return Warehouse(str(root), name)


def test_without_a_name_every_warehouse_will_do(tmp_path: Path) -> None:
    require_known_warehouse(named(tmp_path / "none", None))
    assert not (tmp_path / "none").exists()
    with pytest.raises(SettingsError, match="expected a name for the warehouse"):
        mark_warehouse(named(tmp_path, None))


def test_an_empty_mount_is_refused_and_stays_empty(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "mistyped"):
        with pytest.raises(SettingsError, match="found none, and no tables") as why:
            require_known_warehouse(named(root))
        assert [str(each) for each in why.value.moves] == ["sluice check --mark-warehouse"]
    assert not [*tmp_path.iterdir()]


def test_a_warehouse_that_is_marked_is_known(tmp_path: Path) -> None:
    tables = named(tmp_path)
    assert mark_warehouse(tables).endswith("warehouse.json: marked as prod")
    require_known_warehouse(tables)
    assert mark_warehouse(tables).endswith("it is marked as prod")


def test_that_of_another_deployment_is_refused(tmp_path: Path) -> None:
    mark_warehouse(named(tmp_path, "staging"))
    (tmp_path / "flights__offsets").mkdir()
    for refused in (require_known_warehouse, mark_warehouse):
        with pytest.raises(SettingsError, match=r"of 'prod', found that of 'staging'"):
            refused(named(tmp_path))


def test_one_with_tables_needs_no_marker(tmp_path: Path) -> None:
    (tmp_path / "flights__offsets").mkdir()
    require_known_warehouse(named(tmp_path))


def test_a_marker_of_a_newer_sluice_or_another_file_is_none(tmp_path: Path) -> None:
    place = tmp_path / "_sluice" / "warehouse.json"
    place.parent.mkdir()
    place.write_text('{"format_version": 2}')
    with pytest.raises(NewerFormat, match="a newer Sluice"):
        require_known_warehouse(named(tmp_path))
    for text in ("", "[]", '{"format_version": 1}'):
        place.write_text(text)
        with pytest.raises(SettingsError, match="expected the marker of a warehouse"):
            require_known_warehouse(named(tmp_path))


def test_the_first_plan_asks_and_writes_nothing(tmp_path: Path) -> None:
    kafka = MemoryKafka(SYSTEM_CLOCK, SYSTEM_CHANCE, CLUSTER)
    kafka.create_topic("flights", 1)
    tables = named(tmp_path / "mount")
    resources = PipelineResources.of(spec(), tables, CLIENT, MemoryCluster(kafka))
    origin = Origin("run", "pytest", datetime(2013, 1, 1, tzinfo=UTC))
    for step in (lambda: dry_run(resources), lambda: plan(resources, origin)):
        with pytest.raises(SettingsError, match="SLUICE_WAREHOUSE_NAME"):
            step()
    assert not (tmp_path / "mount").exists()
    mark_warehouse(tables)
    assert plan(resources, origin)


def test_a_deployment_puts_its_prefix_before_the_groups(tmp_path: Path) -> None:
    settings = Settings(str(tmp_path), tmp_path, group_prefix="staging-")
    extra = {"bootstrap.servers": "localhost:9"}
    for group, expected in (("flights", "staging-flights"), (None, None)):
        found = open_pipeline(spec().model_copy(update={"consumer_group": group}), settings, extra)
        assert found.resources.spec.consumer_group == expected


@pytest.mark.parametrize("setting", ["SLUICE_WAREHOUSE_NAME", "SLUICE_GROUP_PREFIX"])
def test_names_have_plain_characters(setting: str) -> None:
    Settings.from_environment({setting: "prod-eu.1_"})
    with pytest.raises(SettingsError, match=setting):
        Settings.from_environment({setting: "prod/eu"})
