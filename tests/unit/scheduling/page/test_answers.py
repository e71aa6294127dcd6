"""What the page says of batches: the records of other kinds that they left out, where there are."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from sluice.cli.views.overviews import overview_document
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt
from sluice.operations.history import KnownBatch, PipelineHistory, SettledBatch
from sluice.operations.overview.overview import Overview, Progress
from sluice.scheduling.page.answers import Answers
from sluice.scheduling.page.links import Links
from sluice.scheduling.page.polled import Seen
from sluice.scheduling.page.rows import row_of
from sluice.scheduling.page.settling_dags import SettlingDag
from sluice.scheduling.page.watch import AllRows

from tests.unit.builders import batch, offsets, planned, spec

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
DAG = SettlingDag("flights")
ANSWERS = Answers(Links(""))


def settled(filtered: int) -> SettledBatch:
    """Of 5,000 offsets some have a record of another kind."""
    counts = PartitionCount(planned(offsets(0, 5000)), 5000 - filtered, 0, GapCount(), filtered)
    by = Origin("flights", "someone", NOW)
    found = Receipt(batch(offsets(0, 5000)), (counts,), 1, recorded=by)
    return SettledBatch(found, False, by)


def pages(filtered: int) -> tuple[str, str, str]:
    """All pipelines, the pipeline, its batch."""
    last = settled(filtered)
    row = row_of(Overview(spec(), NOW, Progress(1, 7, last=last), ()), None)
    receipt = last.receipt
    known = KnownBatch(receipt.batch, last.planned, None, True, False, receipt)
    history = PipelineHistory((last, last), (), (), 0)
    answers = (
        ANSWERS.overview(AllRows({}, "", 0, known=True, settled=True), [row], "", every=True),
        ANSWERS.pipeline(row, DAG, Seen(history, NOW)),
        ANSWERS.batch(row, DAG, "forward-1-1", Seen(known, NOW)),
    )
    overview, pipeline, one = (bytes(each.body).decode() for each in answers)
    return overview, pipeline, one


def test_records_that_were_left_out_stand_beside_the_others() -> None:
    overview, pipeline, one = pages(2000)
    assert "3,000 records, 2,000 filtered, " in overview
    for page in (pipeline, one):
        assert '<th scope="col">Filtered</th>' in page
        assert "<td>0</td><td>2,000</td><td>0</td>" in page


def test_where_none_were_left_out_nothing_is_said_of_them() -> None:
    for page in pages(0):
        assert "iltered" not in page


def test_a_program_is_told_how_many_the_last_batch_left_out() -> None:
    found = Overview(spec(), NOW, Progress(1, 7, last=settled(2000)), ())
    told = overview_document(found)
    assert (told["last_batch_records"], told["last_batch_filtered"]) == (3000, 2000)
    without = replace(found, progress=Progress(1, 7, last=settled(0)))
    assert "last_batch_filtered" not in overview_document(without)
