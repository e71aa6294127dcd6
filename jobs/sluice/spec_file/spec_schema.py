"""The JSON schema of a spec, for editors: what can be said of a key by itself."""

from __future__ import annotations

from typing import Any

from sluice.spec_file.pipeline_spec import PipelineSpec


def spec_schema() -> dict[str, Any]:
    """The schema (draft 2020-12). What keys mean together only `sluice check` can tell."""
    found = PipelineSpec.model_json_schema()
    # As a spec writes it, not as it is stored.
    found["properties"]["start"]["default"] = "earliest"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | found | {"title": "A pipeline of Sluice"}
