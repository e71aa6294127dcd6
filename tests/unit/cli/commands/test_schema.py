"""The schema for editors: it takes every spec that is valid, and refuses what it can see."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sluice.cli.commands.schema import spec_schema

from tests.unit.builders import spec_keys

CHECK = jsonschema.Draft202012Validator(spec_schema())


def test_it_is_a_schema_itself() -> None:
    jsonschema.Draft202012Validator.check_schema(spec_schema())


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"start": "latest"},
        {"start": "earliest", "alerts": {"max_lag": "PT30M", "max_quarantine": 0.001}},
        {"start": {"timestamp": "2013-01-01T00:00:00Z"}},
        {"start": {"offsets": {"flights": {"0": 12}}}},
        {"start": {"delta_ingest": {"table": "/t", "app_id": "a"}}},
        {"topics": None, "topic_pattern": "f.*"},
        {"topics": None, "topic_pattern": "f.*", "pipeline": "{topic}", "table": "t_{topic}_1"},
        {"topics_allowed": ["flights"], "most_pipelines": 3},
        {"consumer_group": None, "schedule": None},
        {"format": {"type": "raw"}},
        {"key_format": "long"},
        {"key_format": {"type": "uuid"}},
        {"key_format": {"type": "json", "schema": "id INT"}},
        {"derived": {"day": "CAST(_timestamp AS DATE)"}, "exclude": ["carrier"]},
        {"include": ["carrier"], "comments": {"carrier": "whose"}, "target_file_size": "128m"},
        {"properties": {"delta.enableChangeDataFeed": True, "delta.checkpointInterval": 10}},
    ],
)
def test_it_takes_what_is_valid(keys: dict[str, Any]) -> None:
    assert not list(CHECK.iter_errors(spec_keys(**keys)))


@pytest.mark.parametrize(
    "keys",
    [
        {"topic": "flights"},
        {"start": "yesterday"},
        {"format": {"type": "csv"}},
        {"format": {"type": "json"}},
        {"format": "raw"},
        {"format": {"type": "long"}},
        {"key_format": "avro"},
        {"max_batches_per_run": 0},
        {"pipeline": "Flights"},
        {"pipeline": "T{topic}"},
        {"most_pipelines": 0},
        {"alerts": {"max_age": "PT1H"}},
        {"derived": ["day"]},
        {"properties": {"delta.appendOnly": True}},
        {"target_file_size": "128MB"},
    ],
)
def test_it_refuses_what_is_not(keys: dict[str, Any]) -> None:
    assert list(CHECK.iter_errors(spec_keys(**keys)))


def test_it_takes_the_spec_that_comes_with_sluice() -> None:
    ours = yaml.safe_load(Path("dags/pipelines/flights.yaml").read_text(encoding="utf-8"))
    assert not list(CHECK.iter_errors(ours))
