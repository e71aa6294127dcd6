"""A registry is asked for what records name, and only so much of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sluice.errors import SettingsError

from tests.worlds.registered_topic import RegisteredTopic, avro, framed, record
from tests.worlds.scripted_http import ScriptedServer, plain

ORDER = record("Order", id="long")


@pytest.fixture
def topic(tmp_path: Path) -> Iterator[RegisteredTopic]:
    with ScriptedServer() as server:
        yield RegisteredTopic(server, tmp_path)


def test_nothing_is_asked_where_nothing_names_a_schema(topic: RegisteredTopic) -> None:
    for value in (b'{"id": 1}', None, framed(2**31, b""), b"\0\0"):
        topic.send(value, b"key")
    assert not topic.answers().values.hold
    assert topic.server.asked == []


def test_of_many_numbers_those_of_most_records_are_asked_for(topic: RegisteredTopic) -> None:
    topic.register(90, ORDER, "orders-value")
    for number in range(1, 90):
        topic.send(framed(number, b""))
    for _ in range(2):
        topic.send(avro(90, ORDER, {"id": 1}))
    found = topic.answers()
    asked = {each for each in topic.server.asked if each.startswith("/schemas/ids/")}
    assert {each for each in asked if not each.endswith("/versions")} == {
        f"/schemas/ids/{number}" for number in (*range(1, 50), 90)
    }
    assert "schema 50: not asked for" in found.values.found["orders[0]@49"].why
    assert not found.values.hold


def test_a_refusal_is_raised(topic: RegisteredTopic) -> None:
    topic.server.otherwise = plain(403, b"")
    topic.send(framed(7, b""))
    with pytest.raises(SettingsError, match="expected a login that may read it"):
        topic.answers()


def test_subjects_that_a_registry_keeps_to_itself_are_only_not_shown(
    topic: RegisteredTopic,
) -> None:
    topic.register(7, ORDER, "orders-value")
    topic.server.answers["/schemas/ids/7/versions"] = plain(403, b"")
    topic.send(avro(7, ORDER, {"id": 1}))
    found = topic.answers()
    assert (found.values.hold, [*found.newest], found.subjects) == (True, ["orders-value"], {})
