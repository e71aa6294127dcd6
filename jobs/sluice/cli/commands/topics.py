"""`sluice topics`: the topics that get a pipeline and a table each."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import kafka_client
from sluice.cli.output import json_option, print_json, print_table

if TYPE_CHECKING:
    from sluice.broker.port import Cluster
    from sluice.operations.find_topics import TopicsLook


@click.command(short_help="Find the topics that get a pipeline and a table each.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option("--execute", is_flag=True, help="Keep what is found: new topics get their pipeline.")
@json_option
def topics(files: Sequence[Path], execute: bool, as_json: bool) -> None:
    """Look for new topics of spec FILES with {topic} in their names, or of all in SLUICE_PIPELINES.

    Shows which topics have a pipeline, which are new, which are gone from Kafka, and which get none
    and why; exits with 1 if any is refused, or if a spec is that has {topic} in it. With --execute,
    new ones get their pipeline: they are written to a file beside the spec, which DAGs and all
    commands read. Only this command, and the DAG sluice_topics, ask Kafka for it.
    """
    from sluice.operations.find_topics import find_topics
    from sluice.settings import Settings

    folder = Settings.from_environment(os.environ).pipelines
    looks, failed = find_topics(folder, files, _cluster, execute=execute)
    if as_json:
        print_json({"templates": [_document(each) for each in looks]})
    else:
        for each in looks:
            _print(each)
        if not looks and not failed:
            click.echo(f"{folder}: no spec has {{topic}} in pipeline and table")
        if not execute and any(each.choice.new for each in looks):
            click.echo("Nothing was changed: --execute does it.")
    refused = [line for each in looks for line in each.refused]
    for line in (*refused, *map(str, failed)):
        click.echo(line, err=True)
    sys.exit(1 if refused or failed else 0)


def _cluster(connection: str) -> Cluster:
    from sluice.broker.cluster import KafkaCluster

    return KafkaCluster(kafka_client(connection))


def _print(look: TopicsLook) -> None:
    rows = []
    for topic in sorted((*look.choice.kept, *look.choice.new)):
        names = look.template.names(topic)
        state = (
            "new" if topic in look.choice.new else "gone from Kafka" if topic in look.gone else ""
        )
        rows.append((topic, names["pipeline"], names["table"], state))
    print_table(look.path.name, ("topic", "pipeline", "table", "state"), rows)
    for line in look.told:
        click.echo(f"{look.path.name}: {line}")


def _document(look: TopicsLook) -> dict[str, object]:
    choice = look.choice
    return {
        "file": str(look.path),
        "pipelines": {each: look.template.names(each) for each in (*choice.kept, *choice.new)},
        "new": choice.new,
        "gone": look.gone,
        "not_allowed": choice.not_allowed,
        "given_up": choice.given_up,
        "refused": look.refused,
    }
