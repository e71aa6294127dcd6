"""What is wrong in a spec is refused with file, key path, what was found and what is allowed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from sluice.errors import SpecError
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import load_spec

from tests.unit.builders import spec_keys

TOP = "version, pipeline, kafka, topics, topic_pattern, except_topics, table, format, key_format,"
SUGGESTION = re.compile(r" \(did you mean \w+\?\)")
JSON = {"type": "json", "schema": "a INT, b ARRAY<INT>, c STRUCT<d: INT>"}


def refusal(folder: Path, keys: Any) -> list[str]:
    """The lines of the refusal, without the file's name, which each must begin with."""
    path = folder / "flights.yaml"
    path.write_text(keys if isinstance(keys, str) else yaml.safe_dump(keys), encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        load_spec(path)
    lines = str(refused.value).splitlines()
    assert lines[0].startswith(f"{path}: ")
    return [line.removeprefix(f"{path}: ") for line in lines]


@pytest.mark.parametrize(
    ("keys", "place", "allowed"),
    [
        ({"topic": "x"}, "topic", TOP),
        ({"schema": "x"}, "schema", TOP),
        ({"quarantine": {"ratio": 1}}, "quarantine.ratio", "max_ratio"),
        ({"format": {"type": "raw", "schema": "a INT"}}, "format.schema", "type"),
        (
            {"format": {**JSON, "columns": 1}},
            "format.columns",
            "type, registry, subject_strategy, record,",
        ),
        ({"format": {**JSON, "schema_text": ""}}, "format.schema_text", "type, registry, subject"),
        ({"start": {"group": "g", "topic": "t"}}, "start.topic", "group"),
        ({"start": {"offsets": {}, "at": 1}}, "start.at", "offsets"),
        ({"start": {"timestamp": "2013-01-01", "zone": "UTC"}}, "start.zone", "timestamp"),
        ({"start": {"checkpoint": "/c", "batch": 7}}, "start.batch", "checkpoint"),
        ({"start": {"delta_ingest": {"table": "/t", "app": "a"}}}, "start.delta_ingest.app", "tab"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_unknown_key_is_refused_with_its_path_and_the_known_ones(
    tmp_path: Path, keys: dict[str, Any], place: str, allowed: str
) -> None:
    (line,) = refusal(tmp_path, spec_keys(**keys))
    assert SUGGESTION.sub("", line).startswith(f"{place}: unknown key; allowed: {allowed}")


@pytest.mark.parametrize(
    ("keys", "suggested"),
    [
        ({"topic": "x"}, "topic: unknown key (did you mean topics?); allowed: "),
        ({"shedule": "x"}, "shedule: unknown key (did you mean schedule?); allowed: "),
        ({"quarantine": {"ratio": 1}}, "quarantine.ratio: unknown key (did you mean max_ratio?);"),
        ({"x": "x"}, "x: unknown key; allowed: "),
    ],
)
def test_an_unknown_key_that_is_like_a_known_one_names_that(
    tmp_path: Path, keys: dict[str, Any], suggested: str
) -> None:
    (line,) = refusal(tmp_path, spec_keys(**keys))
    assert line.startswith(suggested)


@pytest.mark.parametrize("part", [None, "quarantine"])
def test_a_key_that_is_no_text_is_an_unknown_key_like_any_other(
    tmp_path: Path, part: str | None
) -> None:
    """YAML reads `on:` and `yes:` as true: such a slip deserves the same answer."""
    keys: dict[Any, Any] = spec_keys(quarantine={"max_ratio": 0.5})
    (keys[part] if part else keys)[True] = "x"
    assert "allowed: " in refusal(tmp_path, keys)[0]


@given(st.text(min_size=1, max_size=12), st.sampled_from(["", "quarantine", "format", "start"]))
def test_no_unknown_key_passes_at_any_level(key: str, part: str) -> None:
    keys = spec_keys(quarantine={"max_ratio": 0.5}, format=dict(JSON), start={"group": "g"})
    holder = keys[part] if part else keys
    if key in PipelineSpec.model_fields or key in ("schema", "type", "timestamp_unit", "max_ratio"):
        return
    holder[key] = None
    with pytest.raises(ValidationError):
        PipelineSpec.model_validate(keys)


WRONG_TYPES: list[tuple[str, Any]] = [
    *((key, 1) for key in ("pipeline", "kafka", "topics", "table", "format", "schedule", "start")),
    *((key, "1") for key in ("version", "topics", "max_records_per_batch", "max_batches_per_run")),
    *((key, True) for key in ("version", "max_records_per_batch", "max_batches_per_run", "owner")),
    *((key, 1.5) for key in ("version", "max_records_per_batch", "max_batches_per_run")),
    *((key, "a") for key in ("partition_by", "cluster_by", "spark", "quarantine")),
    *((key, [1]) for key in ("topics", "partition_by", "cluster_by", "spark", "description")),
    ("spark", {"spark.sql.shuffle.partitions": 4}),
    ("topics", [["flights"]]),
    ("topic_pattern", 1),
    ("consumer_group", 7),
    ("on_data_loss", True),
    ("quarantine", {"max_ratio": "0.5"}),
    ("quarantine", {"max_ratio": True}),
    ("format", {"type": "json", "schema": ["a INT"]}),
    ("start", {"offsets": {"flights": {0: "12"}}}),
    ("start", {"offsets": {"flights": {0: 1.0}}}),
    ("start", {"offsets": {"flights": {"0": 12}}}),
    ("start", {"offsets": {"flights": [12]}}),
    ("start", {"timestamp": 1356998400}),
    ("start", {"timestamp": True}),
    ("start", {"group": 5}),
    ("start", {"checkpoint": 5}),
    ("start", {"delta_ingest": "/table"}),
    ("start", {"delta_ingest": {"table": "/table", "app_id": 1}}),
]


@pytest.mark.parametrize(("key", "value"), WRONG_TYPES, ids=str)
def test_a_value_of_a_wrong_type_is_refused_with_its_key(
    tmp_path: Path, key: str, value: object
) -> None:
    assert any(line.startswith(key) for line in refusal(tmp_path, spec_keys(**{key: value})))


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"version": 2}, "version: found 2; expected 1"),
        ({"version": None}, "version: missing"),
        ({"pipeline": None}, "pipeline: missing"),
        ({"table": None}, "table: missing"),
        ({"format": None}, "format: missing"),
        (
            {"format": {"type": "json"}},
            "format: expected schema, or registry, or schema_file; found none",
        ),
        (
            {"key_format": {"type": "protobuf"}},
            "key_format: expected registry, or schema_file, or both; found neither",
        ),
        (
            {"format": {"type": "avro", "schema_file": "x.avsc"}},
            "format: schema_file: found 'x.avsc'; expected a file in the folder of the spec",
        ),
        ({"pipeline": "Flights"}, "pipeline: found 'Flights'; expected a lower-case letter, then "),
        ({"pipeline": "sluice_reset"}, "pipeline: found 'sluice_reset'; expected another name: "),
        ({"pipeline": "f" * 65}, "pipeline: found "),
        ({"pipeline": "flights\n"}, r"pipeline: found 'flights\n'; "),
        ({"table": "../flights"}, "table: found '../flights'; "),
        ({"table": "_sluice"}, "table: found '_sluice'; "),
        ({"table": "flights__quarantine"}, "table: found 'flights__quarantine'; names that end"),
        ({"kafka": "my connection"}, "kafka: found 'my connection'; "),
        ({"topics": []}, "topics: found []; "),
        ({"topics": ["a b"]}, "topics.0: found 'a b'; "),
        ({"topics": ["a", ""]}, "topics.1: found ''; "),
        ({"schedule": "every day"}, "schedule: found 'every day'; expected a cron expression"),
        ({"schedule": ""}, "schedule: found ''; expected a cron expression"),
        ({"max_records_per_batch": 0}, "max_records_per_batch: found 0; "),
        ({"max_batches_per_run": -1}, "max_batches_per_run: found -1; "),
        ({"max_batches_per_run": 1001}, "max_batches_per_run: found 1001; "),
        ({"on_data_loss": "ignore"}, "on_data_loss: found 'ignore'; expected 'fail' or"),
        ({"max_records_per_batch": 10**9 + 1}, "max_records_per_batch: found 1000000001; "),
        ({"quarantine": {"max_ratio": 1.1}}, "quarantine.max_ratio: found 1.1; "),
        ({"quarantine": {"max_ratio": float("nan")}}, "quarantine.max_ratio: found nan; "),
        ({"quarantine": {"max_records": -1}}, "quarantine.max_records: found -1; "),
        ({"quarantine": {"max_records": "ten"}}, "quarantine.max_records: found 'ten'; "),
        ({"consumer_group": ""}, "consumer_group: found ''; "),
        ({"start": "newest"}, "start: found 'newest'; allowed: earliest, latest, {timestamp: …}"),
        ({"start": {}}, "start: found {}; allowed: earliest"),
        ({"start": {"offset": 1}}, "start: found {'offset': 1}; allowed: earliest"),
        ({"start": {"offsets": {"f": {0: -1}}}}, "start.offsets.f.0: found -1; "),
        ({"start": {"timestamp": "soon"}}, "start.timestamp: found 'soon'; "),
        ({"start": {"group": ""}}, "start.group: found ''; "),
        ({"start": {"checkpoint": "c"}}, "start.checkpoint: found 'c'; expected an absolute path"),
        ({"start": {"delta_ingest": {}}}, "start.delta_ingest.table: missing"),
        ({"start": {"delta_ingest": {"table": "t"}}}, "start.delta_ingest.table: found 't'; exp"),
        (
            {"format": {"type": "csv"}},
            "format.type: found 'csv'; allowed: json, raw, avro, protobuf",
        ),
        (
            {"format": {"type": "avor", "registry": "r"}},
            "format.type: found 'avor' (did you mean avro?); allowed: json, raw, avro, protobuf",
        ),
        ({"key_format": {"type": "JSON"}}, "key_format.type: found 'JSON' (did you mean json?); "),
        (
            {"key_format": "longs"},
            "key_format.type: found 'longs' (did you mean long?); allowed: json, raw, avro,"
            " protobuf, long, int, text, uuid",
        ),
        ({"key_format": 8}, "key_format: found 8; expected keys with values"),
        ({"key_format": "avro"}, "key_format: expected registry, or schema_file, or both; found"),
        ({"key_format": {"type": "long", "bytes": 8}}, "key_format.bytes: unknown key; allowed: t"),
        (
            {"format": {"type": "long"}},
            "format.type: found 'long'; it is for keys: write key_format: long; allowed: json,",
        ),
        ({"format": {"type": 1}}, "format.type: found 1; allowed: json, raw, avro, protobuf"),
        ({"format": {"type": ["avro"]}}, "format.type: found ['avro']"),
        ({"format": {}}, "format.type: missing; allowed: json, raw, avro, protobuf"),
        ({"format": "json"}, "format: found 'json'; expected keys with values"),
        ({"topics": [None]}, "topics.0: found nothing; expected text"),
        ({"schedule": True}, "schedule: found true; expected text"),
        ({"format": {**JSON, "schema": "a INTT"}}, "format.schema: found 'a INTT'; a: found type"),
        (
            {"format": {**JSON, "schema": "_key INT"}},
            "format.schema: found '_key INT'; _key: Sluice has its own",
        ),
        ({"format": {**JSON, "timestamp_unit": "ns"}}, "format.timestamp_unit: found 'ns'; "),
        ({"partition_by": ["day"]}, "partition_by: found 'day'; allowed: _batch, "),
        (
            {"derived": {"day": "lowr()"}},
            "derived.day: found lowr(…); allowed (did you me",
        ),
        ({"comments": {"valeu": "x"}}, "comments: found 'valeu' (did you mean value?); allowed: "),
        ({"comments": {"value": "x" * 1001}}, "comments.value: found "),
        ({"target_file_size": "128MB"}, "target_file_size: found '128MB'; expected a size such as"),
        (
            {"properties": {"delta.appendOnly": True}},
            "properties: found {'delta.appendOnly': True}; found delta.appendOnly: a batch that is",
        ),
        (
            {"properties": {"delta.setTransactionRetentionDuration": "interval 1 days"}},
            "properties: found {'delta.setTransactionRetentionDuration': 'interval 1 days'}; found"
            " delta.setTransactionRetentionDuration: it makes Delta forget which batches are",
        ),
        ({"properties": {"sluice.pipeline": "x"}}, "properties: found {'sluice.pipeline': 'x'}; "),
        ({"properties": {"delta.logRetentionDuration": "interval 1 days"}}, "properties: found "),
        ({"properties": {"delta.checkpointInterval": 0}}, "properties: found "),
        ({"cluster_by": ["VALUE"]}, "cluster_by: found 'VALUE'; allowed: "),
        ({"cluster_by": ["_topic"] * 5}, "cluster_by: found "),
        (
            {"spark": {"sql.x": "1"}},
            "spark: found sql.x: not among the keys that a spec may set; allowed: spark.",
        ),
    ],
    ids=str,
)
def test_a_bad_value_is_refused_with_place_and_what_was_found(
    tmp_path: Path, keys: dict[str, Any], line: str
) -> None:
    (found,) = refusal(tmp_path, spec_keys(**keys))
    assert found.startswith(line)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"topics": None}, "expected exactly one of the keys topics and topic_pattern"),
        ({"topic_pattern": "a"}, "expected exactly one of the keys topics and topic_pattern"),
        ({"rescue": True, "evolution": "widen"}, "rescue goes with evolution: strict"),
        ({"rescue": True, "format": {"type": "raw"}}, "rescue goes with records that name their"),
        (
            {"rescue": True, "format": {"type": "protobuf", "registry": "r"}},
            "rescue goes with records that name their fields, found type: protobuf",
        ),
        ({"except_topics": ["a"]}, "except_topics goes with topic_pattern; shorten topics instead"),
        ({"topics": None, "topic_pattern": "("}, "topic_pattern: found '('; expected a regular"),
        ({"topics": ["a", "b", "a"]}, "topics: a topic is named twice"),
        ({"partition_by": ["_topic"], "cluster_by": ["_offset"]}, "expected at most one of the"),
        ({"partition_by": ["_topic", "_topic"]}, "partition_by: "),
        ({"cluster_by": ["_topic", "_topic"]}, "cluster_by: "),
        ({"format": JSON, "partition_by": ["b"]}, "partition_by: "),
        ({"format": JSON, "partition_by": ["c"]}, "partition_by: "),
        ({"format": JSON, "cluster_by": ["b"]}, "cluster_by: "),
    ],
    ids=str,
)
def test_what_cannot_go_together_is_refused(
    tmp_path: Path, keys: dict[str, Any], line: str
) -> None:
    (found,) = refusal(tmp_path, spec_keys(**keys))
    assert found.startswith(line)


def test_every_finding_has_its_line(tmp_path: Path) -> None:
    keys = spec_keys(pipeline="P", table="T", owners="x", max_batches_per_run=0)
    places = [line.partition(":")[0] for line in refusal(tmp_path, keys)]
    assert sorted(places) == ["max_batches_per_run", "owners", "pipeline", "table"]


def test_an_unknown_format_is_refused_with_the_key_and_the_known_ones(tmp_path: Path) -> None:
    (line,) = refusal(tmp_path, spec_keys(format={"type": "csv", "schema": "a INT"}))
    assert line.startswith("format")
    assert "found " in line
    assert "json" in line
    assert "raw" in line


@pytest.mark.parametrize(
    "key",
    [
        "spark.sql.catalog.lake.password",
        "spark.hadoop.fs.s3a.secret.key",
        "spark.hadoop.fs.azure.account.key.data.dfs.core.windows.net",
        "spark.executorEnv.API_KEY",
    ],
)
def test_a_secret_in_the_spark_configuration_is_refused_and_not_repeated(
    tmp_path: Path, key: str
) -> None:
    text = "\n".join(refusal(tmp_path, spec_keys(spark={key: "hunter2"})))
    assert text.startswith(f"spark: found {key}: ")
    assert "Credentials and cluster-wide settings belong in Spark's own configuration" in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", "expected the keys of a spec, found NoneType"),
        ("- version", "expected the keys of a spec, found list"),
        ("flights", "expected the keys of a spec, found str"),
        ("a: [", "cannot be read as YAML: "),
        ("a: \x00", "cannot be read as YAML: "),
        ("a: !!python/object:os.system {}", "cannot be read as YAML: "),
        ("start: {timestamp: 2013-02-30}", "cannot be read as YAML: "),
    ],
    ids=repr,
)
def test_a_file_that_is_no_spec_at_all_is_refused(tmp_path: Path, text: str, line: str) -> None:
    assert refusal(tmp_path, text)[0].startswith(line)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"none\.yaml: cannot be read as YAML"):
        load_spec(tmp_path / "none.yaml")


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latin.yaml"
    path.write_bytes("description: été".encode("latin-1"))
    with pytest.raises(SpecError, match=r"latin\.yaml: cannot be read as YAML"):
        load_spec(path)


@pytest.mark.parametrize(("key", "value"), WRONG_TYPES, ids=str)
def test_what_was_expected_is_told_in_the_words_of_a_spec(
    tmp_path: Path, key: str, value: object
) -> None:
    told = "\n".join(refusal(tmp_path, spec_keys(**{key: value})))
    assert not re.search(r"input should|should (have|match|be)|NoneType|instance of", told)
