"""`sluice peek`: some records of a topic, and the spec that they suggest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sluice.cli.caller import kafka_client
from sluice.cli.options import kafka_option
from sluice.cli.output import json_option, print_json, print_table
from sluice.cli.views.records import excerpt, sample_document
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
    count: int,
    begin: End | Position,
    only_spec: bool,
    as_json: bool,
) -> None:
    """Show some records of TOPIC, and propose a spec for it.

    The types are those that all shown records fit. Writes nothing, joins no consumer group, and
    starts no JVM. Long values are cut; --json has them whole.
    """
    from sluice.operations.peek.peek import peek as read

    if only_spec and as_json:
        raise click.UsageError("Give --spec, or --json, which has the spec as well.")
    if isinstance(begin, tuple) and begin[0].topic != topic:
        raise click.BadParameter(f"{begin[0]} is not of topic {topic}", param_hint="'--from'")
    found = read(kafka_client(connection), topic, count, begin)
    if as_json:
        print_json(_document(found))
    elif only_spec:
        click.echo(found.spec, nl=False)
    else:
        _print(found)


def _document(found: Peek) -> dict[str, object]:
    return {
        "topic": found.topic,
        "partitions": found.partitions,
        "offsets": found.offsets,
        "records": [sample_document(each) for each in found.samples],
        "spec": found.spec,
    }


def _print(found: Peek) -> None:
    held = format_count(found.offsets, "offset")
    logs = format_count(found.partitions, "partition")
    title = f"{found.topic}: {format_count(len(found.samples), 'record')} of {held} in {logs}"
    if found.samples:
        print_table(
            title,
            ("record", "timestamp (UTC)", "key", "value"),
            [
                (
                    str(each),
                    format_moment(each.timestamp) if each.timestamp else None,
                    excerpt(each.key),
                    excerpt(each.value),
                )
                for each in found.samples
            ],
            prose=("key", "value"),
        )
    else:
        click.echo(title)
    click.echo(f"\n{found.spec}", nl=False)
