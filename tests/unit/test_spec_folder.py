"""A spec reads files of its own folder, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from sluice.columns.columns import parse_columns
from sluice.errors import SpecError
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_folder import FolderFiles, find_spec, find_spec_file, load_spec, read_specs

from tests.unit.builders import spec_keys

EVENT = {"type": "object", "properties": {"id": {"type": "string"}, "user": {"$ref": "user.json"}}}
USER = {"type": "object", "properties": {"login": {"type": "string"}}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "pipelines"
    (found / "below").mkdir(parents=True)
    (found / "a.json").write_text("a")
    (found / "below" / "b.json").write_text("b")
    (tmp_path / "secret.json").write_text("secret")
    (found / "within.json").symlink_to("below/b.json")
    (found / "out.json").symlink_to("../secret.json")
    (found / "folder").symlink_to("..")
    return found


def test_files_in_the_folder_and_below_it_are_read(folder: Path) -> None:
    files = FolderFiles(folder)
    for name in ("a.json", "./a.json", "below/../a.json"):
        assert files.get(name) == b"a"
    for name in ("below/b.json", "within.json"):
        assert files.get(name) == b"b"


def test_nothing_beyond_the_folder_is_read_by_any_name(folder: Path) -> None:
    files, secret = FolderFiles(folder), folder.parent / "secret.json"
    ways = ["../secret.json", "below/../../secret.json", str(secret), "out.json"]
    ways += ["folder/secret.json", str(folder / "a.json"), "/etc/passwd"]
    odd = ["", ".", "below", "none.json", "a\0.json", "x" * 5000, "~/a.json"]
    assert [name for name in (*ways, *odd) if files.get(name) is not None] == []


def test_a_file_is_read_once(folder: Path) -> None:
    files = FolderFiles(folder)
    assert files.get("a.json") == b"a"
    (folder / "a.json").write_text("changed")
    assert files.get("a.json") == b"a"


def test_a_folder_that_is_a_link_itself_is_as_any(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert FolderFiles(tmp_path / "link").get("below/b.json") == b"b"


def loaded(folder: Path, form: dict[str, Any], **files: Any) -> PipelineSpec:
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    path = folder / "flights.yaml"
    path.write_text(yaml.safe_dump(spec_keys(format=form)))
    return load_spec(path)


JSON = {"type": "json", "schema_file": "event.json"}


def test_a_json_schema_may_refer_to_files_beside_it(folder: Path) -> None:
    spec = loaded(folder, JSON, event=EVENT, user=USER)
    assert spec.columns == parse_columns("id STRING, user STRUCT<login: STRING>")
    user = {**USER, "title": "a user"}
    assert loaded(folder, JSON, user=user).edition.digest != spec.edition.digest


def test_a_reference_that_leads_out_of_the_folder_is_refused(folder: Path) -> None:
    (folder.parent / "user.json").write_text(json.dumps(USER))
    for ref in ("../user.json", "folder/user.json", str(folder.parent / "user.json")):
        event = {"type": "object", "properties": {"user": {"$ref": ref}}}
        with pytest.raises(SpecError, match=r"schema_file event\.json: \$\.user: |expected a file"):
            loaded(folder, JSON, event=event)


def test_further_files_of_an_avro_schema_are_named(folder: Path) -> None:
    source = {"type": "fixed", "name": "Source", "size": 2}
    fields = [{"name": "source", "type": "Source"}]
    alert = {"type": "record", "name": "Alert", "fields": fields}
    form = {"type": "avro", "schema_file": "alert.json"}
    with pytest.raises(SpecError, match=r"name the file that defines it in schema_files$"):
        loaded(folder, form, alert=alert, source=source)
    spec = loaded(folder, {**form, "schema_files": ["source.json"]})
    assert spec.columns == parse_columns("source BINARY")


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (
            {**JSON, "schema_files": ["../secret.json"]},
            r"format: schema_files: found '\.\./secret\.json'; expected a file in the folder",
        ),
        ({**JSON, "schema_files": ["out.json"]}, r"format: schema_files: found 'out\.json'; expec"),
        ({**JSON, "schema_files": ["a.json", "a.json"]}, r"schema_files: a\.json: named twice"),
        (
            {**JSON, "schema_files": "a.json"},
            r"format\.schema_files: found 'a\.json'; expected a",
        ),
        ({**JSON, "schema_files": [""]}, r"format\.schema_files\.0: found ''; expected at least 1"),
        (
            {"type": "json", "schema": "id INT", "schema_files": ["a.json"]},
            "format: schema_files goes with schema_file: the file that refers to them",
        ),
        (
            {"type": "avro", "registry": "r", "schema_files": ["a.json"]},
            "format: schema_files goes with schema_file: the file that refers to them",
        ),
        (
            {"type": "protobuf", "registry": "r", "schema_files": ["a.proto"]},
            r"format\.schema_files: unknown key",
        ),
    ],
    ids=str,
)
def test_what_is_wrong_with_further_files_is_told(
    folder: Path, form: dict[str, Any], message: str
) -> None:
    with pytest.raises(SpecError, match=message):
        loaded(folder, form, event=USER)


ORDERS = {
    "version": 1,
    "pipeline": "{topic}",
    "table": "{topic}_log",
    "topic_pattern": r"orders[.-].*",
    "description": "Records of {topic}",
    "format": {"type": "raw"},
}


def write_template(
    folder: Path, found: list[str], left_out: Sequence[str] = (), **keys: Any
) -> Path:
    file = folder / "orders.yaml"
    file.write_text(yaml.safe_dump({**ORDERS, **keys}), encoding="utf-8")
    known = {"version": 1, "pipelines": [*found], "left_out": [*left_out]}
    (folder / "orders.yaml.topics.json").write_text(json.dumps(known), encoding="utf-8")
    return file


def test_a_template_makes_the_spec_that_a_file_of_its_own_would_have(tmp_path: Path) -> None:
    file = write_template(tmp_path, ["orders.eu", "orders.us"], most_pipelines=7)
    found = read_specs(tmp_path)
    assert found.refused == {}
    place = tmp_path / "orders.yaml (topic orders.eu)"
    own = {
        "pipeline": "orders_eu",
        "table": "orders_eu_log",
        "topics": ["orders.eu"],
        "description": "Records of orders.eu",
    }
    written = PipelineSpec.model_validate(spec_keys(**own))
    assert found.accepted[place] == written
    assert found.accepted[place].edition == written.edition
    eu, us = found.by_pipeline.values()
    assert (eu.pipeline, us.pipeline) == ("orders_eu", "orders_us")
    assert eu.format is us.format, "a schema is compiled once, not for each topic"
    assert found.file_of(place) == file
    assert find_spec_file(tmp_path, "orders_us")[0].parent == tmp_path


def test_a_consumer_group_may_have_the_topics_name_and_has_the_pipelines_by_default(
    tmp_path: Path,
) -> None:
    write_template(tmp_path, ["orders.eu"])
    assert read_specs(tmp_path).by_pipeline["orders_eu"].consumer_group == "sluice-orders_eu"
    write_template(tmp_path, ["orders.eu"], consumer_group="lake-{topic}")
    assert read_specs(tmp_path).by_pipeline["orders_eu"].consumer_group == "lake-orders.eu"
    write_template(tmp_path, ["orders.eu"], consumer_group=None)
    assert read_specs(tmp_path).by_pipeline["orders_eu"].consumer_group is None


def test_a_name_that_a_changed_template_makes_too_long_is_refused_alone(tmp_path: Path) -> None:
    write_template(tmp_path, ["orders.eu", f"orders.{'x' * 57}"], pipeline="a_{topic}")
    found = read_specs(tmp_path)
    assert [*found.by_pipeline] == ["a_orders_eu"]
    (problem,) = found.refused.values()
    assert f"orders.yaml (topic orders.{'x' * 57}): pipeline: found 'a_orders_x" in str(problem)


def test_topics_without_a_pipeline_are_refused_and_the_others_go_on(tmp_path: Path) -> None:
    file = write_template(tmp_path, ["orders.eu"], ["orders-eu", "orders.us"], most_pipelines=1)
    found = read_specs(tmp_path)
    assert [*found.by_pipeline] == ["orders_eu"]
    (problem,) = found.refused.values()
    first, second = str(problem).splitlines()
    assert first.startswith(f"{file}: most_pipelines: expected at most 1, found 2 topics;")
    assert second.startswith(f"{file}: topic orders-eu: found the name 'orders_eu', which the")


def test_a_name_of_another_spec_is_refused_by_template_and_topic(tmp_path: Path) -> None:
    write_template(tmp_path, ["orders.eu", "orders.us"])
    (tmp_path / "orders_eu.yaml").write_text(yaml.safe_dump(spec_keys(pipeline="orders_eu")))
    found = read_specs(tmp_path)
    assert sorted(found.by_pipeline) == ["orders_eu", "orders_us"]
    (problem,) = found.refused.values()
    assert str(problem).startswith(
        f"{tmp_path}/orders.yaml (topic orders.eu): pipeline: found 'orders_eu', which"
        " orders_eu.yaml already has"
    )


def test_a_refused_topic_does_not_stop_a_pipeline_that_is_named_like_the_file(
    tmp_path: Path,
) -> None:
    write_template(tmp_path, ["orders"], ["orders.9", "orders-9"], topic_pattern="orders.*")
    assert read_specs(tmp_path).refused
    assert find_spec(tmp_path, "orders").topics == ["orders"]


def test_a_broken_template_or_file_of_topics_affects_no_other_file(tmp_path: Path) -> None:
    file = write_template(tmp_path, ["orders.eu"], start="latest")
    (tmp_path / "flights.yaml").write_text(yaml.safe_dump(spec_keys()))
    assert [*read_specs(tmp_path).by_pipeline] == ["flights"]
    write_template(tmp_path, ["orders.eu"])
    (tmp_path / "orders.yaml.topics.json").write_text("{")
    found = read_specs(tmp_path)
    assert ([*found.by_pipeline], [*found.refused]) == (["flights"], [file])
    with pytest.raises(SpecError, match=r"orders\.yaml\.topics\.json: the file: Invalid JSON"):
        find_spec(tmp_path, "orders_eu")
