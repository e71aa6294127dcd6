"""A proposed spec is a spec, whatever the topic holds; each partition is looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sluice.offsets.partition_log import PartitionLog
from sluice.offsets.ranges import TopicPartition
from sluice.operations.peek.proposal import name_for, propose_spec
from sluice.operations.peek.sampling import End, range_at, shares
from sluice.spec_file.formats import RawFormat
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import load_spec

TOPICS = st.from_regex(r"[A-Za-z0-9._-]{1,249}", fullmatch=True) | st.sampled_from(
    ["on", "null", "2024", "_", "sluice_reset", "a__offsets", "x__quarantine", "1e3", "N" * 249]
)
TEXTS = st.text(max_size=6) | st.sampled_from(["#", ": ", "- a", "größe", "\u2028", "\U0001f600"])
VALUES = (
    st.dictionaries(TEXTS, st.integers() | TEXTS, max_size=4).map(lambda e: json.dumps(e).encode())
    | st.binary(max_size=5)
    | st.none()
)


def loaded(folder: Path, topic: str, values: Sequence[bytes | None]) -> PipelineSpec:
    at = {f"{topic}[0]@{number}": value for number, value in enumerate(values)}
    file = folder / "proposed.yaml"
    file.write_text(propose_spec(topic, "kafka_default", at), encoding="utf-8")
    return load_spec(file)


@settings(deadline=None)
@given(topic=TOPICS, values=st.lists(VALUES, max_size=5))
def test_a_proposal_is_a_valid_spec(
    tmp_path_factory: pytest.TempPathFactory, topic: str, values: list[bytes | None]
) -> None:
    spec = loaded(tmp_path_factory.getbasetemp(), topic, values)
    assert (spec.topics, spec.kafka) == ([topic], "kafka_default")


def test_the_types_are_those_of_the_records(tmp_path: Path) -> None:
    values = [b'{"id": 1, "delay": 2}', None, b'{"delay": 2.5, "at": "2024-01-05T06:00:00Z"}']
    spec = loaded(tmp_path, "orders", values)
    found = [(each.name, str(each.type)) for each in spec.columns]
    assert found == [("id", "BIGINT"), ("delay", "DOUBLE"), ("at", "TIMESTAMP")]


def test_one_value_that_is_no_object_makes_it_raw_and_is_named(tmp_path: Path) -> None:
    values = [b'{"id": 1}', b"\x00\x00\x00\x00\x07avro"]
    assert isinstance(loaded(tmp_path, "orders", values).format, RawFormat)
    text = (tmp_path / "proposed.yaml").read_text()
    assert "1 of 2 values are not JSON objects, such as orders[0]@1" in text


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


def test_left_out_names_are_told(tmp_path: Path) -> None:
    loaded(tmp_path, "orders", [b'{"id": 1, "_id": 1, "full name": 1}'])
    assert '"_id", "full name"' in (tmp_path / "proposed.yaml").read_text()


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
