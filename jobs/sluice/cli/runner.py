"""The runner: ingest, settle and refresh in this process, Spark started when needed."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from sluice.cli.caller import current_user, open_named
from sluice.cli.interrupts import last_words
from sluice.cli.output import print_json
from sluice.cli.reading import bars_of_batches
from sluice.cli.views.outlook import print_outlook
from sluice.errors import SluiceError
from sluice.offsets.batches import BatchReference
from sluice.offsets.filtered import told
from sluice.offsets.origin import Caller
from sluice.offsets.quantities import format_count

if TYPE_CHECKING:
    from sluice.lake.port import Lake
    from sluice.operations.backfill.selection import Selection
    from sluice.pipeline import Pipeline
    from sluice.protocol.refresh.making import Followed
    from sluice.protocol.settle.write_receipts import Settlement

# How long a backfill waits for another run's forward batch, which goes first.
_PAUSE_SECONDS = 5.0


@contextmanager
def running(opened: Pipeline, origin: Caller, as_json: bool) -> Iterator[Runner]:
    """A runner for the block; at its end Spark is stopped, if it was started.

    Ctrl-C in the block says what is planned, and which run lands it.
    """
    with ExitStack() as at_the_end:
        runner = Runner(opened, origin, as_json, at_the_end)
        with last_words(lambda: f"{opened.spec.pipeline}: {runner.left_behind}"):
            yield runner


def planned_only(work: BatchReference) -> str:
    """What an interrupted landing leaves behind."""
    verb, it = ("is", "it") if len(work.batches) == 1 else ("are", "what has not landed")
    following = "run" if work.sequence.lane == "forward" else "backfill"
    return f"{work} {verb} planned; the next {following} lands {it}"


def landed_only(work: BatchReference) -> str:
    """What an interruption after the landing, and before the receipts, leaves behind."""
    verb, whose = ("is", "its receipt") if len(work.batches) == 1 else ("are", "their receipts")
    return f"{work} {verb} in the table; the next run writes {whose}"


class Runner:
    """Lands work, settles it, and reports progress: on stderr if stdout is for JSON."""

    def __init__(
        self, opened: Pipeline, origin: Caller, as_json: bool, at_the_end: ExitStack
    ) -> None:
        self._opened = opened
        self._origin = origin
        self._as_json = as_json
        self._at_the_end = at_the_end
        self._lake: Lake | None = None
        self.events: list[dict[str, Any]] = []
        self.followed: list[Followed] = []
        self.refusal: SluiceError | None = None
        self.left_behind = "nothing is half done; the next run goes on from here"
        # Many batches take long: what is read and committed is reported.
        for each in ("ingest.land_batches", "ingest.reading", "refresh.making"):
            logging.getLogger(f"sluice.protocol.{each}").setLevel(logging.INFO)
        logging.getLogger("sluice.lake.reading_pace").setLevel(logging.INFO)

    def finish(self, work: BatchReference) -> None:
        """Land the work, if there is any, and settle."""
        while work:
            self.say(f"landing {work}")
            self.left_behind = planned_only(work)
            started = time.monotonic()
            self._ingest(work)
            self.left_behind = landed_only(work)
            self.say(f"landed in {time.monotonic() - started:.1f} s")
            work = self._opened.outstanding(work)
            if work:
                self._settle()
                time.sleep(_PAUSE_SECONDS)
        self._settle()

    def refresh(self) -> None:
        """Bring the state table up to date, if there is one. What refuses that is kept for `end`.

        The data table has all by then, and that is reported first.
        """
        self.left_behind = "all that was read is settled; the next run refreshes the state table"
        try:
            for each in self._opened.refreshing(self._lake):
                self.followed.append(each)
                self.say(f"state: {each}")
        except SluiceError as problem:
            self.refusal = problem

    @property
    def document(self) -> dict[str, Any]:
        """What was done, for programs."""
        found: dict[str, Any] = {"pipeline": self._opened.spec.pipeline, "settled": self.events}
        if self._opened.spec.state is not None:
            found["state"] = [each.as_dict() for each in self.followed]
        return found

    def end(self) -> None:
        """The last step, after all reports. Raises what has kept the state table from following."""
        if self.refusal is not None:
            raise self.refusal

    def say(self, line: str) -> None:
        """Report progress."""
        click.echo(f"{self._opened.spec.pipeline}: {line}", err=self._as_json)

    def _ingest(self, work: BatchReference) -> None:
        if self._lake is None:
            self._lake = self._at_the_end.enter_context(
                self._opened.open_lake(self._opened.span(work), bars_of_batches())
            )
        self._opened.ingest(work, self._lake)

    def _settle(self) -> None:
        settled = self._opened.settle(self._origin.run_id, self._origin.actor)
        self.events += settled.events
        self._report(settled)

    def _report(self, settled: Settlement) -> None:
        for receipt in settled.receipts:
            self.say(
                f"{receipt.batch}: {format_count(receipt.records, 'record')},"
                f" {receipt.quarantined:,} quarantined{told(receipt.filtered)},"
                f" {format_count(receipt.gaps, 'gap')},"
                f" table version {receipt.data_version}"
            )


def run_selection(
    pipeline: str, wanted: Selection, dry_run: bool, bring_back_erased: bool, as_json: bool
) -> None:
    """Plan, ingest and settle the selection, or show its plan."""
    opened, origin = open_named(pipeline), current_user()
    if dry_run:
        print_outlook(opened.dry_run(wanted), as_json)
        return
    with running(opened, origin, as_json) as lands:
        planned = opened.backfill(wanted, origin.run_id, origin.actor, bring_back_erased)
        for each in planned.plan.told:
            lands.say(str(each))
        lands.finish(planned.work)
        lands.refresh()
    if as_json:
        left_out = [str(each) for each in planned.plan.left_out]
        beside = [str(each) for each in planned.plan.beside]
        print_json({**lands.document, "left_out": left_out, "beside": beside})
    elif not planned.work:
        click.echo(f"{pipeline}: nothing to read again")
    lands.end()
