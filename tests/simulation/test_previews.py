"""What a preview says is what the command does, played by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from sluice.cli.views.resets import print_preview, print_skip
from sluice.errors import PreviewOutdated, RowsErased, TableRefused
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.selection import offset_ranges
from sluice.operations.reset.targets import named_target, to_earliest
from sluice.operations.status import PipelineStatus

from tests.simulation.by_hand import Hand
from tests.worlds.memory_log import Record

PARTITION = TopicPartition("t", 0)
INTERRUPTED = "the reset to generation 2 (simulated) was interrupted"
REFUSED = (
    "It is refused unless they may come back: --bring-back-erased, or `bring_back_erased` in the"
    " form of a run."
)


def shown(hand: Hand, capsys: pytest.CaptureFixture[str], target: str, value: str = "") -> str:
    """The preview of a reset, as the command line has it."""
    capsys.readouterr()
    print_preview(hand.world.pipeline().preview_reset(named_target(target, value)), False)
    return capsys.readouterr().out


@pytest.mark.parametrize("point", ["reset intended", "fence stands"])
def test_a_preview_names_the_interrupted_reset_that_is_finished_first(
    hand: Hand, capsys: pytest.CaptureFixture[str], point: str
) -> None:
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    hand.produce(4)
    hand.stops_at(point, "reset", "--to-earliest")
    hand.world.frozen.clear()
    status = hand.world.pipeline().status()
    assert isinstance(status, PipelineStatus)
    assert status.notes == (f"{INTERRUPTED}: the next run finishes it first, or says why not",)
    text = shown(hand, capsys, "shift-by", "1")
    assert f"{INTERRUPTED}: it is finished first, and nothing else is done:" in text
    assert "  t[0]: 4 → 0\n" in text
    *_, last = text.splitlines()
    assert last == "Nothing was changed: --execute --reason … finishes the interrupted reset only."
    assert isinstance(hand.refused("reset", "--shift-by", "1"), PreviewOutdated)
    assert "interrupted" not in shown(hand, capsys, "shift-by", "1")
    hand.is_exact()


def test_the_preview_of_a_skip_names_it_too(hand: Hand, capsys: pytest.CaptureFixture[str]) -> None:
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    hand.stops_at("reset intended", "reset", "--shift-by", "-2")
    hand.world.frozen.clear()
    hand.produce(4, 5)
    found = hand.world.pipeline().preview_skip({PARTITION: 4}, "", "")
    print_skip(found, False)
    text = capsys.readouterr().out
    assert f"  {INTERRUPTED}: it is finished first\n" in text
    assert "--as-previewed" not in text
    hand.does("reset", "--skip", "t[0]@4")
    hand.is_exact(4)


def test_a_preview_names_no_interrupted_reset_that_is_given_up(
    hand: Hand, capsys: pytest.CaptureFixture[str]
) -> None:
    """Others have deleted a row since, which it would bring back."""
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    hand.stops_at("reset intended", "reset", "--to-earliest")
    hand.world.frozen.clear()
    hand.table().delete("_offset = 1")
    text = shown(hand, capsys, "shift-by", "0")
    assert "interrupted" not in text
    assert "--execute --reason … does it" in text
    hand.does("reset", "--shift-by", "0")
    assert hand.rows() == [0, 2, 3]


def test_a_preview_of_what_is_refused_names_the_consent_that_allows_it(
    hand: Hand, capsys: pytest.CaptureFixture[str]
) -> None:
    hand.produce(0, 1, 2, 3)
    hand.does("run")
    hand.table().delete("_offset = 1")
    consent = "--execute --reason … --bring-back-erased does it, and with --as-previewed"
    assert consent in shown(hand, capsys, "to-earliest")
    assert REFUSED in hand.world.pipeline().preview_reset(to_earliest).remarks
    assert isinstance(hand.refused("reset", "--to-earliest"), RowsErased)
    # Nothing is asked where none of them comes back.
    for value in ("0", "-2"):
        assert "bring" not in shown(hand, capsys, "shift-by", value)
    hand.does("reset", "--shift-by", "-2")
    hand.does("run")
    again = ("reprocess", "--range", "t[0] [0, 2)")
    assert REFUSED in hand.world.pipeline().dry_run(offset_ranges(["t[0] [0, 2)"])).notes
    assert isinstance(hand.refused(*again), RowsErased)
    assert REFUSED not in hand.world.pipeline().dry_run(offset_ranges(["t[0] [2, 4)"])).notes
    hand.does(*again, "--bring-back-erased")
    assert hand.rows() == [0, 1, 2, 3]


@pytest.mark.parametrize("target", [("--to-earliest",), ("--to-offsets", "t[0]=0")])
def test_a_reset_over_a_file_that_is_gone_is_refused_as_its_preview_is(
    hand: Hand, target: tuple[str, ...]
) -> None:
    """Every batch behind it would fail; above the file nothing does."""
    hand.produce(0, 1)
    hand.does("run")
    hand.produce(2, 3)
    hand.does("run")
    first, *_ = sorted(hand.table().file_uris(), key=lambda each: Path(each).stat().st_mtime_ns)
    Path(first).unlink()
    before = hand.versions()
    for words in (("preview", *target), ("reset", *target)):
        problem = hand.refused(*words)
        assert isinstance(problem, TableRefused)
        assert "a file of the table is gone" in str(problem)
    assert hand.versions() == before
    hand.does("reset", "--shift-by", "-2")
    hand.does("run")


def test_a_reset_of_another_topic_is_not_refused_for_a_file_that_is_gone(hand: Hand) -> None:
    world = hand.world
    world.kafka.create_topic("u", 1)
    world.keys = {**world.keys, "topics": ["t", "u"]}
    now = int(world.clock.now().timestamp() * 1000)
    world.kafka.produce("u", 0, [Record(b'{"id": 10}', b"k", now, ())], None)
    hand.does("run")
    of_u = hand.table().file_uris()
    hand.produce(0, 1)
    hand.does("run")
    for each in of_u:
        Path(each).unlink()
    hand.does("reset", "--to-earliest", "--topic", "t")
    hand.does("run")
    assert "a file of the table is gone" in str(hand.refused("reset", "--to-earliest"))
