"""`sluice check`: what is wrong with each file, from the folder and the tables alone."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from sluice.operations.check import CheckedFile, check_files
from sluice.registry.kept_schemas import KeptSchemas
from sluice.schemas.registered import RegisteredSchema
from sluice.tables.warehouse import Warehouse

from tests.unit.builders import spec_keys

JSON = {"type": "json", "schema": "id BIGINT, name STRING"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pipelines").mkdir()
    return tmp_path / "pipelines"


def write(folder: Path, file: str, **keys: Any) -> Path:
    path = folder / f"{file}.yaml"
    name = {"pipeline": file, "table": file, "format": JSON}
    path.write_text(yaml.safe_dump(spec_keys(**{**name, **keys})), encoding="utf-8")
    return path


def check(folder: Path, *files: Path) -> dict[str, CheckedFile]:
    found = check_files(folder, files, Warehouse(str(folder.parent / "warehouse")))
    return {each.path.stem: each for each in found}


def store(folder: Path, table: str, owner: str, rows: pa.Table, widens: str = "false") -> None:
    uri = str(folder.parent / "warehouse" / table)
    properties = {"sluice.pipeline": owner, "delta.enableTypeWidening": widens}
    DeltaTable.create(uri, rows.schema, configuration=properties, raise_if_key_not_exists=False)
    landed = CommitProperties(app_transactions=[Transaction(f"sluice:{owner}:forward:1", 1)])
    write_deltalake(uri, rows, mode="append", commit_properties=landed)


def test_a_good_folder_has_no_findings(folder: Path) -> None:
    write(folder, "orders")
    write(folder, "trips")
    found = check(folder)
    assert {name: each.pipeline for name, each in found.items()} == {
        "orders": "orders",
        "trips": "trips",
    }
    assert not any(each.findings for each in found.values())


def test_all_wrong_keys_and_values_of_every_file_are_told(folder: Path) -> None:
    write(folder, "good")
    bad = write(folder, "bad", schedule="soon", tabel="x", max_batches_per_run=0)
    write(folder, "twin", table="good")
    found = check(folder)
    assert len(found["bad"].findings) == 3
    assert all(line.startswith(f"{bad}: ") for line in found["bad"].findings)
    (line,) = found["good"].findings
    assert "table: found 'good', which twin.yaml names as well; " in line
    assert "table: found 'good', which good.yaml names as well; " in found["twin"].findings[0]


def test_how_keys_fit_together_is_told_once_each_is_right(folder: Path) -> None:
    derived = {"day": "lowr(name)"}
    write(folder, "bad", schedule="soon", derived=derived)
    (line,) = check(folder)["bad"].findings
    assert ": schedule: " in line
    write(folder, "bad", derived=derived)
    (line,) = check(folder)["bad"].findings
    assert ": derived.day: " in line


def test_connections_are_not_looked_up(folder: Path) -> None:
    """Where specs are checked, as for a pull request, the deployment's need not be."""
    write(folder, "orders", kafka="nobody", format={"type": "avro", "registry": "nowhere"})
    assert not check(folder)["orders"].findings


def test_files_are_checked_beside_the_others_of_their_folder(folder: Path) -> None:
    write(folder, "good")
    write(folder, "bad", schedule="soon")
    twin = write(folder, "twin", table="good")
    found = check(folder, twin)
    assert list(found) == ["twin"]
    assert found["twin"].findings


def test_a_copy_that_names_the_table_of_another_pipeline_is_the_one_that_is_wrong(
    folder: Path,
) -> None:
    first, copy = write(folder, "orders"), write(folder, "orders_copy", table="orders")
    both = check(folder)
    # Without a table, nothing tells which is the copy.
    for name, other in (("orders", copy), ("orders_copy", first)):
        (line,) = both[name].findings
        assert f"table: found 'orders', which {other.name} names as well" in line
    rows = pa.table({"id": pa.array([1]), "name": pa.array(["b"]), **COORDINATES})
    store(folder, "orders", "orders", rows)
    found = check(folder)
    assert not found["orders"].findings
    assert "orders_copy.yaml names as well" in found["orders"].notes[0]
    assert len(found["orders_copy"].findings) == 2


def test_a_number_that_shall_be_text_has_a_way_that_keeps_the_table(folder: Path) -> None:
    rows = pa.table({"id": pa.array([1]), "name": pa.array(["b"]), **COORDINATES})
    store(folder, "orders", "orders", rows)
    write(folder, "orders", format={"type": "json", "schema": "id STRING, name STRING"})
    (line,) = check(folder)["orders"].findings
    assert "expected BIGINT as in the rows of" in line
    assert "in a schema_file" not in line
    told = re.search(r"write `(columns: .+?)` and `(derived: .+?)`", line)
    assert told is not None
    keys = yaml.safe_load("\n".join(told.groups()))
    write(folder, "orders", format={"type": "json", "schema": "name STRING"}, **keys)
    found = check(folder)["orders"]
    assert not found.findings
    assert found.changes == (
        "the table gets a column id_text STRING; null in the rows that it has",
    )


def test_a_changed_type_is_found_beside_the_stored_rows(folder: Path) -> None:
    path = write(folder, "orders")
    rows = pa.table({"id": pa.array(["a"]), "name": pa.array(["b"]), **COORDINATES})
    store(folder, "orders", "orders", rows)
    (line,) = check(folder)["orders"].findings
    assert line.startswith(f"{path}: orders: format.schema: id: expected STRING as in the rows of ")
    assert "found BIGINT" in line


def test_a_changed_type_is_found_where_it_is_declared(folder: Path) -> None:
    rows = pa.table({"id": pa.array(["a"]), "_key_id": pa.array(["a"]), **COORDINATES})
    store(folder, "orders", "orders", rows)
    text = json.dumps({"type": "object", "properties": {"id": {"type": "integer"}}})
    kept = KeptSchemas(str(folder.parent / "warehouse" / "orders__offsets"), "orders")
    kept.advance("registry_a", "value", RegisteredSchema("7", "JSON", text))
    (folder / "key.json").write_text(text)
    keys = {"type": "json", "schema_file": "key.json"}
    write(folder, "orders", format={"type": "json", "registry": "registry_a"}, key_format=keys)
    (line,) = check(folder)["orders"].findings
    assert "; key_format.schema_file key.json: _key_id: expected STRING" in line
    assert ": format.registry registry_a, schema 7: id: expected STRING as in the rows of" in line
    assert "(a registry's: in a schema_file)" in line
    write(folder, "orders", format={"type": "raw"}, key_format=None)
    stored = pa.table({"value": pa.array(["a"]), **COORDINATES})
    shutil.rmtree(folder.parent / "warehouse")
    store(folder, "orders", "orders", stored)
    assert ": format.type: value: expected STRING" in check(folder)["orders"].findings[0]


def test_a_wider_type_is_no_finding_where_the_table_widens_types(folder: Path) -> None:
    write(folder, "orders", format={"type": "json", "schema": "id BIGINT, name DATE"})
    stored = {"id": pa.array([1], pa.int32()), "name": pa.array(["b"])}
    rows = pa.table({**stored, **COORDINATES})
    store(folder, "orders", "orders", rows, "false")
    assert "format.schema: id: expected INT" in check(folder)["orders"].findings[0]
    shutil.rmtree(folder.parent / "warehouse")
    store(folder, "orders", "orders", rows, "true")
    assert "format.schema: name: expected STRING" in check(folder)["orders"].findings[0]


def test_what_a_changed_spec_does_to_the_table_is_told_and_is_no_finding(folder: Path) -> None:
    write(folder, "orders", format={"type": "json", "schema": "id BIGINT, day DATE"})
    rows = pa.table({"id": pa.array([1]), "name": pa.array(["b"]), **COORDINATES})
    store(folder, "orders", "orders", rows)
    found = check(folder)["orders"]
    assert not found.findings
    assert found.changes == (
        "the table gets a column day DATE; null in the rows that it has",
        "the table's column name STRING gets no values any more; it stays, null in new rows",
    )


def test_another_pipelines_table_is_found_and_is_left_to_it(folder: Path) -> None:
    write(folder, "orders")
    rows = pa.table({"id": pa.array([1]), "name": pa.array(["b"]), **COORDINATES})
    store(folder, "orders", "sales", rows)
    (line,) = check(folder)["orders"].findings
    assert "expected property sluice.pipeline = 'orders', found 'sales', whose table it is" in line
    assert line.endswith("Choose another `table` in the spec.")


COORDINATES = {
    "_topic_id": pa.array(["t"]),
    "_partition": pa.array([0], pa.int32()),
    "_offset": pa.array([0], pa.int64()),
    "_batch": pa.array(["forward-1-1"]),
}
