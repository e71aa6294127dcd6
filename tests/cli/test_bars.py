"""On a terminal, what takes long shows a bar; programs and logs get what they always got."""

from __future__ import annotations

import json
import re

import pytest

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.processes import SLUICE
from tests.worlds.records import numbered, produce
from tests.worlds.terminal import in_terminal

pytestmark = [pytest.mark.integration, pytest.mark.spark]

RECORDS = 2_000
BAR = re.compile(rf"forward-1-1 \S.*of {RECORDS:,} records")
HIDDEN_CURSOR = "\x1b[?25l"
STYLE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    made = pipeline(topic(1))
    produce(made.bootstrap, made.topics[0], numbered(RECORDS))
    return made


def words(trips: Installed, *words: str) -> list[str]:
    return [str(SLUICE), words[0], trips.name, *words[1:]]


def test_a_run_in_a_terminal_shows_a_bar_and_leaves_no_trace_of_it(trips: Installed) -> None:
    with in_terminal(words(trips, "run"), trips.folder, trips.environment) as far:
        code, _ = far.end()
    assert code == 0, far.shown
    plain = STYLE.sub("", far.shown)
    assert BAR.search(plain), plain
    assert "records read" not in plain, "the bar stands for these lines"
    assert f"forward-1-1: {RECORDS:,} records, 0 quarantined" in plain
    assert trips.judge().facts.rows == RECORDS


def test_beside_json_the_bar_is_on_stderr_alone(trips: Installed) -> None:
    line = words(trips, "run", "--json")
    with in_terminal(line, trips.folder, trips.environment, piped=True) as far:
        code, said = far.end()
    assert code == 0, far.shown
    assert [each["records"] for each in json.loads(said)["settled"]] == [RECORDS]
    assert BAR.search(STYLE.sub("", far.shown)), far.shown


def test_without_a_terminal_there_is_no_bar(trips: Installed) -> None:
    done = trips.process("run")
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    assert not BAR.search(done.stdout + done.stderr)


def test_ctrl_c_leaves_the_terminal_whole(trips: Installed) -> None:
    """Nothing that a process which ends at once would have to put right: the cursor stays."""
    trips.run()
    hangs = {"SLUICE_TEST": "1", "SLUICE_FAILPOINT": "kept rows known: hang"}
    line = words(trips, "reprocess", "--batch", "forward-1-1")
    with in_terminal(line, trips.folder, {**trips.environment, **hangs}) as far:
        far.shows(f"{RECORDS:,} of {RECORDS:,} records")
        assert far.interrupt() == -2
    assert "backfill-1-1 " in far.shown
    assert HIDDEN_CURSOR not in far.shown
    trips.run()
    assert trips.judge().facts.rows == RECORDS
