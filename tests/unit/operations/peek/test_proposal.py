"""A proposed spec is a spec, whatever the topic holds; each partition is looked at."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.ranges import TopicPartition
from sluice.operations.peek.packing import unpacked
from sluice.operations.peek.proposal import name_for, propose_spec
from sluice.operations.peek.samples import Samples
from sluice.operations.peek.sampling import End, range_at, shares
from sluice.spec_file.formats import JsonFormat
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.plain_formats import RawFormat
from sluice.spec_folder import load_spec

from tests.decoding import reference_json
from tests.decoding.reference_json import Undecodable
from tests.decoding.reference_json_text import Misfit, one_value
from tests.worlds.packed import COMPRESSIONS, as_container, as_single_object, in_glue

TOPICS = st.from_regex(r"[A-Za-z0-9._-]{1,249}", fullmatch=True) | st.sampled_from(
    ["on", "null", "2024", "_", "sluice_reset", "a__offsets", "x__quarantine", "1e3", "N" * 249]
)
TEXTS = st.text(max_size=6) | st.sampled_from(["#", ": ", "- a", "größe", "\u2028", "\U0001f600"])
PARTS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([1_700_000_000, 1_700_000_000_123, "2023-10-16", "12.50", "007"])
    | TEXTS
    | st.lists(st.integers() | TEXTS, max_size=2)
    | st.dictionaries(TEXTS, TEXTS, max_size=2)
)
NAMES = TEXTS | st.sampled_from(["id", "ID", "Id", "_id", "_batch", "full name", "before", "op"])
OBJECTS = st.dictionaries(NAMES, PARTS, max_size=4).map(lambda each: json.dumps(each).encode())
BAD = st.sampled_from([b'{"a":NaN}', b"[]", b"\xff"]) | st.binary(max_size=5)
ELEMENTS = st.lists(st.dictionaries(st.sampled_from(["id", "at", "x y"]), PARTS, min_size=1))
NUMBERS = st.sampled_from(
    ["1e999", "1e-999", "1E5", "-0", "0.10", "9" * 38, "9" * 39, "1." + "2" * 38]
)
NUMBERS |= st.from_regex(r"-?[1-9][0-9]{0,20}(\.[0-9]{1,20})?([eE]-?[0-9]{1,3})?", fullmatch=True)
DEEP = [b"[" * 500 + b"]" * 500, b"[" * 501 + b"]" * 501, b'{"x y":' * 501 + b"1" + b"}" * 501]
SHAPES = (
    ELEMENTS.map(lambda each: json.dumps(each).encode())
    | PARTS.map(lambda each: json.dumps(each).encode())
    | NUMBERS.map(lambda each: f'{{"x y": [{each}]}}'.encode())
    | st.sampled_from(DEEP)
)
VALUES = OBJECTS | BAD | st.none()


def of_values(topic: str, at: Mapping[str, bytes | None]) -> str:
    opened = unpacked(at)
    samples = Samples(opened.values, opened.broken)
    return propose_spec(topic, "kafka_default", samples, opened.compression)


def loaded(folder: Path, topic: str, values: Sequence[bytes | None]) -> PipelineSpec:
    at = {f"{topic}[0]@{number}": value for number, value in enumerate(values)}
    file = folder / "proposed.yaml"
    file.write_text(of_values(topic, at), encoding="utf-8")
    return load_spec(file)


def proposed(*values: bytes | object) -> str:
    """The text, of bytes or of what is to be written as JSON."""
    written = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in values]
    at = {f"t[0]@{n}": each for n, each in enumerate(written)}
    return of_values("t", at)


@settings(deadline=None)
@given(
    topic=TOPICS,
    values=st.lists(VALUES, max_size=7)
    | st.lists(SHAPES | BAD | st.none(), max_size=5)
    | st.lists(ELEMENTS.map(lambda each: json.dumps(each).encode()), max_size=5),
)
def test_a_proposal_is_a_valid_spec_that_takes_the_objects(
    tmp_path_factory: pytest.TempPathFactory, topic: str, values: list[bytes | None]
) -> None:
    spec = loaded(tmp_path_factory.getbasetemp(), topic, values)
    assert (spec.topics, spec.kafka) == ([topic], "kafka_default")
    samples = Samples({str(number): value for number, value in enumerate(values)})
    if not samples.columns:
        assert isinstance(spec.format, RawFormat)
        assert not samples.values or 2 * sum(map(is_json, samples.values.values())) < len(
            samples.values
        )
        return
    assert isinstance(spec.format, JsonFormat)
    assert spec.format.schema_text == samples.columns.schema_text
    assert samples.whole or 2 * sum(map(is_json, samples.values.values())) >= len(samples.values)
    assert spec.rescue == bool(samples.columns.left_out)
    for where, value in samples.values.items():
        if spec.format.envelope and value == b"null":
            continue
        some = value.translate(None, b" \t\r\n") != b"{}"
        found = reference_json.decode(
            value, samples.columns.schema_text, allow_unmatched=spec.rescue and some
        )
        assert isinstance(found, Undecodable) == (where in samples.problems), value


def is_json(value: bytes) -> bool:
    try:
        one_value(value)
    except Misfit:
        return False
    return True


def test_the_types_are_those_of_the_records(tmp_path: Path) -> None:
    values = [b'{"id": 1, "delay": 2}', None, b'{"delay": 2.5, "at": "2024-01-05T06:00:00Z"}']
    spec = loaded(tmp_path, "orders", values)
    found = [(each.name, str(each.type)) for each in spec.columns]
    assert found == [("id", "BIGINT"), ("delay", "DOUBLE"), ("at", "TIMESTAMP")]


def test_a_bad_record_among_good_ones_is_told_and_changes_nothing() -> None:
    good = [{"id": number, "name": "a"} for number in range(9)]
    text = proposed(*good[:4], b'{"id":9,"v":NaN}', *good[4:])
    assert (
        "# 1 of 10 values would be quarantined: t[0]@4: not one JSON object: found NaN at byte 12\n"
        in text
    )
    assert "  schema: |-\n    id BIGINT,\n    name STRING\n" in text


def test_each_cause_is_told_once() -> None:
    text = proposed({"id": 1}, b"[1]", b'{"id":NaN}', b'{"id":11,"v":NaN}', {"id": 2}, {"id": 3})
    told = [line for line in text.splitlines() if "quarantined" in line]
    assert told == [
        "# 2 of 6 values would be quarantined: t[0]@2: not one JSON object: found NaN at byte 6",
        "# 1 of 6 values would be quarantined: t[0]@1: not one JSON object: found a JSON array",
    ]


def test_arrays_of_objects_are_the_column_value(tmp_path: Path) -> None:
    values = [b'[{"id": 1}, {"id": 2, "to": "a"}]', b"[]", None, b'[{"id": 3}, null]', b"[1"]
    spec = loaded(tmp_path, "orders", values)
    found = [(each.name, str(each.type)) for each in spec.columns]
    assert found == [("value", "ARRAY<STRUCT<`id`: BIGINT, `to`: STRING>>")]
    text = (tmp_path / "proposed.yaml").read_text()
    assert (
        "# 1 of 4 values would be quarantined: orders[0]@4: not one JSON object: expected , or ],"
        " found the end at byte 2\n"
        "# Each value is an array of objects, and becomes one row. A view has a row for each"
        " object: docs/tables.md#records-that-hold-several\n"
    ) in text


@pytest.mark.parametrize(
    "values",
    [
        [b'[2, "insert", {"id": 3}]', b'{"id": 1}', b"[]"],
        [b'[{"id": 1}]', b"null"],
        [b'[{"id": 1}]', b'[{"x y": 1}]', b"[{}]"],
        [b'{"full name": 1}'],
        [b"{}"],
        [b"1", b'"a"', b"true"],
        [b"null"],
    ],
)
def test_json_of_other_shapes_is_a_variant_and_its_readers_are_told(
    tmp_path: Path, values: list[bytes]
) -> None:
    spec = loaded(tmp_path, "orders", values)
    assert [(each.name, str(each.type)) for each in spec.columns] == [("value", "VARIANT")]
    text = (tmp_path / "proposed.yaml").read_text()
    assert "\nformat:\n  type: json\n  schema: |-\n    value VARIANT\n" in text
    assert (
        "becomes a VARIANT, and `derived` takes fields out of it: docs/formats.md#values-o" in text
    )
    assert (
        "# Not each reader knows a VARIANT: docs/tables.md#variant-columns. The other way,"
        " type: raw, keeps the bytes of each value.\n"
    ) in text
    assert "quarantined" not in text


def test_what_a_variant_cannot_hold_is_told() -> None:
    text = proposed(b"[1]", b"[1e999]", b"[1", [{"a": 1}], "a", [[2]])
    assert "t[0]@1: expected a number of at most 38 digits without exponent, or of a DOUBLE" in text
    assert "t[0]@2: not one JSON value: expected , or ], found the end at byte 2\n" in text


def test_among_objects_values_of_another_shape_are_told_with_what_takes_all() -> None:
    text = proposed({"id": 1}, {"id": 2}, [{"id": 3}])
    assert (
        "# 1 of 3 values would be quarantined: t[0]@2: not one JSON object: found a JSON array\n"
        "# `value VARIANT` in place of the fields takes JSON of each shape: docs/formats.md#values"
    ) in text
    assert "VARIANT" not in proposed({"id": 1}, b'{"id":NaN}')


def test_values_that_are_not_json_make_it_raw_and_are_named() -> None:
    text = proposed(b"\0\0\0\0\x07avro", b'{"id": 1}{"id": 2}', b"[]")
    assert "# 3 of 3 values are not JSON objects, so it is raw:\n" in text
    assert "t[0]@0: not one JSON object: found Confluent's frame with schema id 7\n" in text
    assert "format: {type: raw}" in text
    assert "VARIANT" not in text


def test_values_that_a_registrys_serialiser_may_have_written_are_told(tmp_path: Path) -> None:
    framed = [b"\0\0\0\0\x0cavro", b'\0\0\0\0\x0c{"id": 1}', b"\0\0\0\1\0"]
    loaded(tmp_path, "orders", [*framed, None, b"\0\0", b"{}"])
    text = (tmp_path / "proposed.yaml").read_text()
    assert "# 3 of 5 values may be framed: schema id 12, 256. If a schema registry has" in text
    loaded(tmp_path, "orders", [bytes([0, 0, 0, 0, each]) for each in range(1, 8)])
    text = (tmp_path / "proposed.yaml").read_text()
    assert "schema id 1, 2, 3, 4, 5 and 2 more." in text
    loaded(tmp_path, "orders", [b"{}", b"\1\0\0\0\7a", b"", None])
    assert "framed" not in (tmp_path / "proposed.yaml").read_text()


def test_the_schemas_that_headers_name_are_told_too() -> None:
    at = {"t[0]@0": b"avro", "t[0]@1": b"{}"}
    headers = {"t[0]@0": [("__value_schema_id", b"\0\0\0\0\x0c")]}
    text = propose_spec("t", "kafka_default", Samples(at, headers=headers), "", "registry_a")
    assert (
        "# 1 of 2 values may be framed: schema id 12. `sluice peek t --registry registry_a`" in text
    )


PACKED = {name: ways[0] for name, ways in COMPRESSIONS.items()}


@pytest.mark.parametrize("compression", PACKED)
def test_compressed_values_are_looked_into(tmp_path: Path, compression: str) -> None:
    pack = PACKED[compression]
    values = [pack(json.dumps({"id": each, "name": "x" * 99}).encode()) for each in range(3)]
    spec = loaded(tmp_path, "orders", [*values, b'{"id": 3}', None])
    assert isinstance(spec.format, JsonFormat)
    assert spec.format.compression == compression
    assert [each.name for each in spec.columns] == ["id", "name"]
    text = (tmp_path / "proposed.yaml").read_text()
    assert f"# 1 of 4 values would be quarantined: orders[0]@3: not {compression}\n" in text


def test_compressed_values_that_are_no_objects_or_too_large_are_raw(tmp_path: Path) -> None:
    for value in (b"\xff\xfe\x01", bytes(5 << 20)):
        spec = loaded(tmp_path, "orders", [PACKED["gzip"](value)])
        assert isinstance(spec.format, RawFormat)
        assert spec.format.compression == "gzip"
    assert "t[0]@0: not gzip, or too large to look into: " in proposed(PACKED["gzip"](value))


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        (as_container("long", [1]), "{type: avro, schema_file: name.avsc, frame: container}"),
        (as_single_object("long", 1), "{type: avro, schema_file: name.avsc, frame: single_object}"),
        (in_glue(b"\2"), "{type: avro, schema_file: name.avsc, frame: glue} (or json, protobuf)"),
    ],
    ids=["container", "single_object", "glue"],
)
def test_a_frame_is_told_with_the_keys_that_read_it(value: bytes, keys: str) -> None:
    for each in (value, PACKED["zstd"](value)):
        text = proposed(each, each, b"{}")
        assert f"format: {keys}: docs/formats.md#frames" in text
    assert "frame: " not in proposed(value, b"{}")


def test_left_out_names_are_told_with_the_reason_and_rescued(tmp_path: Path) -> None:
    values = [b'{"userId": 1, "userID": "old", "full name": 1, "_id": 1, "_batch": 2}']
    spec = loaded(tmp_path, "orders", values)
    assert [each.name for each in spec.columns] == ["userId", "_id"]
    assert spec.rescue
    text = (tmp_path / "proposed.yaml").read_text()
    for name, why in {
        "userID": "it differs from userId only in case",
        "full name": "a column's name cannot hold such characters",
        "_batch": "Sluice has its own column of this name",
    }.items():
        ways = "rescue: true keeps it, in _rescued; `columns` takes it."
        assert f'# Left out: "{name}": {why}. {ways}\n' in text
    assert "rescue" not in proposed({"id": 1})


def test_what_rescue_lands_is_not_told_as_quarantined() -> None:
    text = proposed({"Payload": 1}, {"payload": {"a": 1}}, {})
    assert "\nrescue: true\n" in text
    told = [line for line in text.splitlines() if "quarantined" in line]
    assert told == [
        "# 1 of 3 values would be quarantined: t[0]@2:"
        " expected one of the declared fields, found none of them"
    ]


def test_what_wraps_the_fields_is_named() -> None:
    text = proposed({"before": None, "after": {"id": 1}, "op": "c", "source": {}, "ts_ms": 1})
    assert "# These look like change events of Debezium. Each row is one change" in text


def test_remarks_end_somewhere() -> None:
    text = proposed({f"at_{number}": 1_700_000_000 for number in range(25)})
    assert text.count("seconds since 1970") == 20
    assert "# Remarks on 5 more columns are left out.\n" in text


def test_names_are_like_the_topics() -> None:
    assert name_for("Shop.Orders-v2") == "shop_orders_v2"
    assert name_for("2024") == "topic_2024"


def log(start: int, end: int) -> PartitionLog:
    return PartitionLog("id", start, end, end, None)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)), max_size=8), st.integers(1, 99))
def test_every_record_that_can_be_shown_is_asked_for(
    spans: list[tuple[int, int]], count: int
) -> None:
    logs = {
        TopicPartition("t", number): log(start, start + span)
        for number, (start, span) in enumerate(spans)
    }
    found = shares(logs, count)
    assert sum(found.values()) == min(count, sum(span for _, span in spans))
    for at, share in found.items():
        for end in End:
            offsets = range_at(end, at, logs[at], share)
            assert offsets.span >= share
            assert offsets.end == logs[at].last_stable_offset
            assert offsets.start >= logs[at].log_start_offset
    if len(found) > 1:
        full = [at for at in found if found[at] == spans[at.partition][1]]
        others = [found[at] for at in found if at not in full]
        assert max(others, default=0) - min(others, default=0) <= 1
