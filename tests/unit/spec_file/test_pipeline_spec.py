"""A spec is read as it was meant, and its defaults are those of the design."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from sluice.errors import SpecError
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.starts import StartEarliest, StartOffsets
from sluice.spec_folder import find_spec, load_spec, read_specs, spec_files

from tests.unit.builders import spec, spec_keys

# Design section 10, word for word.
EXAMPLE = """
version: 1
pipeline: flights                  # [a-z][a-z0-9_]{0,63}; also the DAG id
kafka: kafka_default               # an Airflow connection
topics: [flights]                  # or topic_pattern: "flights\\\\..*"
table: flights                     # below the warehouse
format: {type: json, schema: "carrier STRING, dep_delay DOUBLE, time_hour TIMESTAMP"}
schedule: "*/10 * * * *"           # or null: only manual runs
start: earliest
max_records_per_batch: 5000000
max_batches_per_run: 20
on_data_loss: fail                 # record: go on from the log start, and leave a loss record
quarantine: {max_ratio: 0.01, max_records: 10}   # a batch that exceeds both fails, with samples
consumer_group: sluice-flights     # mirrors the cursor; default sluice-<pipeline>; null: none
partition_by: []                   # or cluster_by: [...]
spark: {}                          # further Spark configuration
owner: data-platform
description: Departures from New York
"""


def written(folder: Path, keys: Any, name: str = "flights.yaml") -> Path:
    path = folder / name
    path.write_text(keys if isinstance(keys, str) else yaml.safe_dump(keys), encoding="utf-8")
    return path


def test_the_example_of_the_design_is_read_as_it_was_meant(tmp_path: Path) -> None:
    found = load_spec(written(tmp_path, EXAMPLE))
    assert found.pipeline == found.table == "flights"
    assert [(each.name, str(each.type)) for each in found.columns] == [
        ("carrier", "STRING"),
        ("dep_delay", "DOUBLE"),
        ("time_hour", "TIMESTAMP"),
    ]
    assert found.schedule == "*/10 * * * *"
    assert (found.owner, found.description) == ("data-platform", "Departures from New York")


def test_a_spec_that_says_nothing_gets_the_defaults_of_the_design(tmp_path: Path) -> None:
    short, long = spec(), load_spec(written(tmp_path, EXAMPLE))
    said = {"format", "schedule", "owner", "description", "quarantine"}
    for key in PipelineSpec.model_fields.keys() - said:
        assert getattr(short, key) == getattr(long, key), key
    assert short.quarantine.budget == long.quarantine.budget
    assert short.schedule is None


@pytest.mark.parametrize(
    ("keys", "group"),
    [
        ({}, "sluice-flights"),
        ({"consumer_group": "other"}, "other"),
        ({"pipeline": "p"}, "sluice-p"),
    ],
)
def test_an_absent_consumer_group_is_named_after_the_pipeline(
    keys: dict[str, Any], group: str
) -> None:
    assert spec(**keys).consumer_group == group


def test_a_null_consumer_group_is_none_at_all() -> None:
    keys = {**spec_keys(), "consumer_group": None}
    assert PipelineSpec.model_validate(keys).consumer_group is None


@pytest.mark.parametrize(
    ("keys", "topic", "selected"),
    [
        ({"topics": ["a", "b"]}, "b", True),
        ({"topics": ["a.b"]}, "axb", False),
        ({"topics": ["a"]}, "ab", False),
        ({"topics": None, "topic_pattern": r"flights\..*"}, "flights.jfk", True),
        ({"topics": None, "topic_pattern": r"flights\..*"}, "flights-jfk", False),
        ({"topics": None, "topic_pattern": "flights"}, "flights2", False),
        ({"topics": None, "topic_pattern": "a|b"}, "b", True),
        ({"topics": None, "topic_pattern": "a|b"}, "bb", False),
    ],
)
def test_a_topic_is_selected_by_its_whole_name(
    keys: dict[str, Any], topic: str, selected: bool
) -> None:
    assert spec(**keys).selects(topic) is selected


@pytest.mark.parametrize(
    "keys",
    [
        {"partition_by": ["_topic"]},
        {"format": {"type": "json", "schema": "day DATE, x INT"}, "partition_by": ["day"]},
        {"format": {"type": "json", "schema": "day DATE, x INT"}, "cluster_by": ["x", "_offset"]},
        {"max_records_per_batch": 1, "max_batches_per_run": 1},
        {"quarantine": {"max_ratio": 0}},
        {"quarantine": {"max_ratio": 1}},
        {"quarantine": {"max_records": 0}},
        {"spark": {"spark.sql.shuffle.partitions": "4"}},
        {"schedule": "0 0 * * 1-5"},
        {"format": {"type": "json", "schema": "t TIMESTAMP", "timestamp_unit": "ms"}},
    ],
    ids=str,
)
def test_what_is_allowed_is_accepted(keys: dict[str, Any]) -> None:
    found = spec(**keys)
    assert all(hasattr(found, key) for key in keys)


def test_a_spec_cannot_be_changed_once_it_is_read() -> None:
    with pytest.raises(Exception, match="frozen"):
        spec().table = "other"  # type: ignore[misc]


names = st.from_regex(r"[a-z][a-z0-9_]{0,63}", fullmatch=True)
topics = st.from_regex(r"[A-Za-z0-9._-]{1,30}", fullmatch=True).filter(lambda t: t.strip("."))


@given(
    st.fixed_dictionaries(
        {
            "pipeline": names,
            "topics": st.lists(topics, min_size=1, max_size=3, unique=True),
            "start": st.sampled_from(["earliest", "latest"])
            | st.builds(lambda name: {"group": name}, topics)
            | st.dictionaries(
                topics, st.dictionaries(st.integers(0, 9), st.integers(0, 2**62), max_size=2)
            ).map(lambda given: {"offsets": given}),
            "max_records_per_batch": st.integers(1, 10**9),
            "max_batches_per_run": st.integers(1, 1000),
            "on_data_loss": st.sampled_from(["fail", "record"]),
            "quarantine": st.floats(0, 1).map(lambda ratio: {"max_ratio": ratio}),
        },
        optional={"owner": st.text(max_size=8), "consumer_group": st.text(min_size=1, max_size=8)},
    )
)
def test_every_valid_spec_survives_its_yaml(keys: dict[str, Any]) -> None:
    whole = spec_keys(**keys)
    found = PipelineSpec.model_validate(yaml.safe_load(yaml.safe_dump(whole)))
    assert found == PipelineSpec.model_validate(whole)
    for key in keys.keys() - {"start", "quarantine"}:
        assert getattr(found, key) == keys[key]
    assert found.quarantine.max_ratio == keys["quarantine"]["max_ratio"]
    if keys["start"] == "earliest":
        assert found.start == StartEarliest()
    if isinstance(found.start, StartOffsets):
        assert found.start.offsets == keys["start"]["offsets"]


def test_spec_files_are_the_yaml_files_of_the_folder_itself(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("b.yml", "a.yaml", "notes.md", "below/c.yaml"):
        (tmp_path / name).touch()
    assert [path.name for path in spec_files(tmp_path)] == ["a.yaml", "b.yml"]


def test_a_pipeline_is_found_in_whatever_file_it_is(tmp_path: Path) -> None:
    written(tmp_path, spec_keys(), "some.yml")
    written(tmp_path, spec_keys(pipeline="delays"), "other.yaml")
    assert find_spec(tmp_path, "flights").pipeline == "flights"


def test_the_bad_file_of_another_pipeline_is_in_nobodys_way(tmp_path: Path) -> None:
    written(tmp_path, "nonsense", "aaa.yaml")
    written(tmp_path, spec_keys(), "some.yaml")
    assert find_spec(tmp_path, "flights").pipeline == "flights"


def test_a_bad_file_of_the_pipelines_own_name_is_refused(tmp_path: Path) -> None:
    written(tmp_path, "nonsense", "flights.yaml")
    with pytest.raises(SpecError, match=r"flights\.yaml: expected the keys of a spec, found str"):
        find_spec(tmp_path, "flights")


@pytest.mark.parametrize(
    ("names", "told"), [((), "none"), (("weather", "delays"), "delays, weather")]
)
def test_a_pipeline_without_spec_is_refused_with_what_there_is(
    tmp_path: Path, names: tuple[str, ...], told: str
) -> None:
    for name in names:
        written(tmp_path, spec_keys(pipeline=name, table=name), f"{name}.yaml")
    expected = rf"a spec of a pipeline 'flights', found pipelines: {told}\. SLUICE_PIPELINES names"
    with pytest.raises(SpecError, match=expected):
        find_spec(tmp_path, "flights")


def test_a_pipeline_without_spec_may_be_in_a_file_that_is_refused(tmp_path: Path) -> None:
    written(tmp_path, spec_keys(pipeline="flights", tabel="x"), "other.yaml")
    with pytest.raises(SpecError, match=r"other.yaml: tabel: unknown key"):
        find_spec(tmp_path, "flights")


def test_of_two_files_of_a_pipeline_the_one_with_its_name_counts(tmp_path: Path) -> None:
    written(tmp_path, spec_keys(description="the copy"), "a_copy.yaml")
    written(tmp_path, spec_keys(description="the first"), "flights.yaml")
    assert find_spec(tmp_path, "flights").description == "the first"


def test_a_copy_does_not_stand_in_for_a_bad_file_of_the_pipelines_own_name(tmp_path: Path) -> None:
    written(tmp_path, spec_keys(tabel="x"), "flights.yaml")
    copy = written(tmp_path, spec_keys(), "copy.yaml")
    assert list(read_specs(tmp_path).accepted) == [copy], "Airflow shows the other's import error"
    with pytest.raises(SpecError, match=r"flights\.yaml: tabel: unknown key"):
        find_spec(tmp_path, "flights")


def test_a_file_that_repeats_another_pipeline_says_so_when_asked_for_its_own(
    tmp_path: Path,
) -> None:
    written(tmp_path, spec_keys(pipeline="delays"), "delays.yaml")
    written(tmp_path, spec_keys(pipeline="delays"), "flights.yaml")
    with pytest.raises(SpecError, match=r"flights\.yaml: pipeline: found 'delays', which delays"):
        find_spec(tmp_path, "flights")


def test_a_missing_folder_has_no_pipeline(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"found pipelines: none(.|\n)*none: no such folder"):
        find_spec(tmp_path / "none", "flights")


def test_a_pattern_has_exceptions() -> None:
    found = spec(topics=None, topic_pattern="fl.*", except_topics=["flaps"])
    assert [found.selects(each) for each in ("flights", "flaps", "flapsy")] == [True, False, True]


def test_kafkas_own_topics_match_no_pattern() -> None:
    names = ("__consumer_offsets", "__transaction_state", "__share_group_state", "__mine")
    every = spec(topics=None, topic_pattern=".*")
    assert [name for name in names if every.selects(name)] == ["__mine"]
    assert spec(topics=["__consumer_offsets"]).selects("__consumer_offsets")


def test_the_file_that_names_the_pipeline_is_answered_first_whatever_it_is_called(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.yaml").write_text("version: 1\nmistake: 1\n")
    (tmp_path / "shop.yaml").write_text("version: 1\npipeline: 'orders'  # ours\nmistake: 2\n")
    with pytest.raises(SpecError) as refused:
        find_spec(tmp_path, "orders")
    assert "a.yaml" not in str(refused.value)
    assert "shop.yaml: mistake: unknown key" in str(refused.value)
