"""Properties that a spec may set: within bounds, and told what is allowed."""

from __future__ import annotations

import pytest
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.table_properties import require_allowed

from tests.unit.builders import spec_keys


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("delta.deletedFileRetentionDuration", "interval 7 days"),
        ("delta.deletedFileRetentionDuration", "2 weeks"),
        ("delta.logRetentionDuration", "interval 60 days"),
        ("delta.enableChangeDataFeed", "true"),
        ("delta.checkpointInterval", "100"),
    ],
)
def test_what_is_within_bounds_is_taken(key: str, value: str) -> None:
    require_allowed({key: value})


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("delta.deletedFileRetentionDuration", "interval 6 days", "expected an interval of at"),
        ("delta.logRetentionDuration", "a while", "expected an interval of at least 7 days"),
        ("delta.enableChangeDataFeed", "yes", "expected true or false"),
        ("delta.checkpointInterval", "1001", "expected a whole number from 1 to 1000"),
        ("delta.checkpointInterval", "²", "expected a whole number from 1 to 1000"),
        ("delta.chekpointInterval", "10", r"\(did you mean delta.checkpointInterval\?\); allowed"),
        ("delta.appendOnly", "false", "a batch that is read again replaces its old rows"),
        ("delta.targetFileSize", "128mb", "write `target_file_size: 128m`"),
        ("delta.columnMapping.mode", "name", "allowed: delta.checkpointInterval"),
        ("sluice.pipeline", "other", "allowed: delta.checkpointInterval"),
    ],
)
def test_what_is_not_is_refused_with_what_is_allowed(key: str, value: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        require_allowed({key: value})


def test_a_value_may_be_written_as_yaml_has_it_and_decides_no_rows() -> None:
    given = {"delta.enableChangeDataFeed": True, "delta.checkpointInterval": 50}
    spec = PipelineSpec.model_validate(spec_keys(properties=given, target_file_size="128m"))
    assert spec.properties == {
        "delta.enableChangeDataFeed": "true",
        "delta.checkpointInterval": "50",
    }
    assert spec.edition == PipelineSpec.model_validate(spec_keys()).edition


@pytest.mark.parametrize("name", ["_change_type", "_Commit_Version", "__is_cdc"])
def test_a_change_feed_has_names_of_its_own(name: str) -> None:
    form = {"type": "json", "schema": f"id INT, {name} STRING"}
    on = {"delta.enableChangeDataFeed": True}
    assert PipelineSpec.model_validate(spec_keys(format=form)).shape.columns[1].name == name
    told = f"{name}: a table with delta.enableChangeDataFeed cannot have a column of this name"
    with pytest.raises(ValueError, match=told):
        PipelineSpec.model_validate(spec_keys(format=form, properties=on))
    keys = spec_keys(format=form, properties=on, exclude=[name], derived={"changed": name})
    assert [e.name for e in PipelineSpec.model_validate(keys).shape.columns] == ["id", "changed"]
