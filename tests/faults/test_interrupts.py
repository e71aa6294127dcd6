"""Interrupts: Ctrl-C ends a run at once, with its JVM, and says what it leaves planned."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.faults.striking import start_with
from tests.worlds.pipelines import Installed
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]


@pytest.mark.parametrize("point", ["spark started", "files written"])
def test_a_run_that_is_interrupted_ends_without_noise_and_with_its_jvm(
    faulty: Callable[..., Installed], point: str
) -> None:
    trips = faulty()
    produce(trips.bootstrap, trips.topics[0], numbered(10))
    run = start_with(trips, point, "hang")
    run.says(f"failpoint {point}: hang")
    run.process.send_signal(signal.SIGINT)
    done = run.end()
    assert done.returncode == -signal.SIGINT, done.stderr
    noise = [word for word in ("Traceback", "Exception", "ERROR") if word in done.stderr]
    assert noise == [], done.stderr
    told = f"interrupted: {trips.name}: forward-1-1 is planned; the next run lands it\n"
    assert done.stderr.endswith(told)
    trips.run()
    assert trips.judge().facts.rows == 10
