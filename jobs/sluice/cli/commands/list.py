"""`sluice list`: the pipelines that have a spec."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluice.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from sluice.spec_file.pipeline_spec import PipelineSpec


@click.command("list", short_help="Show what the specs of all pipelines say.")
@json_option
def list_pipelines(as_json: bool) -> None:
    """Show all pipelines: topics, table, schedule, owner and file. Contacts nothing.

    `sluice status` shows how they are, `sluice check` what is wrong with files that are left out.
    """
    from sluice.settings import Settings
    from sluice.spec_folder import NoSpecFolder, read_specs

    found = read_specs(Settings.from_environment(os.environ).pipelines)
    for problem in found.refused.values():
        if isinstance(problem, NoSpecFolder):
            raise problem
    by_name = sorted(found.accepted.items(), key=lambda each: each[1].pipeline)
    if as_json:
        documents = [_document(found.file_of(path), spec) for path, spec in by_name]
        print_json({"pipelines": documents, "refused": [*map(str, found.refused)]})
        return
    _print_rows(by_name)
    for path in found.refused:
        click.echo(f"refused: {path.name}; `sluice check` says why")


def _print_rows(by_name: Sequence[tuple[Path, PipelineSpec]]) -> None:
    print_table(
        "pipelines",
        ("pipeline", "topics", "table", "schedule (UTC)", "owner", "file"),
        [
            (
                spec.pipeline,
                ", ".join(spec.topics or [f"like {spec.topic_pattern}"]),
                spec.table,
                spec.schedule or "by hand",
                spec.owner,
                path.name,
            )
            for path, spec in by_name
        ],
        prose=("topics", "owner", "file"),
    )


def _document(path: Path, spec: PipelineSpec) -> dict[str, object]:
    return {
        "pipeline": spec.pipeline,
        "topics": spec.topics,
        "topic_pattern": spec.topic_pattern,
        "table": spec.table,
        "schedule": spec.schedule,
        "kafka": spec.kafka,
        "owner": spec.owner,
        "file": str(path),
    }
