"""Schemas that are kept beside the offsets table: written once, whole, and never changed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import CommitUnknown, NewerFormat, OffsetsDamaged, SchemaChanged
from sluice.registry.kept_schemas import KeptSchemas
from sluice.schemas.registered import Reference, RegisteredSchema

REGISTRY = "schema_registry_default"
SEVEN = RegisteredSchema("7", "AVRO", '{"type": "record", "name": "A", "fields": []}')
EIGHT = RegisteredSchema("8", "PROTOBUF", 'syntax = "proto3";', (Reference("b.proto", "…"),))
GUID = RegisteredSchema("89791762-2336-4186-9674-299b90a802e2", "JSON", "{}")


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "orders__offsets")


@pytest.fixture
def kept(uri: str) -> KeptSchemas:
    return KeptSchemas(uri, "orders")


def test_nothing_is_kept_at_first_and_a_look_makes_no_folder(kept: KeptSchemas, uri: str) -> None:
    assert kept.get(REGISTRY, "7") is None
    assert kept.all(REGISTRY) == {}
    assert kept.reader(REGISTRY, "orders-value") is None
    assert not Path(uri).exists()


def test_what_was_kept_comes_back(kept: KeptSchemas) -> None:
    for each in (SEVEN, EIGHT, GUID):
        kept.keep(REGISTRY, each)
        kept.keep(REGISTRY, each)
        assert kept.get(REGISTRY, each.key) == each
    assert kept.all(REGISTRY) == {each.key: each for each in (SEVEN, EIGHT, GUID)}
    assert kept.all("another") == {}


def test_the_files_lie_where_the_docs_say(kept: KeptSchemas, uri: str) -> None:
    kept.advance(REGISTRY, ":.team:orders/v1-value", SEVEN)
    found = {f.relative_to(uri).as_posix(): f for f in Path(uri).rglob("*") if f.is_file()}
    reader = "_schemas/schema_registry_default/readers/%3A.team%3Aorders%2Fv1-value/1.json"
    assert found.keys() == {"_schemas/schema_registry_default/ids/7.json", reader}
    assert json.loads(found[reader].read_text())["key"] == "7"


@pytest.mark.parametrize(
    "other",
    [
        RegisteredSchema("7", "AVRO", '{"type": "record", "name": "B", "fields": []}'),
        RegisteredSchema("7", "JSON", SEVEN.text),
        RegisteredSchema("7", "AVRO", SEVEN.text, (Reference("c", '"int"'),)),
        RegisteredSchema("7", "AVRO", "no JSON"),
    ],
    ids=str,
)
def test_a_key_that_now_stands_for_another_schema_is_refused(
    kept: KeptSchemas, other: RegisteredSchema
) -> None:
    kept.keep(REGISTRY, SEVEN)
    for attempt in (kept.keep, lambda r, s: kept.advance(r, "orders-value", s)):
        with pytest.raises(
            SchemaChanged, match=f"connection {REGISTRY}: schema 7: expected .*AVRO"
        ):
            attempt(REGISTRY, other)
    assert kept.get(REGISTRY, "7") == SEVEN
    assert kept.reader(REGISTRY, "orders-value") is None


def test_another_registry_has_numbers_of_its_own(kept: KeptSchemas) -> None:
    other = RegisteredSchema("7", "JSON", "{}")
    kept.keep(REGISTRY, SEVEN)
    kept.keep("another", other)
    assert (kept.get(REGISTRY, "7"), kept.get("another", "7")) == (SEVEN, other)


def test_white_space_and_the_order_of_keys_make_no_other_schema(kept: KeptSchemas) -> None:
    kept.keep(REGISTRY, SEVEN)
    same = RegisteredSchema("7", "AVRO", '{"name":"A","type":"record","fields":[]}')
    kept.keep(REGISTRY, same)
    assert kept.get(REGISTRY, "7") == SEVEN


def test_the_reader_is_the_newest_also_after_the_ninth(kept: KeptSchemas, uri: str) -> None:
    for number in range(1, 12):
        made = RegisteredSchema(str(number), "AVRO", json.dumps({"type": "int", "n": number}))
        assert kept.advance(REGISTRY, "orders-value", made) == made
        assert kept.advance(REGISTRY, "orders-value", made) == made
        assert kept.reader(REGISTRY, "orders-value") == made
    readers = Path(uri, "_schemas", REGISTRY, "readers", "orders-value")
    assert {f.name for f in readers.iterdir()} == {f"{n}.json" for n in range(1, 12)}
    assert kept.reader(REGISTRY, "orders-key") is None


def test_a_reader_says_which_of_twins_keep_their_columns(kept: KeptSchemas) -> None:
    places = (("id",), ("lines", None, "sku"))
    kept.advance(REGISTRY, "orders-value", SEVEN)
    kept.advance(REGISTRY, "orders-value", replace(GUID, kept=places))
    found = kept.reader(REGISTRY, "orders-value")
    assert found is not None
    assert found.kept == places


def test_a_reader_may_come_back(kept: KeptSchemas) -> None:
    for each in (SEVEN, EIGHT, SEVEN):
        kept.advance(REGISTRY, "orders-value", each)
    assert kept.reader(REGISTRY, "orders-value") == SEVEN


def test_of_many_at_once_one_wins_and_the_others_are_told_which(uri: str) -> None:
    several, started = 8, Barrier(8)

    def advance(number: int) -> RegisteredSchema:
        made = RegisteredSchema(str(number), "AVRO", json.dumps({"type": "int", "n": number}))
        started.wait()
        return KeptSchemas(uri, "orders").advance(REGISTRY, "orders-value", made)

    with ThreadPoolExecutor(several) as pool:
        found = list(pool.map(advance, range(several)))
    readers = Path(uri, "_schemas", REGISTRY, "readers", "orders-value")
    numbers = sorted(int(each.stem) for each in readers.iterdir())
    assert numbers == list(range(1, len(numbers) + 1))
    keys = {json.loads((readers / f"{n}.json").read_text())["key"] for n in numbers}
    assert {each.key for each in found} <= keys
    assert KeptSchemas(uri, "orders").reader(REGISTRY, "orders-value") is not None


def test_of_many_that_keep_one_key_one_text_stays_and_the_others_are_refused(uri: str) -> None:
    several, started = 8, Barrier(8)

    def keep(number: int) -> bool:
        made = RegisteredSchema("7", "AVRO", json.dumps({"type": "int", "n": number}))
        started.wait()
        try:
            KeptSchemas(uri, "orders").keep(REGISTRY, made)
        except SchemaChanged:
            return False
        return True

    with ThreadPoolExecutor(several) as pool:
        won = [n for n, kept in enumerate(pool.map(keep, range(several))) if kept]
    found = KeptSchemas(uri, "orders").get(REGISTRY, "7")
    assert found is not None
    assert won == [json.loads(found.text)["n"]]
    ids = Path(uri, "_schemas", REGISTRY, "ids")
    assert [each.name for each in ids.iterdir()] == ["7.json"]


def test_a_draft_that_a_killed_process_left_is_no_schema(kept: KeptSchemas, uri: str) -> None:
    kept.keep(REGISTRY, SEVEN)
    ids = Path(uri, "_schemas", REGISTRY, "ids")
    (ids / "8.json#1").write_text('{"key": "8')
    assert kept.all(REGISTRY) == {"7": SEVEN}
    kept.keep(REGISTRY, EIGHT)
    assert kept.all(REGISTRY) == {"7": SEVEN, "8": EIGHT}


@given(st.text(min_size=1, max_size=400))
def test_any_subject_has_a_place_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, subject: str
) -> None:
    kept = KeptSchemas(str(tmp_path_factory.mktemp("any")), "orders")
    kept.advance(REGISTRY, subject, SEVEN)
    kept.advance(REGISTRY, f"{subject}x", GUID)
    assert kept.reader(REGISTRY, subject) == SEVEN
    assert kept.reader(REGISTRY, f"{subject}x") == GUID


@pytest.mark.parametrize("subject", [".", "..", "a/../b", "%2E", "x" * 300, "ü" * 200, "a b#1"])
def test_awkward_subjects(kept: KeptSchemas, uri: str, subject: str) -> None:
    kept.advance(REGISTRY, subject, SEVEN)
    assert kept.reader(REGISTRY, subject) == SEVEN
    readers = Path(uri, "_schemas", REGISTRY, "readers")
    assert len([each for each in readers.iterdir() if each.is_dir()]) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"format_version": 1}', '{"key": "7"}'])
def test_a_file_that_is_none_of_these_is_named(kept: KeptSchemas, uri: str, text: str) -> None:
    kept.advance(REGISTRY, "orders-value", SEVEN)
    for path in Path(uri).rglob("*.json"):
        path.write_text(text)
    for look in (
        lambda: kept.get(REGISTRY, "7"),
        lambda: kept.all(REGISTRY),
        lambda: kept.reader(REGISTRY, "orders-value"),
    ):
        with pytest.raises(OffsetsDamaged, match=r"\.json: expected .* from a backup"):
            look()


def test_a_reader_without_its_schema_is_damage(kept: KeptSchemas, uri: str) -> None:
    kept.advance(REGISTRY, "orders-value", SEVEN)
    Path(uri, "_schemas", REGISTRY, "ids", "7.json").unlink()
    with pytest.raises(OffsetsDamaged, match=r"ids/7\.json: expected the schema that .* names"):
        kept.reader(REGISTRY, "orders-value")
    reader = Path(uri, "_schemas", REGISTRY, "readers", "orders-value", "1.json")
    reader.write_text('{"format_version": 1}')
    with pytest.raises(OffsetsDamaged, match=r"1\.json: expected the key of a kept schema"):
        kept.reader(REGISTRY, "orders-value")


def test_a_file_of_a_newer_sluice_is_left_to_it(kept: KeptSchemas, uri: str) -> None:
    kept.keep(REGISTRY, SEVEN)
    Path(uri, "_schemas", REGISTRY, "ids", "7.json").write_text('{"format_version": 2}')
    with pytest.raises(NewerFormat, match="found 2"):
        kept.get(REGISTRY, "7")


def test_a_disk_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "orders__offsets").write_text("a file where the folder should be")
    with pytest.raises(CommitUnknown, match="orders__offsets/_schemas: its files cannot be read"):
        KeptSchemas(str(tmp_path / "orders__offsets"), "orders").keep(REGISTRY, SEVEN)


def test_a_table_is_made_beside_them_and_vacuum_leaves_them_alone(
    kept: KeptSchemas, uri: str
) -> None:
    """They are kept before the first plan, which creates the table."""
    kept.advance(REGISTRY, "orders-value", SEVEN)
    for mode in ("append", "overwrite"):
        write_deltalake(uri, pa.table({"a": [1]}), mode=mode)
    stray = Path(uri, "stray.parquet")
    stray.write_text("no commit names it")
    removed = DeltaTable(uri).vacuum(0, dry_run=False, enforce_retention_duration=False, full=True)
    assert len(removed) == 2
    assert not stray.exists()
    assert kept.all(REGISTRY) == {"7": SEVEN}
    assert kept.reader(REGISTRY, "orders-value") == SEVEN
