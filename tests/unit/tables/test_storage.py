"""A table that is set aside: its folder has another name, what registries have said stays."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from sluice.errors import CommitConflict, SettingsError
from sluice.tables.storage import bring_back_kept, set_aside, was_set_aside

AT = datetime(2026, 7, 1, 12, 30, tzinfo=UTC)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    made = tmp_path / "orders__offsets"
    (made / "_delta_log").mkdir(parents=True)
    (made / "part.parquet").write_text("rows")
    return made


def with_schemas(table: Path) -> Path:
    schema = table / "_schemas" / "registry" / "ids" / "7.json"
    schema.parent.mkdir(parents=True)
    schema.write_text("{}")
    return schema


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_without_schemas_nothing_is_left(table: Path) -> None:
    to = Path(set_aside(str(table), AT))
    assert to == table.with_name("orders__offsets__20260701T123000Z")
    assert names(to) == ["_delta_log", "part.parquet"]
    assert not table.exists()
    assert was_set_aside(str(table))


def test_its_schemas_stay(table: Path) -> None:
    schema = with_schemas(table)
    to = Path(set_aside(str(table), AT))
    assert names(to) == ["_delta_log", "part.parquet"]
    assert names(table) == ["_schemas"]
    assert schema.read_text() == "{}"


def test_a_process_that_died_in_between_is_made_good(table: Path) -> None:
    schema = with_schemas(table)
    table.rename(table.with_name("orders__offsets__20260701T123000Z"))
    for _ in range(2):
        bring_back_kept(str(table))
        assert schema.read_text() == "{}"


def test_where_there_are_schemas_none_are_brought_back(table: Path) -> None:
    schema = with_schemas(table)
    older = table.with_name("orders__offsets__20260101T000000Z") / "_schemas"
    older.mkdir(parents=True)
    bring_back_kept(str(table))
    assert older.exists()
    assert schema.exists()


def test_a_table_that_another_process_has_set_aside(tmp_path: Path) -> None:
    with pytest.raises(CommitConflict):
        set_aside(str(tmp_path / "gone"), AT)


def test_in_a_bucket_the_command_leaves_the_schemas(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as refused:
        set_aside("s3a://lake/orders__offsets", AT)
    assert (
        "aws s3 mv --recursive --exclude '_schemas/*' s3://lake/orders__offsets/"
        " s3://lake/orders__offsets__20260701T123000Z/"
    ) in str(refused.value)


def test_two_tables_that_are_set_aside_in_one_second_have_two_names(table: Path) -> None:
    first = Path(set_aside(str(table), AT))
    table.mkdir(exist_ok=True)
    (table / "new").touch()
    second = Path(set_aside(str(table), AT))
    assert second.name > first.name
    assert (second / "new").exists()
