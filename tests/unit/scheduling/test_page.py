"""What the page shows: readings that nobody waits for, rows, charts, and where rereading leads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest
from sluice.errors import BrokerUnavailable, SettingsError
from sluice.offsets.batches import BatchSequence
from sluice.offsets.lag import Lag
from sluice.offsets.origin import Origin
from sluice.offsets.receipts import receipt_without_gaps
from sluice.operations.history import SettledBatch
from sluice.operations.overview.overview import Condition, Overview, Progress, worst_first
from sluice.scheduling.page.charts import HEIGHT, WIDTH, Value, chart
from sluice.scheduling.page.clusters import Clusters, WatchedCluster, next_cluster
from sluice.scheduling.page.polled import Polled, Seen
from sluice.scheduling.page.rereading import Held, held_of, reset_conf, window_conf
from sluice.scheduling.page.rows import Row, aged, row_of, staleness, unread
from sluice.scheduling.page.watch import AT_ONCE, Watch
from sluice.tables.warehouse import Warehouse

from local.embedded.waiting import until
from tests.unit.builders import batch, offsets, partition, spec

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
# A reading that does not come fails the test; it is never waited for longer than it takes.
LONG = 30.0
T = TypeVar("T")


def lag(stable: int, cursor: int = 0, log_start: int = 0) -> Lag:
    return Lag(partition(), cursor, stable, stable, NOW, NOW, log_start_offset=log_start)


def test_many_looks_share_one_reading() -> None:
    told, release, readings = threading.Event(), threading.Event(), []

    def read() -> int:
        readings.append(1)
        release.wait(LONG)
        told.set()
        return len(readings)

    latest = Polled(read, every=LONG)
    first = [latest.look() for _ in range(50)]
    assert all((each.value, each.at) == (None, None) and each.asked for each in first)
    release.set()
    found = latest.look(LONG)
    assert (found.value, found.asked, readings) == (1, None, [1])
    assert found.at is not None
    assert [latest.look().value for _ in range(50)] == [1] * 50
    assert readings == [1]


def test_what_fails_is_told_beside_what_was_known() -> None:
    answers: list[Callable[[], str]] = [lambda: "known", silent, broken]
    latest = Polled(lambda: answers.pop(0)(), every=0.0)
    known = latest.look(LONG)
    failed = look_until(lambda: latest.look(LONG), lambda seen: bool(seen.problem))
    assert known.value == failed.value == "known"
    assert failed.at == known.at
    assert failed.problem == "broker:9092 did not answer. Run again."
    told = "ValueError: the log of the api-server says more."
    look_until(lambda: latest.look(LONG), lambda seen: seen.problem == told)


def look_until(look: Callable[[], Seen[T]], found: Callable[[Seen[T]], bool]) -> Seen[T]:
    """Look again and again: after a reading there is a rest."""
    return until(lambda: seen if found(seen := look()) else None, "the reading", LONG)


def silent() -> str:
    raise BrokerUnavailable("broker:9092 did not answer. Run again.")


def broken() -> str:
    raise ValueError("password=secret")


def test_what_kafka_told_last_stays_with_its_moment_while_kafka_is_silent() -> None:
    then = row_of(Overview(spec(), NOW, Progress(1, 7), (lag(10, 7),)), None)
    later = Overview(spec(), NOW + timedelta(minutes=1), Progress(1, 7), None, "no answer")
    now = row_of(later, then)
    assert (then.outdated, now.outdated) == (False, True)
    assert now.told == then.told
    assert now.told is not None
    assert (now.told.at, now.told.last_stable, now.told.lag) == (NOW, 10, 3)
    assert (now.condition, now.reason) == (Condition.UNKNOWN, "no answer")
    assert row_of(later, None).told is None


def test_what_is_shown_late_says_how_old_it_is() -> None:
    second = timedelta(seconds=1)
    seen: Seen[Mapping[str, Row]] = Seen({}, NOW)
    asked = replace(seen, asked=NOW + 20 * second)
    row = row_of(Overview(spec(), NOW, Progress(1, 7), (lag(10, 7),)), None)
    assert staleness(Seen(), NOW) == ""
    assert staleness(asked, NOW + 15 * second) == ""
    # After a long reading there is a long rest.
    assert staleness(seen, NOW + 16 * second) == "This was read at 2026-11-24 12:00:00 UTC."
    why = staleness(asked, NOW + 21 * second)
    assert why.startswith("This was read at 2026-11-24 12:00:00 UTC.")
    assert "asked again at 12:00:20 UTC, and there is no answer" in why
    failed = staleness(replace(seen, problem="no answer"), NOW)
    assert failed.endswith("12:00:00 UTC. It could not be read again: no answer")
    assert aged(row, asked, NOW + 21 * second) == replace(row, reason=why)
    assert aged(row, seen, NOW) is row


def test_what_is_much_older_or_failed_is_not_shown_as_well() -> None:
    second = timedelta(seconds=1)
    row = row_of(Overview(spec(schedule=None), NOW, Progress(1, 7), (lag(10, 7),)), None)
    seen: Seen[Mapping[str, Row]] = Seen({}, NOW)
    assert row.condition is Condition.FRESH
    old = aged(row, replace(seen, asked=NOW + 60 * second), NOW + 61 * second)
    assert (old.condition, old.waiting) == (Condition.UNKNOWN, True)
    failed = aged(row, replace(seen, problem="no answer"), NOW + second)
    assert (failed.condition, failed.waiting) == (Condition.UNKNOWN, False)
    stopped = replace(row, condition=Condition.STOPPED)
    assert aged(stopped, seen, NOW + 61 * second).condition is Condition.STOPPED


def test_a_reading_that_cannot_start_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    turns = threading.BoundedSemaphore(1)
    latest = Polled(lambda: 7, turns=turns)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_thread)
        assert latest.look().asked is None
    assert latest.look(LONG).value == 7


def no_thread(self: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_those_that_share_turns_are_read_so_many_at_once() -> None:
    release, turns = threading.Event(), threading.BoundedSemaphore(2)
    held = [Polled(lambda: release.wait(LONG), turns=turns) for _ in range(5)]
    assert [bool(each.look().asked) for each in held] == [True, True, False, False, False]
    release.set()
    for each in held:
        look_until(partial(each.look, LONG), lambda seen: bool(seen.value))


def test_who_asks_for_many_batches_keeps_few_threads_and_no_outlook() -> None:
    release, before = threading.Event(), threading.active_count()

    def hanging() -> Clusters:
        release.wait(LONG)
        return Clusters()

    watch = Watch(hanging)
    sequence = BatchSequence("trips", "forward", 1)
    seen = [watch.batch("trips", sequence, number) for number in range(1, 50)]
    assert {each.value for each in seen} == {None}
    assert threading.active_count() - before <= AT_ONCE + 1
    watch.timeline("trips")
    release.set()
    told = "trips: no spec of this deployment names it any more."
    look_until(lambda: watch.timeline("trips"), lambda seen: seen.problem == told)


@pytest.fixture
def clusters(tmp_path: Path) -> Callable[..., WatchedCluster]:
    """`clusters(specs, extra, before)`: the pipelines of a connection whose broker is away."""
    return lambda specs, extra, before=None: next_cluster(
        specs, Warehouse(str(tmp_path)), extra, before
    )


AWAY, ELSEWHERE = {"bootstrap.servers": "127.0.0.1:1"}, {"bootstrap.servers": "127.0.0.1:2"}


def test_a_changed_spec_forgets_its_own_row_only(clusters: Callable[..., WatchedCluster]) -> None:
    a, b = spec(pipeline="a"), spec(pipeline="b")
    first = clusters((a, b), "no such connection")
    assert clusters((a, b), "no such connection", first) is first
    until(lambda: not first.rows(LONG)["a"].waiting, "the first reading", LONG)
    changed = spec(pipeline="b", topics=["others"])
    second = clusters((a, changed), "no such connection", first)
    assert second.latest.seen.value is not None
    assert set(second.latest.seen.value) == {"a"}
    assert second.rows(0)["b"].spec == changed
    assert clusters((a, b), AWAY, first).latest.seen == Seen()


def test_a_question_goes_to_the_connection_that_a_pipeline_has_now(
    clusters: Callable[..., WatchedCluster],
) -> None:
    def on(connection: str, extra: Mapping[str, str]) -> Clusters:
        return Clusters({connection: clusters((spec(pipeline="a", kafka=connection),), extra)})

    assert on("kafka_old", AWAY).resources("a").client.bootstrap == "127.0.0.1:1"
    assert on("kafka_new", ELSEWHERE).resources("a").client.bootstrap == "127.0.0.1:2"
    with pytest.raises(SettingsError, match="b: no spec of this deployment"):
        on("kafka_new", ELSEWHERE).resources("b")


def test_rows_come_worst_first() -> None:
    fresh = row_of(Overview(spec(pipeline="a"), NOW, Progress(1, 0), (lag(0),)), None)
    stopped = replace(fresh, spec=spec(pipeline="z"), condition=Condition.STOPPED)
    waiting = unread(spec(pipeline="m"), "being read", True)
    assert [each.name for each in worst_first([fresh, waiting, stopped])] == ["z", "m", "a"]


def test_a_chart_scales_to_the_largest_and_leaves_out_what_is_unknown() -> None:
    values = [Value("1", 5, "five"), Value("2", None, "unknown"), Value("3", 0, "none")]
    found = chart("Records", values)
    high, flat = found.bars
    assert (high.label, flat.label) == ("1: five", "3: none")
    assert high.height > 100 > flat.height > 0
    assert all(
        each.x + each.width <= WIDTH and each.y + each.height <= HEIGHT for each in (high, flat)
    )
    assert found.summary == "Records of 2 batches: at most five (1), last none"
    assert chart("Records", [Value("1", None, "unknown")]).bars == ()
    many = chart("Records", [Value(str(n), n, str(n)) for n in range(500)])
    assert max(each.x + each.width for each in many.bars) <= WIDTH


def test_of_a_batch_counts_what_kafka_still_holds() -> None:
    found = batch(offsets(10, 20))
    assert held_of(found, {partition(): lag(50, 30, log_start=15)}) == Held(5, 20)
    assert held_of(found, {}) == Held(None, None)
    assert reset_conf(found)["positions"] == ["flights[0]=10"]


def test_the_window_that_is_proposed_is_the_last_batchs_own() -> None:
    """From the plan before to its own plan, in whole minutes."""
    second = timedelta(seconds=1)
    plans = [NOW - timedelta(minutes=20) - second, NOW + second]
    batches = [settled(number, at) for number, at in enumerate(plans, 1)]
    assert window_conf(batches, NOW) == {
        "dry_run": True,
        "reprocess_from": "2026-11-24T11:39:00Z",
        "reprocess_to": "2026-11-24T12:01:00Z",
    }
    alone = window_conf(batches[:1], NOW)
    assert (alone["reprocess_from"], alone["reprocess_to"]) == (
        "2026-11-24T10:39:00Z",
        "2026-11-24T11:40:00Z",
    )
    assert window_conf([], NOW)["reprocess_from"] == "2026-11-24T11:00:00Z"


def settled(number: int, at: datetime) -> SettledBatch:
    receipt = receipt_without_gaps(batch(offsets(0, 9), number=number), number)
    return SettledBatch(receipt, False, Origin("run", "airflow:x", at))
