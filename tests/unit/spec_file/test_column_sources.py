"""The keys `columns` and `required` of a spec, and `allow_unmatched` of a format."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sluice.columns.columns import parse_columns
from sluice.errors import SpecError
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import load_spec

SPEC = """
version: 1
pipeline: trips
topics: [trips]
table: trips
format: {type: json, schema: "id BIGINT, user STRUCT<name: STRING>"}
"""


def loaded(folder: Path, *lines: str, of: str = SPEC) -> PipelineSpec:
    path = folder / "trips.yaml"
    path.write_text(of + "\n".join(lines))
    return load_spec(path)


def test_columns_are_taken_from_fields(tmp_path: Path) -> None:
    spec = loaded(
        tmp_path,
        "columns:",
        "  status: {from: \"$['http.status']\", type: INT}",
        "  at: {from: $.ts_ms, unit: ms}",
        "  day: {from: day, unit: days}",
        "  name: $.user.name",
        "  body: {from: body, encoding: base64}",
        "  amount: {from: amount, encoding: connect_decimal, scale: 2}",
        "  cost: {from: cost, encoding: connect_decimal, scale: 2, type: 'DECIMAL(10,2)'}",
        "required: [id, at]",
        "partition_by: [day]",
        "derived: {hour: hour(at)}",
    )
    assert spec.columns == parse_columns(
        "id BIGINT, status INT, at TIMESTAMP, day DATE, name STRING, body BINARY,"
        " amount DECIMAL(38,2), cost DECIMAL(10,2)"
    )
    assert spec.formats.required_of("value") == ("id", "at")


def test_columns_of_keys_are_taken_from_keys(tmp_path: Path) -> None:
    spec = loaded(
        tmp_path,
        "key_format: {type: json, schema: id BIGINT}",
        "columns: {_key_tenant: {from: $.tenant, type: STRING}, tenant: {from: t, type: INT}}",
        "required: [_key_tenant, tenant]",
    )
    assert spec.formats.key_columns == parse_columns("_key_id BIGINT, _key_tenant STRING")
    assert spec.columns[-1] == parse_columns("tenant INT")[0]
    assert spec.formats.required_of("key") == ("tenant",)
    assert spec.formats.required_of("value") == ("tenant",)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["columns: {s: status}"], "trips.yaml: columns.s: $.status: expected type, as no schema"),
        (["columns: {s: {type: INT}}"], "trips.yaml: columns.s.from: missing"),
        (["columns: {s: {from: x, typ: INT}}"], "columns.s.typ: unknown key (did you mean type?)"),
        (["columns: {s: {from: x, type: INTT}}"], "columns.s.type: found 'INTT'; "),
        (
            ["columns: {s: {from: x, type: 'INT, c INT'}}"],
            "columns.s.type: found 'INT, c INT'; expected one type, found ',' behind INT",
        ),
        (["columns: {s: {from: x, type: ''}}"], "columns.s.type: found ''; expected a type such"),
        (
            ["columns: {_key_: {from: x, type: INT}}"],
            "columns._key_: expected a column's name behind _key_, such as _key_id",
        ),
        (["columns: {s: {from: x, unit: m}}"], "columns.s.unit: found 'm'; expected"),
        (["columns: {s: {from: '$.a[0]', type: INT}}"], "columns.s.from: found '$.a[0]'; found"),
        (["columns: {s: {from: x, unit: ms, type: INT}}"], "found type INT; expected TIMESTAMP"),
        (["columns: {s: {from: x, unit: days, type: TIMESTAMP}}"], "expected DATE, or no type"),
        (["columns: {s: {from: x, encoding: connect_decimal}}"], "scale goes with encoding:"),
        (["columns: {s: {from: x, scale: 2, type: INT}}"], "scale goes with encoding:"),
        (["columns: {s: {from: x, unit: s, encoding: base64}}"], "at most one of the keys unit"),
        (["columns: {_key_s: {from: x, type: INT}}"], "columns._key_s: expected key_format"),
        (
            ["format: {type: json, schema: value VARIANT}", "columns: {s: {from: x, type: INT}}"],
            "columns.s: expected no column beside `value VARIANT`, which is the whole record: read",
        ),
        (
            ["format: {type: json, schema: id BIGINT}", "columns: {ID: {from: x, type: INT}}"],
            "schema: found id, and a column of the same name in `columns` (Delta ignores case",
        ),
        (["columns: {_offset: id}"], "columns._offset: Sluice has its own column of this name"),
        (
            ["required: [idd]"],
            "required: found idd (did you mean id?); expected a column of the records, not a",
        ),
        (["required: [name]"], "required: found name; expected a column of the records, not a"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_with_file_and_key(
    tmp_path: Path, lines: list[str], told: str
) -> None:
    with pytest.raises(SpecError) as refused:
        loaded(tmp_path, *lines)
    assert told in str(refused.value)
    assert "trips.yaml" in str(refused.value)


HEAD = SPEC.partition("format:")[0]
AWAITS, KNOWN = "{type: json, registry: r}", "{type: json, schema: id BIGINT}"


@pytest.mark.parametrize(
    ("value", "key", "line", "told"),
    [
        (AWAITS, KNOWN, "columns: {_key_x: $.n}", "columns._key_x: $.n: expected type, as no sch"),
        (AWAITS, KNOWN, "required: [_key_n]", "required: found "),
        (KNOWN, AWAITS, "required: [n]", "required: found "),
        (KNOWN, AWAITS, "columns: {x: $.n}", "columns.x: $.n: expected type, as no schema says"),
        (KNOWN, AWAITS, "columns: {_batch: $.id}", "columns._batch: Sluice has its own column of"),
        (AWAITS, AWAITS, "columns: {_batch: $.id}", "columns._batch: Sluice has its own column of"),
        (AWAITS, AWAITS, "columns: {a: $.x, b: $.x}", "columns.a: $.x: expected each field in one"),
        (AWAITS, AWAITS, "columns: {a: $.x, A: $.y}", "columns.A: declared twice"),
        (AWAITS, AWAITS, "columns: {_key_a b: $.x}", "columns.'_key_a b': a column name must not"),
        (AWAITS, "{type: raw}", "required: [_key_n]", "required: found _key_n"),
        (AWAITS, "", "required: [_key_n]", "required: found _key_n"),
    ],
    ids=str,
)
def test_a_format_that_awaits_its_registry_hides_no_mistake(
    tmp_path: Path, value: str, key: str, line: str, told: str
) -> None:
    keys = f"key_format: {key}" if key else ""
    with pytest.raises(SpecError) as refused:
        loaded(tmp_path, keys, line, of=f"{HEAD}format: {value}\n")
    assert f"trips.yaml: {told}" in str(refused.value)


def test_what_only_the_registry_knows_is_no_mistake_before(tmp_path: Path) -> None:
    keys = (f"key_format: {AWAITS}", "columns: {_key_x: $.n, y: $.m}", "required: [_key_z, q]")
    spec = loaded(tmp_path, *keys, of=f"{HEAD}format: {AWAITS}\n")
    assert list(spec.formats.told()) == []


def test_raw_records_have_no_fields_to_take(tmp_path: Path) -> None:
    raw = SPEC.replace('type: json, schema: "id BIGINT, user STRUCT<name: STRING>"', "type: raw")
    with pytest.raises(SpecError, match=r"columns.s: expected format with type json, avro or"):
        loaded(tmp_path, "columns: {s: {from: x, type: INT}}", of=raw)


def test_rows_of_before_are_read_as_before() -> None:
    """A spec without the keys has the edition that it had; with them, another."""
    base = {"version": 1, "pipeline": "p", "topics": ["t"], "table": "p"}
    form = {"type": "json", "schema": "id BIGINT"}
    plain = PipelineSpec.model_validate({**base, "format": form})
    same = PipelineSpec.model_validate(
        {**base, "format": {**form, "allow_unmatched": False}, "columns": {}, "required": []}
    )
    assert plain.edition == same.edition
    assert "columns" not in str(plain.edition)
    for changed in (
        {"columns": {"n": {"from": "n", "type": "INT"}}},
        {"required": ["id"]},
        {"format": {**form, "allow_unmatched": True}},
    ):
        other = PipelineSpec.model_validate({**base, "format": form, **changed})
        assert other.edition != plain.edition


JSON = '{type: json, schema: "id BIGINT, source STRUCT<db: STRING, ts_ms: BIGINT>"'


@pytest.mark.parametrize(
    ("form", "line", "told"),
    [
        (f"{JSON}}}", "columns: {t: {from: $.sourse.ts_ms, unit: ms}}", "you mean $.source.ts_ms?"),
        (f"{JSON}}}", "columns: {t: {from: source.ts_ms, unit: ms}}", "you mean $.source.ts_ms?"),
        (f"{JSON}, at: $.data}}", "columns: {x: {from: $.data.x, type: INT}}", "expected $.x, as"),
        (f"{JSON}}}", "columns: {y: {from: _key_id, type: INT}}", "columns: {_key_id: {from: id}}"),
    ],
    ids=str,
)
def test_a_field_that_may_never_be_found_is_told_and_refuses_nothing(
    tmp_path: Path, form: str, line: str, told: str
) -> None:
    (found,) = loaded(tmp_path, line, of=f"{HEAD}format: {form}\n").formats.told()
    assert told in found


def test_a_field_without_a_type_is_told_with_those_that_a_schema_file_has(tmp_path: Path) -> None:
    user = {"type": "object", "properties": {"ident": {"type": "string"}}}
    schema = {"type": "object", "properties": {"user": user}}
    (tmp_path / "s.json").write_text(json.dumps(schema))
    of = f"{HEAD}format: {{type: json, schema_file: s.json}}\n"
    for path, meant in (("id", "(declared: $.user.ident)"), ("idet", "did you mean $.user.ident?")):
        with pytest.raises(SpecError, match="expected type, as no schema says") as refused:
            loaded(tmp_path, f"columns: {{uid: $.user.{path}}}", of=of)
        assert meant in str(refused.value)
