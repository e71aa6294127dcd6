"""Choosing: the options that say which quarantined records a command is about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from sluice.planning.aside import Choice
from sluice.planning.batches import parse_batch
from sluice.planning.ranges import TopicPartition
from sluice.planning.written import parse_positions

Command = TypeVar("Command", bound=Callable[..., Any])
Position = tuple[TopicPartition, int]


def _positions(
    context: click.Context, option: click.Parameter, written: tuple[str, ...]
) -> list[Position]:
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


def choosing(command: Command) -> Command:
    """The options that choose records; those that are left out do not narrow the choice."""
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
            help="Records of this batch, such as forward-1-42.",
        ),
        click.option("--reason-like", default="", help="Records whose reason contains this text."),
    )
    for option in reversed(options):
        command = option(command)
    return command


# For commands that do something: to mean all of them, one has to say so.
everything_option = click.option(
    "--all", "everything", is_flag=True, help="All records that are in quarantine."
)


def some_or_all(
    reason_like: str, batch: str, positions: Sequence[Position], everything: bool
) -> Choice:
    """The records that were chosen. Raises UsageError unless either some are named or all are."""
    if everything == bool(positions or batch or reason_like):
        raise click.UsageError("Say which: --at, --batch, --reason-like, or --all of them.")
    return Choice(reason_like, batch, positions)
