"""Spark's start fails: the run says so in a sentence, and the next one goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.worlds.pipelines import Installed
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.fixture
def trips(topic: Callable[..., str], pipeline: Callable[..., Installed]) -> Installed:
    """A pipeline with ten unread records."""
    made = pipeline(topic())
    produce(made.bootstrap, made.topics[0], numbered(10))
    return made


def exact_after_a_failed_start(trips: Installed, code: int, errors: str) -> None:
    assert code == 1, errors
    assert "SparkFailed: trips: Spark did not start: " in errors
    assert "Traceback" not in errors
    trips.run()
    assert trips.judge().facts.rows == 10


def test_a_jvm_that_is_killed_while_it_starts(trips: Installed) -> None:
    run = trips.start("run")
    run.jvm().kill()
    done = run.end()
    exact_after_a_failed_start(trips, done.returncode, done.stderr)


def test_a_jvm_that_cannot_start(trips: Installed) -> None:
    done = trips.process("run", JDK_JAVA_OPTIONS="-XX:+NoSuchOption")
    assert "NoSuchOption" in done.stderr
    exact_after_a_failed_start(trips, done.returncode, done.stderr)
