"""`sluice schema`: what an editor needs to complete and check a spec."""

from __future__ import annotations

from typing import Any

import click

from sluice.cli.output import json_option, print_json


@click.command()
@json_option
def schema(as_json: bool) -> None:
    """Print the JSON schema of a spec, for editors.

    For an editor with a YAML language server, keep it in a file beside the specs, and begin each
    spec with: # yaml-language-server: $schema=spec.schema.json
    """
    print_json(spec_schema())


def spec_schema() -> dict[str, Any]:
    """The schema (draft 2020-12). What keys mean together only `sluice check` can tell."""
    from sluice.spec_file.pipeline_spec import PipelineSpec
    from sluice.spec_file.topic_template import NAME_OF_TEMPLATE, TemplateKeys

    found = PipelineSpec.model_json_schema()
    found["properties"] |= TemplateKeys.model_json_schema()["properties"]
    for key in ("pipeline", "table"):
        found["properties"][key]["pattern"] += f"|{NAME_OF_TEMPLATE}"
    # As a spec writes it, not as it is stored.
    found["properties"]["start"]["default"] = "earliest"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | found | {"title": "A pipeline of Sluice"}
