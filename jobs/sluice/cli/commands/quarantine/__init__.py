"""`sluice quarantine`: look at the records that could not be decoded, and decide about them."""

from __future__ import annotations

import click

from sluice.cli.commands.quarantine.drop import drop
from sluice.cli.commands.quarantine.list_errors import list_reasons
from sluice.cli.commands.quarantine.recover_rows import recover_rows
from sluice.cli.commands.quarantine.replay import replay
from sluice.cli.commands.quarantine.show import show
from sluice.cli.groups import HelpfulGroup


@click.group(cls=HelpfulGroup, short_help="Look at records that could not be decoded, and decide.")
def quarantine() -> None:
    """Look at the records of a pipeline that could not be decoded, and decide about them."""


for command in (list_reasons, show, replay, drop, recover_rows):
    quarantine.add_command(command)
