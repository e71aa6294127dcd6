"""Dropping quarantined records of a pipeline that has read nothing yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from sluice.errors import SettingsError
from sluice.offsets.quarantined import RecordFilter
from sluice.operations.quarantine.drop import preview_drop
from sluice.pipeline import open_pipeline
from sluice.settings import Settings
from sluice.spec_file.pipeline_spec import PipelineSpec

RAW = {
    "version": 1,
    "pipeline": "trips",
    "table": "trips",
    "topics": ["t"],
    "format": {"type": "raw"},
}


def test_a_pipeline_without_history_has_nothing_to_drop(tmp_path: Path) -> None:
    settings = Settings(warehouse=str(tmp_path), pipelines=tmp_path)
    # Neither the tables nor the broker are needed to say so.
    no_broker = {"bootstrap.servers": "127.0.0.1:1"}
    pipeline = open_pipeline(PipelineSpec.model_validate(RAW), settings, no_broker)
    with pytest.raises(SettingsError, match="trips: nothing was read yet"):
        preview_drop(pipeline.resources, RecordFilter())
