"""`sluice peek`: some records of a topic, and the spec that they suggest."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import kafka_client, known_registry, registry_client
from sluice.cli.options import kafka_option
from sluice.cli.output import json_option, print_json, print_table
from sluice.cli.views.decoded import decoded_document, registry_document, schema_rows, shown
from sluice.cli.views.records import sample_document
from sluice.offsets.notation import parse_positions
from sluice.offsets.quantities import format_count, format_moment

if TYPE_CHECKING:
    from sluice.operations.peek.peek import Peek, Position
    from sluice.operations.peek.sampling import End


def _begin(context: click.Context, option: click.Parameter, written: str) -> End | Position:
    from sluice.operations.peek.sampling import End

    if written in list(End):
        return End(written)
    try:
        (found,) = parse_positions([written], "@").items()
    except ValueError as problem:
        raise click.BadParameter(f"{problem}; or earliest, latest", context, option) from None
    return found


@click.command(short_help="Show some records of TOPIC, and propose a spec for it.")
@click.argument("topic")
@kafka_option
@click.option(
    "--registry",
    metavar="CONNECTION",
    help="The Airflow connection of the schema registry whose schemas the records name.",
)
@click.option(
    "-n",
    "--samples",
    "count",
    default=10,
    show_default=True,
    type=click.IntRange(1, 1000),
    help="How many records at most.",
)
@click.option(
    "--from",
    "begin",
    default="latest",
    show_default=True,
    callback=_begin,
    metavar="earliest|latest|'TOPIC[N]@OFFSET'",
    help="Which records: the first, the last, or those from here on.",
)
@click.option("--spec", "only_spec", is_flag=True, help="Print nothing but the proposed spec.")
@json_option
def peek(
    topic: str,
    connection: str,
    registry: str | None,
    count: int,
    begin: End | Position,
    only_spec: bool,
    as_json: bool,
) -> None:
    """Show some records of TOPIC, and propose a spec for it.

    The types are those that all shown records fit. With --registry, records are decoded by its
    schemas, and the spec reads them there; exits with 1 if it cannot be asked. Writes nothing,
    joins no consumer group, and starts no JVM. Long values are cut; --json has them whole.
    """
    from sluice.operations.peek.peek import peek as read

    if only_spec and as_json:
        raise click.UsageError("Give --spec, or --json, which has the spec as well.")
    if isinstance(begin, tuple) and begin[0].topic != topic:
        raise click.BadParameter(f"{begin[0]} is not of topic {topic}", param_hint="'--from'")
    known = "" if registry else known_registry()
    asked = registry_client(registry) if registry else None
    found = read(kafka_client(connection), topic, count, begin, asked, known)
    if as_json:
        print_json(_document(found))
    elif only_spec:
        click.echo(found.spec, nl=False)
    else:
        _print(found)
    if found.refusal:
        click.echo(f"{found.refusal} The records are shown without it.", err=True)
        sys.exit(1)


def _document(found: Peek) -> dict[str, object]:
    return {
        "topic": found.topic,
        "partitions": found.partitions,
        "offsets": found.offsets,
        "records": [
            {**sample_document(each), **decoded_document(found.answers, each)}
            for each in found.samples
        ],
        **registry_document(found),
        "spec": found.spec,
    }


def _print(found: Peek) -> None:
    held = format_count(found.offsets, "offset")
    logs = format_count(found.partitions, "partition")
    title = f"{found.topic}: {format_count(len(found.samples), 'record')} of {held} in {logs}"
    keys, values = (found.answers.keys, found.answers.values) if found.answers else (None, None)
    if found.samples:
        print_table(
            title,
            ("record", "timestamp (UTC)", "key", "value"),
            [
                (
                    str(each),
                    format_moment(each.timestamp) if each.timestamp else None,
                    shown(keys, each, each.key),
                    shown(values, each, each.value),
                )
                for each in found.samples
            ],
            prose=("key", "value"),
        )
    else:
        click.echo(title)
    if found.answers and (rows := schema_rows(found.answers)):
        click.echo()
        print_table(
            f"Schemas of {found.answers.registry}",
            ("schema", "kind", "record", "of", "samples", "subjects"),
            rows,
            prose=("record", "subjects"),
        )
    click.echo(f"\n{found.spec}", nl=False)
