"""Where in a value its record is: which formats know it, and what is said of the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sluice.columns.columns import parse_columns
from sluice.errors import SpecError
from sluice.spec_file.formats import JsonFormat
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.places import INSTEAD, place_of
from sluice.spec_folder import load_spec

from tests.unit.builders import spec_keys
from tests.unit.sources import ROOT

JSON = {"type": "json", "schema": "id BIGINT"}


def refusal(folder: Path, **keys: Any) -> str:
    path = folder / "flights.yaml"
    path.write_text(yaml.safe_dump(spec_keys(**keys)), encoding="utf-8")
    with pytest.raises(SpecError) as refused:
        load_spec(path)
    return str(refused.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("at", "path"),
    [
        ("$", ()),
        ("payload", ("payload",)),
        ("$.payload", ("payload",)),
        ("$.a['b.c'].d-e", ("a", "b.c", "d-e")),
    ],
)
def test_a_place_is_a_path_as_in_columns(at: str, path: tuple[str, ...]) -> None:
    assert place_of(at) == path
    found = JsonFormat.model_validate({**JSON, "at": at})
    assert found.columns == parse_columns("id BIGINT")


@pytest.mark.parametrize("at", ["$.a[0]", "$.records[*]", "$..a", "", "$."])
def test_other_paths_are_refused(tmp_path: Path, at: str) -> None:
    assert refusal(tmp_path, format={**JSON, "at": at}).startswith("format.at: found ")


def test_it_decides_rows() -> None:
    with_at = PipelineSpec.model_validate(spec_keys(format={**JSON, "at": "$.payload"}))
    assert with_at.formats.decided["format"]["at"] == "$.payload"


def test_keys_have_places_as_well() -> None:
    keys = spec_keys(key_format={**JSON, "at": "$.payload"})
    found = PipelineSpec.model_validate(keys).key_format
    assert isinstance(found, JsonFormat)
    assert found.at == "$.payload"


def test_an_event_has_no_other_place(tmp_path: Path) -> None:
    told = refusal(tmp_path, format={**JSON, "envelope": "debezium", "at": "$.payload"})
    assert told == (
        "format.at: found '$.payload'; expected no envelope beside it, which says where"
        " its row is: keep one"
    )


@pytest.mark.parametrize("kind", ["avro", "protobuf"])
def test_other_formats_take_fields(tmp_path: Path, kind: str) -> None:
    form = {"type": kind, "registry": "schema_registry_default", "at": "$.payload"}
    assert refusal(tmp_path, format=form).startswith(
        "format.at: unknown key: it goes with type: json. In other formats, take the fields with"
        " `columns`: docs/formats.md#"
    )


def test_several_rows_of_one_record_are_refused_with_the_recipe(tmp_path: Path) -> None:
    for place, keys in (
        ("format.each", {"format": {**JSON, "each": "$.records[*]"}}),
        ("key_format.each", {"key_format": {**JSON, "each": "$[*]"}}),
        ("each", {"each": "$.records[*]"}),
    ):
        assert refusal(tmp_path, **keys).startswith(f"{place}: unknown key: one offset is one row.")


def test_the_refusals_name_parts_of_pages_that_are_there() -> None:
    for told in INSTEAD.values():
        page, _, part = told.rpartition(": ")[2].partition("#")
        titles = (ROOT / page).read_text(encoding="utf-8").splitlines()
        assert part.replace("-", " ") in [each.lstrip("# ").lower() for each in titles]
