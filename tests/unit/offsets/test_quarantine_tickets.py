"""Tickets of the quarantine: each is good once, and none once the batch is closed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sluice.offsets.quarantine_tickets import (
    Ticket,
    closing_number,
    has_given_up,
    next_ticket,
)

from tests.unit.builders import batch, offsets

NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, SECOND = batch(offsets(0, 3)), batch(offsets(3, 5), number=2)


def ticket(stored: int = 0, latest: datetime | None = None) -> Ticket:
    found = next_ticket(FIRST, stored, NOW, latest)
    assert found is not None
    return found


def test_each_ticket_is_above_the_one_before_and_above_the_batch_before() -> None:
    first = ticket()
    assert ticket(first.number).number > first.given_up > first.number
    assert closing_number(FIRST.number) > ticket(first.given_up).number
    second = next_ticket(SECOND, first.number, NOW, None)
    assert second is not None
    assert second.number > closing_number(FIRST.number)


def test_a_closed_batch_has_no_ticket_and_the_next_one_has() -> None:
    closed = closing_number(FIRST.number)
    assert next_ticket(FIRST, closed, NOW, None) is None
    assert next_ticket(FIRST, closing_number(SECOND.number), NOW, None) is None
    assert next_ticket(SECOND, closed, NOW, None) is not None


def test_no_two_attempts_share_a_moment_whatever_the_clock_says() -> None:
    ahead = NOW + timedelta(hours=1)
    assert ticket().at == NOW
    assert ticket(latest=NOW).at > NOW
    assert ticket(latest=ahead).at > ahead


def test_only_the_last_attempt_is_known_to_have_given_up() -> None:
    first = ticket()
    assert not has_given_up(FIRST, first.number)
    assert has_given_up(FIRST, first.given_up)
    assert not has_given_up(FIRST, ticket(first.given_up).number)
    assert not has_given_up(FIRST, closing_number(FIRST.number))
    assert not has_given_up(SECOND, closing_number(FIRST.number))
    assert not has_given_up(FIRST, 0)
