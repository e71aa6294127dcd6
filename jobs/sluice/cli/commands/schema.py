"""`sluice schema`: what an editor needs to complete and check a spec."""

from __future__ import annotations

import click

from sluice.cli.output import json_option, print_json


@click.command()
@json_option
def schema(as_json: bool) -> None:
    """Print the JSON schema of a spec, for editors.

    For an editor with a YAML language server, keep it in a file beside the specs, and begin each
    spec with: # yaml-language-server: $schema=spec.schema.json
    """
    from sluice.spec_file.spec_schema import spec_schema

    print_json(spec_schema())
