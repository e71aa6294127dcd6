"""Held back: whoever waits for an open transaction reads where it is, and since when."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


BEGAN = datetime(2026, 1, 5, 12, 0, 3, 250_000, tzinfo=UTC)


def said(trips: Installed, command: str) -> str:
    done = trips.sluice(command)
    assert done.returncode == 0, done.stderr
    return done.stdout


def answer(trips: Installed, command: str) -> dict[str, Any]:
    done = trips.sluice(command, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_an_open_transaction_holds_back_is_said_by_every_command(
    topic: Topic, pipeline: Pipelines, caplog: pytest.LogCaptureFixture
) -> None:
    trips = pipeline(topic(2, retention_ms=-1))
    name = trips.topics[0]
    for partition in (0, 1):
        produce(trips.bootstrap, name, numbered(3), partition)
    trips.run()
    hanging, began = transactional(trips.bootstrap), int(BEGAN.timestamp() * 1000)
    send(hanging, name, numbered(2), timestamp=began)
    send(hanging, name, numbered(2), timestamp=began + 5000)
    line = (
        f"{name}[0]: 4 offsets held back by an open transaction"
        " since 2026-01-05T12:00:03Z (offset 3)"
    )

    shown = said(trips, "status")
    assert ("held back" in shown, line in shown, f"{name}[1]: " in shown) == (True, True, False)
    partitions = answer(trips, "status")["partitions"]
    assert [(each["lag"], each["held_back"], each["held_back_since"]) for each in partitions] == [
        (0, 4, "2026-01-05T12:00:03.250000+00:00"),
        (0, 0, None),
    ]
    cursor = f"cursor at {name}[0]@3, {name}[1]@3"
    assert said(trips, "plan") == f"trips: nothing new: {cursor}\n{line}\n"
    assert answer(trips, "plan")["held_back"] == [line]
    with caplog.at_level(logging.INFO, "sluice"):
        assert not trips.plan()
    assert f"trips: nothing new: {cursor}; {line}" in caplog.messages

    end(trips.bootstrap, name, hanging, commit=True, partitions=2)
    assert [each["held_back"] for each in answer(trips, "status")["partitions"]] == [0, 0]
    trips.run()
    assert trips.judge().facts.rows == 10
    assert said(trips, "plan").startswith(f"trips: nothing new: cursor at {name}[0]@")
