"""`sluice check`: what is wrong with the specs, before they are deployed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sluice.cli.output import json_option, print_json
from sluice.offsets.quantities import format_count

if TYPE_CHECKING:
    from sluice.operations.check import CheckedFile


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

    A folder without any specs is wrong, too, unless this marks the warehouse.

    Checks keys and values, names and tables that two files claim, and, if the warehouse has the
    table, its owner and the types of its columns. Also reports what a changed spec would do to the
    table's columns, and which fields of a schema no column holds. One mistake in a file may hide
    others: check again. Connections are not looked up. Contacts neither Kafka, nor Spark, nor a
    schema registry.
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
    wrong = any(each.findings for each in found)
    if as_json:
        print_json({"files": [_document(each) for each in found]})
    else:
        _print(found)
    nothing_checked = not found and not mark_warehouse
    if nothing_checked:
        click.echo(
            f"{settings.pipelines}: expected spec files (*.yaml, *.yml), found none. Set"
            " SLUICE_PIPELINES to the specs' folder, or write a spec: `sluice peek TOPIC --spec`"
            " proposes one.",
            err=True,
        )
    sys.exit(1 if wrong or nothing_checked else 0)


def _document(checked: CheckedFile) -> dict[str, object]:
    return {
        "file": str(checked.path),
        "pipeline": checked.pipeline,
        "findings": list(checked.findings),
        "changes": list(checked.changes),
        "notes": list(checked.notes),
    }


def _print(found: Sequence[CheckedFile]) -> None:
    wrong = [each for each in found if each.findings]
    for each in wrong:
        click.echo("\n".join(each.findings), err=True)
    for each in found:
        for line in (*each.changes, *each.notes):
            click.echo(f"{each.path}: {line}")
    files = sum(each.path.is_file() for each in found)
    click.echo(f"{format_count(files, 'file')}, {len(wrong)} with findings")
