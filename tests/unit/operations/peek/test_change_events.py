"""Change events in a topic: the spec that peek proposes for each shape, and how deletes look."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.operations.peek.proposal import propose_spec
from sluice.operations.peek.samples import Samples
from sluice.spec_file.formats import JsonFormat
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import load_spec

from tests.worlds.debezium_events import event

MARKS = "_op STRING, _source STRING, _source_time TIMESTAMP"
OPS = ("c", "r", "u", "d", "t", "m", "tombstone")


def text_of(*values: bytes | None) -> str:
    at = {f"t[0]@{n}": each for n, each in enumerate(values)}
    return propose_spec("t", "kafka_default", Samples(at))


def spec_of(folder: Path, *values: bytes | None) -> PipelineSpec:
    file = folder / "proposed.yaml"
    file.write_text(text_of(*values), encoding="utf-8")
    return load_spec(file)


def as_event(**members: Any) -> bytes:
    return json.dumps({"ts_ms": 1, **members}).encode()


def test_of_wrapped_events_the_schema_says_the_columns(tmp_path: Path) -> None:
    found = spec_of(tmp_path, *(event(each, wrapped=True) for each in OPS))
    assert isinstance(found.format, JsonFormat)
    assert found.format.envelope == "debezium"
    assert found.columns == parse_columns(
        "id BIGINT, name STRING, amount DECIMAL(10,2), free STRING, born DATE, at_ms TIMESTAMP,"
        " at_us TIMESTAMP, at_ns TIMESTAMP, zoned TIMESTAMP, connect_day DATE,"
        f" connect_at TIMESTAMP, clock STRING, doc STRING, raw BINARY, {MARKS}"
    )


def test_of_plain_events_the_rows_say_them_and_what_looks_like_moments_is(tmp_path: Path) -> None:
    found = spec_of(tmp_path, *(event(each) for each in OPS))
    units = {name: each.unit for name, each in found.column_sources.items()}
    assert units == {"at_ms": "ms", "at_us": "us", "at_ns": "ns", "connect_at": "ms"}
    types = {each.name: str(each.type) for each in found.columns}
    assert types["at_us"] == "TIMESTAMP"
    assert types["born"] == "BIGINT"
    assert "# Days and decimals look like other numbers" in text_of(event("c"))
    assert "# Days and decimals" not in text_of(event("c", wrapped=True))
    assert [*types][-3:] == ["_op", "_source", "_source_time"]


def test_rows_in_connects_wrapper_have_the_columns_of_its_schema(tmp_path: Path) -> None:
    modes = ("drop u", "rewrite u", "tombstone d")
    values = [event(f"unwrapped {each}", wrapped=True) for each in modes]
    found = spec_of(tmp_path, *values)
    assert isinstance(found.format, JsonFormat)
    assert found.format.envelope == "connect"
    types = {each.name: str(each.type) for each in found.columns}
    assert (types["amount"], types["born"], types["at_us"]) == (
        "DECIMAL(10,2)",
        "DATE",
        "TIMESTAMP",
    )
    assert "quarantined" not in text_of(*values)


def test_among_plain_rows_a_null_shows_that_connect_wrote_them(tmp_path: Path) -> None:
    values = [event("unwrapped tombstone u"), event("unwrapped tombstone d")]
    found = spec_of(tmp_path, *values)
    assert isinstance(found.format, JsonFormat)
    assert found.format.envelope == "connect"
    assert "A delete is a tombstone" in text_of(*values)
    assert "quarantined" not in text_of(*values)
    assert "1 of 2 values would be quarantined" in text_of(event("c"), b"null")


def test_rows_in_a_wrapper_that_names_nothing_are_taken_as_they_look(tmp_path: Path) -> None:
    rows = [{"id": 1, "_op": "x", "at": 1_700_000_000_123}, {"other": 1}]
    values = [json.dumps({"schema": None, "payload": each}).encode() for each in rows]
    found = spec_of(tmp_path, *values, values[0])
    assert isinstance(found.format, JsonFormat)
    assert found.format.envelope == "connect"
    assert {"id", "_op", "at"} <= {each.name for each in found.columns}


def test_documents_of_mongodb_are_one_column(tmp_path: Path) -> None:
    found = spec_of(tmp_path, as_event(op="c", after='{"_id": 1}'), as_event(op="d", after=None))
    assert found.columns == parse_columns(f"after STRING, {MARKS}")


def test_other_records_among_them_would_be_quarantined(tmp_path: Path) -> None:
    values = [event("c"), event("u"), event("heartbeat")]
    text = text_of(*values)
    assert "1 of 3 values would be quarantined: t[0]@2: expected a change event" in text
    assert spec_of(tmp_path, *values).format.type == "json"
    assert "envelope" not in text_of(event("c"), event("heartbeat"), event("begin"))


def test_a_field_of_sluices_own_name_is_left_out_and_rescued(tmp_path: Path) -> None:
    values = [as_event(op="c", after={"id": 1, "_op": "x"}, source={})]
    assert 'Left out: "_op": Sluice has its own column of this name.' in text_of(*values)
    assert spec_of(tmp_path, *values).rescue


@pytest.mark.parametrize("wrapped", [False, True])
@pytest.mark.parametrize(
    ("names", "found"),
    [
        (("c", "d"), "change events of Debezium. Each row is one change, not the row of the"),
        (("heartbeat",), "heartbeats of Debezium. They are rows of no table: leave this topic out"),
        (("begin", "end"), "transaction markers of Debezium. They are rows of no table"),
        (("schema change",), "schema changes of Debezium. They are rows of no table"),
    ],
)
def test_each_of_debeziums_topics_is_named(
    wrapped: bool, names: tuple[str, ...], found: str
) -> None:
    assert f"# These look like {found}" in text_of(*(event(each, wrapped) for each in names))


MODE = "delete.tombstone.handling.mode"


@pytest.mark.parametrize(
    ("values", "deletes"),
    [
        (("unwrapped rewrite u", "unwrapped rewrite d"), f"true ({MODE}: rewrite)."),
        (
            (
                "unwrapped rewrite-with-tombstone u",
                "unwrapped rewrite-with-tombstone d",
                "tombstone",
            ),
            f"A deleted row has __deleted: true, and a tombstone follows ({MODE}:"
            " rewrite-with-tombstone).",
        ),
        (
            ("unwrapped tombstone u", "tombstone"),
            f"A delete is a tombstone, of which only the key says the row ({MODE}: tombstone).",
        ),
        (("unwrapped drop u",), f"No delete is among them; with {MODE}: drop there is never one."),
    ],
)
def test_unwrapped_rows_need_no_envelope(
    tmp_path: Path, values: tuple[str, ...], deletes: str
) -> None:
    found = [event(each) for each in values]
    assert deletes in text_of(*found)
    spec = spec_of(tmp_path, *found)
    assert isinstance(spec.format, JsonFormat)
    assert spec.format.envelope is None
    assert "__op" in [each.name for each in spec.columns]
