"""How the soak judges a process that ended: a fault explains it, or it is a finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.diary import SLACK, Diary
from tests.soak.outcomes import explained, verdict

NOISE = "Traceback (most recent call last)\nEOFError\n"


@pytest.mark.parametrize(
    ("code", "errors", "how"),
    [
        (0, "WARN something", "ok"),
        (-9, "", "SIGKILL"),
        (-15, "", "SIGTERM"),
        (1, "SparkFailed: forward-1-1: not committed\n", "SparkFailed"),
        (1, f"{NOISE}ResetNeeded: trips: read the log\nagain\n", "ResetNeeded"),
        (1, f"{NOISE}sluice.errors.SparkFailed: raised through\n", "Traceback"),
        (1, "", "exit code 1 without a word"),
        (2, "Usage: sluice", "exit code 2 without a word"),
    ],
)
def test_the_end_of_a_process_in_a_word(code: int, errors: str, how: str) -> None:
    assert verdict(code, errors) == how


def test_only_the_faults_in_force_explain_a_failure(tmp_path: Path) -> None:
    diary = Diary(tmp_path / "diary.txt")
    with diary.in_force("BrokerUnavailable"):
        assert diary.excuses(diary.now, diary.now) == {"BrokerUnavailable"}
    over = diary.now
    assert diary.excuses(over + SLACK / 2, over + 100) == {"BrokerUnavailable"}
    assert diary.excuses(over + SLACK + 1, over + 100) == set()
    assert diary.excuses(-2, -1) == set()
    assert explained("ok", set())
    assert explained("SparkFailed", {"SparkFailed"})
    assert not explained("SparkFailed", {"BrokerUnavailable"})
    assert not explained("Traceback", {"SparkFailed", "SIGKILL"})
