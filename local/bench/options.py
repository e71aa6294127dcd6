"""The options that benches share: how many records, how many rounds, and the file of figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from local.bench.world import PARTITIONS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

rounds = click.option("--rounds", default=5, show_default=True, type=click.IntRange(min=1))
figures = click.option(
    "--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures too."
)


def records(usual: Sequence[int]) -> Decorator:
    """`--records`, several times if wanted."""
    return click.option(
        "--records",
        "sizes",
        default=usual,
        show_default=True,
        multiple=True,
        type=click.IntRange(min=PARTITIONS),
        help="How many; may be given several times.",
    )
