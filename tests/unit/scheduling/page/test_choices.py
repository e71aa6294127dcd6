"""Which pipelines the list shows, in which order, and what is said of many at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sluice.offsets.lag import Lag
from sluice.offsets.partition_log import Retention
from sluice.operations.overview.overview import Condition, Overview, Progress
from sluice.scheduling.page.choices import TITLES, Choice, shared_reasons
from sluice.scheduling.page.rows import Row, row_of, unread

from tests.unit.builders import partition, spec

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def row(name: str, unread: int, condition: Condition = Condition.FRESH, reason: str = "") -> Row:
    oldest = NOW - timedelta(minutes=unread)
    lag = Lag(
        *(partition(), 5, 5 + unread, 5 + unread, oldest, NOW),
        retention=Retention(timedelta(days=7)),
    )
    found = row_of(Overview(spec(pipeline=name), NOW, Progress(1, 5), (lag,)), None)
    return replace(found, condition=condition, reason=reason)


ROWS = [row("orders", 3), row("trips", 9, Condition.BEHIND, "slow"), row("order_lines", 0)]
AWAY = unread(spec(pipeline="away"), "no answer", waiting=False)


def names(choice: Choice, *rows: Row) -> list[str]:
    return [each.name for each in choice.of([*ROWS, *rows])[0]]


def test_without_a_choice_the_worst_come_first() -> None:
    assert names(Choice()) == ["trips", "order_lines", "orders"]


def test_a_part_of_the_name_in_any_case_and_a_state() -> None:
    assert names(Choice(name=" ORDER ")) == ["order_lines", "orders"]
    assert names(Choice(state="behind")) == ["trips"]
    assert names(Choice(name="order", state="behind")) == []


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("lag", ["trips", "orders", "order_lines", "away"]),
        ("-lag", ["order_lines", "orders", "trips", "away"]),
        ("name", ["away", "order_lines", "orders", "trips"]),
        ("-name", ["trips", "orders", "order_lines", "away"]),
        ("loss", ["trips", "orders", "away", "order_lines"]),
    ],
)
def test_a_column_sorts_and_what_is_unknown_comes_last(sort: str, order: list[str]) -> None:
    assert names(Choice(sort=sort), AWAY) == order


def test_every_column_that_is_offered_sorts() -> None:
    for column in filter(None, (key for key, _ in TITLES)):
        assert Choice(sort=column).is_known
        assert len(names(Choice(sort=column), AWAY)) == 4
    assert not Choice(sort="owner").is_known
    assert not Choice(state="frehs").is_known


def test_a_second_click_turns_the_order_round() -> None:
    first = Choice(state="fresh")
    assert first.sorting("lag") == "?state=fresh&sort=lag"
    assert (first.direction("lag"), Choice(sort="lag").direction("lag")) == ("", "descending")
    again = Choice(sort="lag")
    assert again.sorting("lag") == "?sort=-lag"
    assert Choice(sort="-lag").direction("lag") == "ascending"
    assert Choice(sort="name").direction("name") == "ascending"


def test_an_address_says_what_is_chosen_and_nothing_else() -> None:
    choice = Choice("fresh", "a b&c", "-lag", every=True)
    assert choice.address() == "?state=fresh&name=a+b%26c&sort=-lag&every=true"
    assert choice.address(state="", name="", sort="", every=False) == "?"


def test_of_very_many_the_first_hundred_are_shown() -> None:
    many = [row(f"p{number:03}", 0) for number in range(130)]
    shown, more = Choice().of(many)
    assert (len(shown), more) == (100, 30)
    everything, left = Choice(every=True).of(many)
    assert (len(everything), left) == (130, 0)


def test_a_reason_of_several_is_said_once() -> None:
    silent = [row(f"p{n}", 1, Condition.UNKNOWN, "broker away") for n in range(25)]
    (found,) = shared_reasons([*ROWS, *silent])
    assert (found.condition, found.reason) == (Condition.UNKNOWN, "broker away")
    assert (found.names[:2], len(found.names), found.more) == (("p0", "p1"), 20, 5)
    assert shared_reasons(ROWS) == []
