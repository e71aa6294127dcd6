"""The key `only` of a spec: which kind of record a pipeline lands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sluice.errors import SpecError
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import load_spec

SPEC = """
version: 1
pipeline: trips
topics: [trips]
table: trips
"""
JSON = 'format: {type: json, schema: "id BIGINT, kind STRING"}'
AVRO = "format: {type: avro, registry: schemas, subject_strategy: record, record: shop.Order}"


def loaded(folder: Path, *lines: str) -> PipelineSpec:
    path = folder / "trips.yaml"
    path.write_text(SPEC + "\n".join(lines))
    return load_spec(path)


@pytest.mark.parametrize(
    ("form", "only", "shown"),
    [
        (JSON, "{header: type, value: Order}", "header type = Order"),
        (JSON, "{where: \"kind = 'order' AND _partition > 0\"}", None),
        (AVRO, "{record: shop.Order}", "record shop.Order"),
        (AVRO, "{schema_ids: [7, 12]}", "schema ids 7, 12"),
        (
            AVRO,
            "{schema_ids: [7, 89791762-2336-4186-9674-299B90A802E2]}",
            "schema ids 7, 89791762-2336-4186-9674-299b90a802e2",
        ),
        ("format: {type: raw}", "{where: length(value) > 3}", "where length(value) > 3"),
    ],
)
def test_each_way_to_tell_a_kind(tmp_path: Path, form: str, only: str, shown: str | None) -> None:
    spec = loaded(tmp_path, form, f"only: {only}")
    assert spec.only is not None
    assert shown in (None, str(spec.only))
    assert "only" in spec.edition.keys
    assert spec.only.by_bytes == ("where" not in only)


@pytest.mark.parametrize(
    ("form", "only", "told"),
    [
        (
            JSON,
            "{}",
            "only: found {}; expected exactly one of the keys record, schema_ids, header, where",
        ),
        (JSON, "{header: a, value: b, where: kind = 'x'}", "found header and where"),
        (JSON, "{header: type}", "header and value go together"),
        (JSON, "{value: x, where: kind = 'x'}", "header and value go together"),
        (JSON, "{kind: x}", "unknown key"),
        (JSON, "{schema_ids: [3]}", "only.schema_ids goes with format.registry"),
        (JSON, "{record: shop.Order}", "only.record goes with format.registry"),
        (JSON, "{where: kind}", "only.where: expected a condition, found a STRING"),
        (JSON, "{where: kin = 'x'}", "only.where: found column kin (did you mean kind?)"),
        (JSON, "{where: id / 2 = 1}", "only.where: found id / 2; write try_divide"),
        (AVRO, "{schema_ids: []}", "only.schema_ids: found []; expected at least 1 entry"),
        (AVRO, "{schema_ids: [0]}", "found 0; expected a schema's number, from 1 to 2147483647"),
        (AVRO, "{schema_ids: [2, true]}", "only.schema_ids.1: found true; expected a schema's"),
        (
            AVRO,
            "{schema_ids: [89791762-2336]}",
            "found '89791762-2336'; expected a schema's number",
        ),
        (AVRO, "{record: shop.Item}", "only.record: expected shop.Order, as in format.record"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, form: str, only: str, told: str) -> None:
    with pytest.raises(SpecError) as refused:
        loaded(tmp_path, form, f"only: {only}")
    assert told in " ".join(str(refused.value).split())


def test_the_schema_that_is_read_is_of_the_record(tmp_path: Path) -> None:
    spec = loaded(tmp_path, "format: {type: avro, registry: r}", "only: {record: shop.Order}")

    def read(name: str) -> PipelineSpec:
        fields = [{"name": "id", "type": "long"}]
        text = json.dumps({"type": "record", "name": name, "fields": fields})
        return spec.with_readers({"value": RegisteredSchema("4", "AVRO", text)})

    assert [each.name for each in read("shop.Order").columns] == ["id"]
    with pytest.raises(
        ValueError, match=r"schema 4, .* \(shop.Click\), found shop.Order: correct it; or write"
    ):
        read("shop.Click")


def test_a_batch_names_all_that_it_leaves_out_so_it_is_bounded(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="expected at most 10000000 with only, found 10000001"):
        loaded(
            tmp_path,
            *("format: {type: raw}", "only: {header: a, value: b}"),
            "max_records_per_batch: 10000001",
        )


def test_a_spec_without_it_keeps_its_edition(tmp_path: Path) -> None:
    assert "only" not in loaded(tmp_path, JSON).edition.keys
