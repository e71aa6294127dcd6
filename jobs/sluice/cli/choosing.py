"""Choosing: the options that say which quarantined records a command is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

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


def choosing(command: Command) -> Command:
    """The options that choose records; those that are left out do not narrow the choice."""
    for option in (
        click.option(
            "--at",
            "positions",
            multiple=True,
            callback=_positions,
            metavar="'TOPIC[N]@OFFSET'",
            help="This record. May be repeated.",
        ),
        click.option("--batch", default="", help="Records of this batch, such as forward-1-42."),
        click.option("--reason-like", default="", help="Records whose reason contains this text."),
    ):
        command = option(command)
    return command
