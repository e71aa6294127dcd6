"""`sluice reset`: close the generation, and continue from another position."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.options import bring_back_option, executing, require_reason
from sluice.cli.output import arguments
from sluice.cli.views.resets import print_preview, print_reset, print_skip
from sluice.offsets.notation import Positions, parse_positions, parse_positions_file, parse_scope
from sluice.positions.names import SKIP, TARGETS

if TYPE_CHECKING:
    from sluice.offsets.resets import Reset
    from sluice.operations.reset.targets import Target
    from sluice.pipeline import Pipeline

_from_file = click.option(
    "--from-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="To the offsets of a CSV file: topic,partition,offset.",
)


def _targets(command: click.decorators.FC) -> click.decorators.FC:
    """The options for the target: exactly one of them, or --from-file, is required."""
    for each in reversed(TARGETS.values()):
        option = f"--{each.target}"
        if each.metavar:
            value = click.option(
                option, metavar=each.metavar, multiple=each.repeatable, help=each.help
            )
            command = value(command)
        else:
            command = click.option(option, is_flag=True, help=each.help)(command)
    return command


@click.command()
@_targets
@_from_file
@click.option(
    "--topic",
    "scopes",
    multiple=True,
    metavar="TOPIC[:N,N]",
    help="Move only this topic, or these partitions of it. Repeatable.",
)
@click.option(
    "--new-cluster",
    is_flag=True,
    help="Go on with the cluster that the connection now leads to, in all partitions.",
)
@executing
@click.option("--as-previewed", metavar="ID", help="Do only what this preview showed, or refuse.")
@bring_back_option
@arguments
def reset(
    pipeline: str,
    scopes: tuple[str, ...],
    new_cluster: bool,
    reason: str,
    execute: bool,
    as_previewed: str | None,
    bring_back_erased: bool,
    as_json: bool,
    **asked: object,
) -> None:
    """Move the cursor of PIPELINE. Shows old and new; changes nothing without --execute.

    Say where to with exactly one of --to-…, --by-duration, --shift-by, --skip and --from-file.
    Offsets that are read again replace their rows; nothing is ever stored twice. Skipped offsets
    are recorded, with who and why.
    """
    require_reason(execute, reason, "reset")
    if as_previewed and not execute:
        raise click.UsageError("--as-previewed goes with --execute.")
    name = _chosen(asked)
    try:
        where = _where(name, asked[name.replace("-", "_")], scopes, new_cluster)
    except ValueError as problem:
        raise click.UsageError(f"--{name}: {problem}") from None
    opened, origin = open_named(pipeline), current_user()
    if isinstance(where, Mapping):
        if execute:
            skip = opened.skip(where, reason, origin.run_id, origin.actor, as_previewed)
        else:
            skip = opened.preview_skip(where, reason, origin.actor)
        print_skip(skip, as_json)
    elif execute:
        done = opened.reset(
            where, reason, origin.run_id, origin.actor, as_previewed, bring_back_erased
        )
        print_reset(_told_by_topic(opened, done), as_json)
    else:
        print_preview(opened.preview_reset(where), as_json)


def _told_by_topic(opened: Pipeline, done: Reset) -> Reset:
    from sluice.progress.lane_state import read_unchecked
    from sluice.progress.moved_to_another import as_moved

    return as_moved(read_unchecked(opened.resources), done)


def _chosen(asked: dict[str, object]) -> str:
    chosen = [name.replace("_", "-") for name, value in asked.items() if value]
    if len(chosen) == 1:
        return chosen[0]
    options = ", ".join(f"--{name.replace('_', '-')}" for name in sorted(asked))
    found = ", ".join(f"--{name}" for name in sorted(chosen)) or "none"
    raise click.UsageError(f"Say where to with exactly one of {options}; found {found}.")


def _where(
    name: str, value: object, written: tuple[str, ...], new_cluster: bool
) -> Target | Positions:
    """A target, or the positions to skip. Raises ValueError for what cannot be read."""
    from sluice.operations.reset.targets import named_target, to_offsets

    scopes = [parse_scope(each) for each in written]
    if scopes and name in (SKIP, "from-file"):
        raise ValueError("it already names its partitions: leave --topic out")
    if isinstance(value, Path):
        try:
            positions = parse_positions_file(value.read_text(encoding="utf-8"))
            return to_offsets(positions, new_cluster)
        except ValueError as problem:
            raise ValueError(f"{value}: {problem}") from None
    texts = value if isinstance(value, tuple) else (str(value),)
    if name == SKIP and not new_cluster:
        return parse_positions(texts, "@")
    return named_target(name, " ".join(texts), scopes, new_cluster)
