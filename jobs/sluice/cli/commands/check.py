"""`sluice check`: what is wrong with the specs, before they are deployed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from sluice.cli.output import json_option, print_json
from sluice.offsets.quantities import format_count


@click.command(short_help="Find what is wrong with specs, before they are deployed.")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--mark-warehouse",
    is_flag=True,
    help="Write SLUICE_WAREHOUSE_NAME into the warehouse's root, once, before it has tables.",
)
@json_option
def check(files: Sequence[Path], mark_warehouse: bool, as_json: bool) -> None:
    """Check spec FILES, or all of SLUICE_PIPELINES; exits with 1 if anything is wrong.

    Checks keys and values, names and tables that two files claim, and, if the warehouse has the
    table, its owner and the types of its columns. Also reports what a changed spec would do to the
    table's columns. One mistake in a file may hide others: check again. Connections are not looked
    up. Contacts neither Kafka, nor Spark, nor a schema registry.
    """
    from sluice.operations.check import check_files
    from sluice.protocol.plan.known_warehouse import mark_warehouse as mark
    from sluice.settings import Settings
    from sluice.tables.s3_access import reach_warehouse
    from sluice.tables.warehouse import Warehouse

    reach_warehouse(os.environ)
    settings = Settings.from_environment(os.environ)
    tables = Warehouse(settings.warehouse, settings.warehouse_name)
    if mark_warehouse:
        click.echo(mark(tables), err=as_json)
    found = check_files(settings.pipelines, files, tables)
    wrong = [each for each in found if each.findings]
    if as_json:
        files_found = [
            {
                "file": str(each.path),
                "pipeline": each.pipeline,
                "findings": list(each.findings),
                "changes": list(each.changes),
            }
            for each in found
        ]
        print_json({"files": files_found})
    else:
        for each in wrong:
            click.echo("\n".join(each.findings), err=True)
        for each in found:
            for line in each.changes:
                click.echo(f"{each.path}: {line}")
        click.echo(f"{format_count(len(found), 'file')}, {len(wrong)} with findings")
    sys.exit(1 if wrong else 0)
