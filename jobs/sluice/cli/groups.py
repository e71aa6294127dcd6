"""A group of commands that answers a mistyped one with the most similar name."""

from __future__ import annotations

import click

from sluice.errors import did_you_mean


class HelpfulGroup(click.Group):
    """A group of commands. An unknown command is a usage error that suggests a known one."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word. Raises UsageError for one that is not known."""
        # click's own suggestions, from 8.4 on, do not know commands that are imported when needed.
        word, known = args[0], self.list_commands(ctx)
        if word not in known and word[:1].isalnum() and not ctx.resilient_parsing:
            meant = did_you_mean(word, known)
            raise click.UsageError(f"No such command {word!r}{meant}.", ctx)
        return super().resolve_command(ctx, args)
