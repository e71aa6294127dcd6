"""`sluice produce`: a helper that writes the lines of a file into a topic, to try things out."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import click

from sluice.cli.caller import kafka_client
from sluice.cli.interrupts import last_words
from sluice.cli.options import kafka_option
from sluice.cli.output import json_option, print_json
from sluice.errors import SettingsError
from sluice.offsets.quantities import format_count

if TYPE_CHECKING:
    from sluice.broker.topic_writer import TopicWriter
    from sluice.operations.produce.lines import LineRecord

_SECONDS = 5.0


@click.command(short_help="Write lines of a file into TOPIC, to try things out.")
@click.argument("topic")
@click.argument("file", default="-", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@kafka_option
@click.option(
    "--key",
    "key_field",
    metavar="FIELD",
    help="The field of each JSON object whose value becomes the record's key. Default: no key.",
)
@click.option("--raw", is_flag=True, help="Take every line as it is, JSON or not.")
@click.option(
    "--partitions",
    type=click.IntRange(1),
    help="Create the topic with so many partitions, if it is missing.",
)
@json_option
def produce(
    topic: str,
    file: str,
    connection: str,
    key_field: str | None,
    raw: bool,
    partitions: int | None,
    as_json: bool,
) -> None:
    """Write the lines of FILE, or of standard input, into TOPIC: each line is one record.

    Each line is one JSON value, as in a .jsonl file, and becomes a record's value as it stands;
    blank lines are left out. A record without a key goes to any partition. Every record is
    acknowledged by all replicas, and none is written twice; but a second call writes all again.

    A helper to try things out: pipelines never write to Kafka. Creates no topic without
    --partitions.
    """
    if raw and key_field:
        raise click.UsageError("--key needs JSON objects: leave --raw out.")
    from sluice.broker.topic_writer import TopicWriter
    from sluice.operations.produce.lines import records_of
    from sluice.operations.produce.target import require_topic

    client = kafka_client(connection)
    with _opened(file) as lines:
        records = _some(records_of(lines, key_field, raw), file)
        created = require_topic(client, topic, partitions)
        if created and not as_json:
            click.echo(f"{topic}: created, with {format_count(partitions or 0, 'partition')}")
        writer = TopicWriter(client, topic)
        with last_words(lambda: _interrupted(writer, topic)):
            _write(writer, records, topic)
    if as_json:
        print_json({"topic": topic, "records": writer.delivered, "created": created})
    else:
        click.echo(f"{topic}: {format_count(writer.delivered, 'record')} delivered")


def _opened(file: str) -> BinaryIO:
    if file != "-":
        return open(file, "rb")
    if sys.stdin is None:
        raise SettingsError("standard input is closed: expected records, one JSON value per line.")
    if sys.stdin.isatty():
        click.echo("one JSON value per line; Ctrl-D ends", err=True)
    return sys.stdin.buffer


def _some(records: Iterator[LineRecord], file: str) -> Iterator[LineRecord]:
    """The records, read up to the first. Raises SettingsError if there is none."""
    first = next(records, None)
    if first is None:
        where = "standard input" if file == "-" else file
        raise SettingsError(f"{where}: expected records, one JSON value per line, found none.")
    return _begun(first, records)


def _begun(first: LineRecord, rest: Iterator[LineRecord]) -> Iterator[LineRecord]:
    yield first
    yield from rest


def _write(writer: TopicWriter, records: Iterator[LineRecord], topic: str) -> None:
    """Send all, and wait for them; a bad line ends it after the lines before it."""
    reported = time.monotonic()
    try:
        for each in records:
            writer.send(each.number, each.key, each.value)
            if time.monotonic() - reported >= _SECONDS:
                reported = time.monotonic()
                click.echo(f"{topic}: {_delivered(writer)}", err=True)
    except SettingsError as problem:
        writer.finish()
        before = format_count(writer.delivered, "record")
        raise SettingsError(f"{problem} Delivered before it: {before}.") from None
    writer.finish()


def _interrupted(writer: TopicWriter, topic: str) -> str:
    writer.hear_answers()
    return f"{topic}: {_delivered(writer)}"


def _delivered(writer: TopicWriter) -> str:
    waiting = f", {writer.waiting:,} on their way" if writer.waiting else ""
    return f"{format_count(writer.delivered, 'record')} delivered{waiting}"
