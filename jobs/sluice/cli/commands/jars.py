"""`sluice jars`: fetch the jars that Spark needs besides its own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from sluice.cli.output import json_option, print_json
from sluice.offsets.quantities import format_count


@click.command(short_help="Fetch the jars that Spark needs for Kafka and Delta.")
@click.option(
    "--to",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Put them there, as for another host, or where SLUICE_JARS will point.",
)
@click.option("--s3", is_flag=True, help="Fetch those for a warehouse on S3 as well.")
@json_option
def jars(directory: Path | None, s3: bool, as_json: bool) -> None:
    """Fetch the jars that Spark needs besides its own, and compare each with its checksum.

    They go into SLUICE_JARS, or else into this Python environment: a Spark that Sluice starts finds
    them there. Run it after each installation; it fetches only what is missing or differs. It needs
    Java and pyspark, whose Ivy it uses; IVY_SETTINGS=FILE names the Ivy settings of a mirror.
    """
    from sluice.cli.views.arriving import shown_arrivals
    from sluice.lake.jars.fetching import fetch
    from sluice.lake.jars.jar_folder import JarFolder
    from sluice.lake.jars.jar_set import S3, SPARK

    folder = JarFolder(directory.absolute()) if directory else JarFolder.in_environment(os.environ)
    found = []
    for each in (SPARK, S3) if s3 else (SPARK,):
        place = folder.of(each)
        with _cleaning_up(), shown_arrivals(each.name, len(each.listed)) as arrived:
            fetched = fetch(each, folder, os.environ, arrived)
        sizes = [file.stat().st_size for file in place.glob("*.jar")]
        found.append(
            {"folder": str(place), "jars": len(sizes), "bytes": sum(sizes), "fetched": fetched}
        )
        if not as_json:
            size = f"{sum(sizes) / 1e6:,.0f} MB"
            done = "fetched" if fetched else "there already"
            click.echo(f"{place}: {format_count(len(sizes), 'jar')}, {size}, {done}")
    if as_json:
        print_json({"sets": found})


@contextmanager
def _cleaning_up() -> Iterator[None]:
    """Other commands end at once when they are interrupted; here a download must not stay."""

    def end(number: int, _: object) -> None:
        sys.exit(128 + number)

    heard = [n for n in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(n) != signal.SIG_IGN]
    before = {each: signal.signal(each, end) for each in heard}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
