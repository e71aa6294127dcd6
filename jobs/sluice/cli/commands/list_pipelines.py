"""`sluice list`: the pipelines that have a spec."""

from __future__ import annotations

import os

import click

from sluice.cli.output import json_option, print_json, print_table


@click.command("list")
@json_option
def list_pipelines(as_json: bool) -> None:
    """Show all pipelines: topics, table, schedule, owner and file. Contacts nothing.

    `sluice status` shows how they are, `sluice check` what is wrong with files that are left out.
    """
    from sluice.settings import Settings
    from sluice.spec.spec_files import read_specs

    found = read_specs(Settings.from_environment(os.environ).pipelines)
    by_name = sorted(found.accepted.items(), key=lambda each: each[1].pipeline)
    if as_json:
        pipelines = [
            {
                "pipeline": spec.pipeline,
                "topics": spec.topics,
                "topic_pattern": spec.topic_pattern,
                "table": spec.table,
                "schedule": spec.schedule,
                "kafka": spec.kafka,
                "owner": spec.owner,
                "file": str(path),
            }
            for path, spec in by_name
        ]
        print_json({"pipelines": pipelines, "refused": [str(path) for path in found.refused]})
        return
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
    for path in found.refused:
        click.echo(f"refused: {path.name}; `sluice check` says why")
