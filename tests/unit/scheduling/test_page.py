"""What the page shows: readings that nobody waits for, rows, charts, and where rereading leads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sluice.errors import BrokerUnavailable
from sluice.offsets.lag import Lag
from sluice.operations.overview.overview import Condition, Overview, Progress, worst_first
from sluice.scheduling.page.charts import HEIGHT, WIDTH, Value, chart
from sluice.scheduling.page.latest import Latest, Seen
from sluice.scheduling.page.rereading import Held, held_of, reset_conf
from sluice.scheduling.page.rows import overdue, row_of, unanswered, unread

from tests.unit.builders import batch, offsets, partition, spec
from tests.worlds.processes import until

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)
# A reading that does not come fails the test; it is never waited for longer than it takes.
LONG = 30.0


def lag(stable: int, cursor: int = 0, log_start: int = 0) -> Lag:
    return Lag(partition(), cursor, stable, stable, NOW, NOW, log_start_offset=log_start)


def test_many_looks_share_one_reading() -> None:
    told, release, readings = threading.Event(), threading.Event(), []

    def read() -> int:
        readings.append(1)
        release.wait(LONG)
        told.set()
        return len(readings)

    latest = Latest(read, every=LONG)
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
    latest = Latest(lambda: answers.pop(0)(), every=0.0)
    known = latest.look(LONG)
    failed = look_until(lambda: latest.look(LONG), lambda seen: bool(seen.problem))
    assert known.value == failed.value == "known"
    assert failed.at == known.at
    assert failed.problem == "broker:9092 did not answer. Run again."
    told = "ValueError: the log of the api-server says more."
    look_until(lambda: latest.look(LONG), lambda seen: seen.problem == told)


def look_until(look: Callable[[], Seen[str]], found: Callable[[Seen[str]], bool]) -> Seen[str]:
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


def test_while_an_answer_does_not_come_it_is_said_how_old_the_rest_is() -> None:
    asked, second = NOW + timedelta(seconds=20), timedelta(seconds=1)
    assert overdue(NOW, NOW + 5 * second, NOW + 6 * second) == ""
    assert overdue(NOW, None, NOW + 60 * second) == ""
    why = overdue(NOW, asked, asked + second)
    assert "read at 2026-11-24 12:00:00 UTC" in why
    assert "asked again at 12:00:20 UTC" in why
    row = row_of(Overview(spec(), NOW, Progress(1, 7), (lag(10, 7),)), None)
    assert unanswered(row, why).reason == why


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
