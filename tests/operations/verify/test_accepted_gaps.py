"""A disk that lost a segment in the midst of the log: the line stops until somebody decides."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from sluice.errors import GapUnexplained
from sluice.operations.backfill.selection import offset_ranges

from local.embedded.broker import Broker
from tests.oracle import KafkaTruth, read_truth
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

HOUR_MS = 3_600_000


@pytest.fixture
def trips(own_broker: Broker, own_topic: Topic, pipeline: Pipelines) -> Installed:
    """A pipeline over a log of three segments of five records each. Nothing is read yet."""
    made = pipeline(own_topic(segment_ms=HOUR_MS // 2, retention_ms=-1))
    made.bootstrap = own_broker.bootstrap
    now = int(time.time() * 1000)
    for number in range(3):
        values, ago = numbered(5, 5 * number), (3 - number) * HOUR_MS
        produce(made.bootstrap, made.topics[0], values, timestamp=now - ago)
    return made


def lose_the_middle(broker: Broker, topic: str) -> None:
    broker.stop()
    folder = broker.folder / "data" / f"{topic}-0"
    assert sorted(int(each.stem) for each in folder.glob("*.log")) == [0, 5, 10]
    for each in middle(folder):
        each.unlink()
    broker.start()


def middle(folder: Path) -> list[Path]:
    return [
        each for each in folder.glob(f"{5:020d}.*") if "index" in each.name or ".log" in each.name
    ]


def lost(trips: Installed, broker: Broker) -> KafkaTruth:
    before = read_truth(trips.bootstrap, trips.topics)
    lose_the_middle(broker, trips.topics[0])
    return before


def test_a_gap_that_nothing_explains_stops_the_line_until_it_is_accepted(
    trips: Installed, own_broker: Broker
) -> None:
    before, gap = lost(trips, own_broker), f"{trips.topics[0]}[0] [5, 10)"
    for _ in range(2):
        with pytest.raises(GapUnexplained) as refused:
            trips.run()
        assert f"--accept-gap '{gap}'" in str(refused.value)
    assert (trips.offsets("committed"), trips.offsets("loss")) == ([], [])
    with pytest.raises(AssertionError, match=r"Complete: .* missing 5 \(5, 6"):
        trips.judge(remembered=before, settled=False)

    other = trips.sluice("verify", "--accept-gap", gap.replace("[5", "[6"), "--reason", "why")
    assert other.returncode == 1
    assert "found none" in other.stderr
    assert f"{gap} not in the log" in other.stderr
    for words in (("--accept-gap", gap), ("--accept-gap", "5 to 10", "--reason", "why")):
        assert trips.sluice("verify", *words).returncode == 2, words
    assert (trips.offsets("committed"), trips.offsets("loss")) == ([], [])

    accepted = trips.sluice("verify", "--accept-gap", gap, "--reason", "a disk died")
    assert accepted.returncode == 0, accepted.stderr
    assert "lost: 5 offsets in 1 loss record\n" in accepted.stdout
    (row,) = trips.offsets("loss")
    assert (row["start_offset"], row["end_offset"], row["gap_lost"]) == (5, 10, 5)
    assert row["reason"].startswith("not in the log, and the topic does not compact; accepted by ")
    assert row["reason"].endswith(": a disk died")
    produce(trips.bootstrap, trips.topics[0], numbered(5, 15))
    trips.run()
    assert "lost: 5 offsets in 1 loss record\n" in trips.sluice("status").stdout
    assert trips.judge(remembered=before).facts.rows == 15


def test_a_gap_that_is_to_be_recorded_leaves_a_loss_row_and_the_run_goes_on(
    trips: Installed, own_broker: Broker
) -> None:
    trips.write_spec(on_data_loss="record")
    before = lost(trips, own_broker)
    trips.run()
    (row,) = trips.offsets("loss")
    assert (row["start_offset"], row["end_offset"], row["gap_lost"]) == (5, 10, 5)
    assert trips.offsets("committed")[0]["gap_lost"] == 5
    assert trips.judge(remembered=before).facts.rows == 10


def test_where_nothing_is_unexplained_nothing_is_accepted(trips: Installed) -> None:
    trips.run()
    gap = f"{trips.topics[0]}[0] [5, 10)"
    refused = trips.sluice("verify", "--accept-gap", gap, "--reason", "why")
    assert refused.returncode == 1
    assert "expected an unexplained gap there, found none" in refused.stderr
    assert trips.offsets("loss") == []
    assert trips.judge().facts.rows == 15


def test_a_part_of_a_gap_is_told_from_none(trips: Installed, own_broker: Broker) -> None:
    before, name = lost(trips, own_broker), f"{trips.topics[0]}[0]"
    trips.ingest(trips.plan())
    for part in ("[5, 6)", "[8, 12)"):
        asked = ("--accept-gap", f"{name} {part}", "--reason", "why")
        refused = trips.sluice("verify", *asked)
        assert refused.returncode == 1
        said = f"{part}: expected a whole unexplained gap, found none: name all of {name} [5, 10)"
        assert said in refused.stderr
    assert trips.offsets("loss") == []
    accepted = trips.sluice("verify", "--accept-gap", f"{name} [5, 10)", "--reason", "why")
    assert accepted.returncode == 0, accepted.stderr
    trips.judge(remembered=before)


def backfill(trips: Installed, start: int, end: int) -> None:
    wanted = offset_ranges([f"{trips.topics[0]}[0] [{start}, {end})"])
    trips.ingest(trips.open().backfill(wanted, "test", "pytest").work)


def test_one_lane_does_not_stop_the_other_and_what_is_accepted_stays_so(
    trips: Installed, own_broker: Broker
) -> None:
    before, gap = lost(trips, own_broker), f"{trips.topics[0]}[0] [5, 10)"
    trips.ingest(trips.plan())
    backfill(trips, 0, 5)
    with pytest.raises(GapUnexplained, match=r"forward-1-1: 5 offsets .*\n.* not in the log"):
        trips.settle()
    assert list(trips.ranges("committed")) == ["backfill-1-1"]

    accepted = trips.sluice("verify", "--accept-gap", gap, "--reason", "a disk died")
    assert accepted.returncode == 0, accepted.stderr + accepted.stdout
    backfill(trips, 0, 15)
    trips.settle()
    assert len(trips.offsets("loss")) == 1, "it is told once"
    lines = {row["batch"]: row["gap_lost"] for row in trips.offsets("committed")}
    assert lines == {"forward-1-1": 5, "backfill-1-1": 0, "backfill-1-2": 5}
    assert "lost: 5 offsets in 1 loss record\n" in trips.sluice("verify").stdout
    assert trips.judge(remembered=before).facts.rows == 10
