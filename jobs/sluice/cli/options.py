"""Options that several commands have: which quarantined records, dry runs, errors of usage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import click

from sluice.cli.output import Command
from sluice.errors import SettingsError
from sluice.offsets.notation import parse_batch, parse_positions
from sluice.offsets.quarantined import RecordFilter
from sluice.offsets.ranges import TopicPartition

RecordPosition = tuple[TopicPartition, int]


def _positions(
    context: click.Context, option: click.Parameter, written: tuple[str, ...]
) -> list[RecordPosition]:
    try:
        return [each for text in written for each in parse_positions([text], "@").items()]
    except ValueError as problem:
        raise click.BadParameter(str(problem), context, option) from None


def _batch(context: click.Context, option: click.Parameter, written: str) -> str:
    try:
        if written:
            parse_batch("", written)
    except ValueError as problem:
        raise click.BadParameter(str(problem), context, option) from None
    return written


def record_options(command: Command) -> Command:
    """The options that choose records; an option left out does not narrow the choice."""
    options = (
        click.option(
            "--at",
            "positions",
            multiple=True,
            callback=_positions,
            metavar="'TOPIC[N]@OFFSET'",
            help="This record. May be repeated.",
        ),
        click.option(
            "--batch",
            default="",
            callback=_batch,
            metavar="BATCH",
            help="Records of this batch, such as forward-1-42.",
        ),
        click.option(
            "--reason-like",
            default="",
            help="Records whose reason contains this text, as `list` or `show` has it.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


# For commands that change something: all records must be requested explicitly.
everything_option = click.option(
    "--all", "everything", is_flag=True, help="All records in quarantine."
)


def chosen_records(
    reason_like: str, batch: str, positions: Sequence[RecordPosition], everything: bool
) -> RecordFilter:
    """The chosen records. Raises UsageError unless the user named some of them, or all."""
    if everything == bool(positions or batch or reason_like):
        raise click.UsageError("Say which: --at, --batch, --reason-like, or --all.")
    return RecordFilter(reason_like, batch, positions)


# For commands about a topic; those about a pipeline have it from the spec.
kafka_option = click.option(
    "--kafka",
    "connection",
    default="kafka_default",
    show_default=True,
    metavar="CONNECTION",
    help="The Airflow connection of the cluster.",
)

from_option = partial(
    click.option,
    "--from",
    "start",
    metavar="MOMENT",
    help="Records from this moment on, such as 2026-11-01T06Z.",
)
to_option = partial(click.option, "--to", "end", metavar="MOMENT", help="… and before this one.")

dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Show the batches that would be read; write nothing."
)

bring_back_option = click.option(
    "--bring-back-erased",
    is_flag=True,
    help="Allow this to bring back rows that others deleted, or to undo what they changed.",
)


@contextmanager
def refusing_usage() -> Iterator[None]:
    """Report options that cannot be parsed or combined as usage errors."""
    try:
        yield
    except SettingsError as problem:
        raise click.UsageError(str(problem)) from None


def executing(command: Command) -> Command:
    """The options of a command that decides: it shows what it would do, or does it, with a why."""
    why = click.option("--reason", default="", help="Why, for the record. Needed with --execute.")
    do = click.option("--execute", is_flag=True, help="Do it. Otherwise nothing is changed.")
    return why(do(command))


def require_reason(execute: bool, reason: str, record: str) -> None:
    """Raises UsageError where something is to be done without a reason for the record."""
    if execute and not reason.strip():
        raise click.UsageError(f"--execute needs --reason: it is recorded with the {record}.")
