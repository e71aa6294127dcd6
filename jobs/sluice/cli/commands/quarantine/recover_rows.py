"""`sluice quarantine recover`: repair a quarantine table that lost rows or was replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.options import bring_back_option, executing, require_reason
from sluice.cli.output import arguments, nothing_changed, print_json
from sluice.cli.runner import running

if TYPE_CHECKING:
    from sluice.operations.quarantine.recover_rows import QuarantineRecovery


@click.command("recover", short_help="Go on where the quarantine table was dropped or put back.")
@executing
@bring_back_option
@arguments
def recover_rows(
    pipeline: str, reason: str, execute: bool, bring_back_erased: bool, as_json: bool
) -> None:
    """Repair the quarantine table of PIPELINE if the table or some of its rows are gone.

    Reads missing records from Kafka again; a record that Kafka no longer holds gets a loss record.
    Removes rows that others have added or brought back. Refused if this could bring back rows that
    others have deleted. Shows what would be done; changes nothing without --execute. May be
    repeated after a crash.
    """
    require_reason(execute, reason, "losses")
    from sluice.operations.quarantine.recover_rows import (
        preview_quarantine_recovery,
        recover_quarantine,
    )

    opened, origin = open_named(pipeline), current_user()
    if execute:
        by = opened.origin(origin.run_id, origin.actor)
        found = recover_quarantine(opened.resources, reason, by, bring_back_erased)
    else:
        found = preview_quarantine_recovery(opened.resources)
    if found.work:
        with running(opened, origin, as_json) as lands:
            lands.finish(found.work)
    if as_json:
        print_json(_document(found))
        return
    for line in _lines(found):
        click.echo(f"{pipeline}: {line}")
    if found and not found.done:
        jvm = ", and starts a JVM" if found.again else ""
        click.echo(f"{nothing_changed(bool(found.coming_back))}{jvm}.")


def _lines(found: QuarantineRecovery) -> list[str]:
    if not found:
        return ["the quarantine is as it was committed"]
    lines = ["the quarantine table in place gets a new name"] if found.sets_aside else []
    lines += ["the quarantine table takes the place of another one"] if found.creates else []
    lines += ["the quarantine of all settled batches is closed again"] if found.closes else []
    lines += [f"{each}: rows that did not land with it go" for each in found.removes]
    lines += [f"{each or 'null'}: rows of no batch go" for each in found.strangers]
    lines += [f"{each}: read again" for each in found.again]
    lines += [f"{each.offsets} of {each.dropped_from}: lost" for each in found.losses]
    if found.coming_back and not found.done:
        lines += [*found.coming_back, "such rows would come back: --bring-back-erased allows it"]
    return lines


def _document(found: QuarantineRecovery) -> dict[str, object]:
    return {
        "pipeline": found.pipeline,
        "executed": found.done,
        "replaces": found.creates,
        "closes": found.closes,
        "removes": list(found.removes),
        "strangers": list(found.strangers),
        "again": [each.as_dict() for each in found.again],
        "losses": [{"batch": each.dropped_from, **each.offsets.as_dict()} for each in found.losses],
        "coming_back": list(found.coming_back),
    }
