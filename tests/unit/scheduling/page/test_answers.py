"""What the page says: of batches, of what many pipelines share, of pauses, and to strangers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sluice.cli.views.overviews import overview_document
from sluice.offsets.error_groups import group_errors
from sluice.offsets.lag import Lag
from sluice.offsets.origin import Origin
from sluice.offsets.quarantined import QuarantinedRecord
from sluice.offsets.receipts import GapCount, PartitionCount, Receipt
from sluice.operations.history import KnownBatch, PipelineHistory, SettledBatch
from sluice.operations.overview.overview import Condition, Overview, Progress
from sluice.operations.quarantine.listing import QuarantineListing
from sluice.operations.timeline import PipelineTimeline, TimedBatch
from sluice.scheduling.page.answers import Answers
from sluice.scheduling.page.choices import Choice
from sluice.scheduling.page.lag_over_time import LagPoint
from sluice.scheduling.page.links import Links
from sluice.scheduling.page.polled import Seen
from sluice.scheduling.page.rows import Row, row_of, with_pause
from sluice.scheduling.page.settling_dags import SettlingDag
from sluice.scheduling.page.waiting_records import waiting_records
from sluice.scheduling.page.watch import AllRows

from tests.unit.builders import TOPIC_ID, batch, offsets, partition, planned, spec

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
DAG = SettlingDag("flights")
ANSWERS = Answers(Links(""))
ALL = AllRows({}, "", 0, known=True, settled=True)


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
    timeline = PipelineTimeline(history, (TimedBatch.of(last), TimedBatch.of(last)))
    answers = (
        ANSWERS.overview(ALL, [row], Choice(), ([row], 0), ({}, False)),
        ANSWERS.pipeline(row, DAG, Seen(timeline, NOW), Seen()),
        ANSWERS.batch(row, DAG, "forward-1-1", Seen(known, NOW)),
    )
    overview, pipeline, one = (bytes(each.body).decode() for each in answers)
    return overview, pipeline, one


def test_records_that_were_left_out_stand_beside_the_others() -> None:
    overview, pipeline, one = pages(2000)
    assert "3,000, 2,000 filtered</td>" in overview
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


def overview(*rows: Row) -> str:
    found = ANSWERS.overview(ALL, rows, Choice(), Choice().of(rows), ({}, False))
    return bytes(found.body).decode()


def read_row(name: str, **changes: Any) -> Row:
    row = row_of(Overview(spec(pipeline=name), NOW, Progress(1, 7), (lag(3),)), None)
    return replace(row, **changes)


def lag(unread: int) -> Lag:
    return Lag(partition(), 7, 7 + unread, 7 + unread, NOW, NOW, log_start_offset=0)


def test_what_many_share_stands_once_above_the_table() -> None:
    away = {"condition": Condition.UNKNOWN, "reason": "no answer of <b>"}
    page = overview(read_row("a", **away), read_row("b", **away), read_row("c", reason="alone"))
    assert page.count("no answer of &lt;b&gt;") == 1
    assert "2 pipelines, for one reason: no answer" in page
    assert '<p class="why">alone</p>' in page


def test_a_paused_pipeline_says_so_instead_of_asking() -> None:
    behind = read_row("a", condition=Condition.BEHIND, reason="Is the DAG unpaused?")
    page = overview(with_pause(behind, "a_dag"))
    assert "Is the DAG unpaused?" not in page
    assert "The DAG is paused: no run reads what is new" in page
    assert '<a class="state paused" href="/dags/a_dag" data-airflow>paused</a>' in page
    stopped = read_row("a", condition=Condition.STOPPED, reason="altered")
    assert with_pause(stopped, "a").reason == "altered", "a pause does not explain that"


def test_who_never_ran_is_told_from_who_has_only_planned() -> None:
    assert "never ran" in overview(read_row("a"))
    planned_only = Progress(1, 0, unfinished=(batch(offsets(0, 5)),))
    assert "never ran" not in overview(read_row("a", progress=planned_only))
    assert "never ran" not in overview(read_row("a", progress=Progress(2, 0)))


def test_topics_and_schedule_are_listed_and_long_lists_are_cut() -> None:
    page = overview(
        read_row("a", spec=spec(pipeline="a", schedule="*/5 * * * *")),
        read_row("b", spec=spec(pipeline="b", topics=["x", "y", "z"])),
        read_row("c", spec=spec(pipeline="c", topics=None, topic_pattern="z.*")),
    )
    for told in ("*/5 * * * *", "manual", "x and 2 more", "/z.*/"):
        assert f">{told}</td>" in page


def test_a_small_picture_ends_with_what_kafka_says_now() -> None:
    row = read_row("a")
    points = (LagPoint(NOW - timedelta(hours=1), 9),)
    found = ANSWERS.overview(ALL, [row], Choice(), ([row], 0), ({"a": points}, True))
    page = bytes(found.body).decode()
    assert 'aria-label="a: Lag over time: at most 9 offsets' in page
    assert "last 3 offsets" in page
    assert "<body data-later>" in page
    assert "data-later" not in overview(row)


def test_all_pictures_of_a_pipeline_have_words() -> None:
    page = pages(0)[1]
    assert page.count('role="img"') == page.count('role="img" aria-label="')
    assert "style=" not in page
    assert "<script>" not in page


def test_records_that_wait_are_shown_with_what_to_do() -> None:
    text = "no JSON <i>"
    bad = QuarantinedRecord(partition(), 3, TOPIC_ID, "forward-1-1", text, NOW)
    listing = QuarantineListing(tuple(group_errors([bad])), (), {}, (), 0, 0, None)
    row = read_row("a")
    timeline = PipelineTimeline(PipelineHistory((), (), (), 0), ())
    known = Seen(waiting_records("a", listing), NOW)
    own = ANSWERS.pipeline(row, SettlingDag("a"), Seen(timeline, NOW), known)
    page = bytes(own.body).decode()
    assert "Waiting for a decision: 1 record." in page
    assert "no JSON &lt;i&gt;" in page
    assert "sluice quarantine replay a --reason-like &#39;no JSON &lt;i&gt;&#39;" in page
    assert "flights[0] [3, 4)" in page
    teams = ANSWERS.pipeline(row, SettlingDag("b", "a."), Seen(timeline, NOW), known)
    assert "reprocess_ranges" not in bytes(teams.body).decode(), "its form has no such parameter"


def test_a_batch_that_is_not_committed_has_nothing_to_go_back_to() -> None:
    row = read_row("flights")
    by = Origin("r", "airflow:x", NOW)
    for committed in (True, False):
        known = KnownBatch(batch(offsets(0, 5)), by, None, committed, False, None)
        page = bytes(ANSWERS.batch(row, DAG, "forward-1-1", Seen(known, NOW)).body).decode()
        assert ("Go back to its start" in page) is committed
        assert ("reprocess_batches" in page) is committed


def test_a_stranger_is_led_to_the_login_and_back() -> None:
    links = Links("/airflow")
    login = links.login("/airflow/sluice/?name=a&sort=lag")
    page = bytes(Answers(links).problem(401, "Sign in first.", login).body).decode()
    wanted = "%2Fairflow%2Fsluice%2F%3Fname%3Da%26sort%3Dlag"
    assert f'href="/airflow/api/v2/auth/login?next={wanted}" data-airflow' in page
