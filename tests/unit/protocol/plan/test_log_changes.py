"""A log is held against the one that was read before; every difference is named with its place."""

from __future__ import annotations

from typing import Any

import pytest
from sluice.errors import DataLost, ResetNeeded, SettingsError
from sluice.offsets.loss_causes import parse_cause
from sluice.offsets.losses import ON_DATA_LOSS, Loss, OnDataLoss
from sluice.protocol.plan.log_changes import (
    Contradiction,
    compare_last,
    compare_new_partition,
    losses,
    readable_ranges,
    require_no_contradiction,
    require_same_cluster,
    require_topics,
)

from tests.unit.builders import TOPIC_ID, batch, log, offsets, partition, planned, spec, state

LAST = planned(offsets(10, 40), epoch=3)
CONTRADICTION = Contradiction(partition(), "one thing", "another")
RETENTION = parse_cause("retention or deleted records")
LOSS = Loss(offsets(5, 20, 1), TOPIC_ID, RETENTION)
FAIL, RECORD = ON_DATA_LOSS["fail"], ON_DATA_LOSS["record"]


@pytest.mark.parametrize(
    "now",
    [
        log(0, 40),
        log(40, 40),
        log(10, 900, 950),
        log(0, 40, epoch=4),
        log(0, 40, epoch=None),
        log(0, 30, 40),
    ],
    ids=["unmoved", "start at the cursor", "grown", "new leader", "no epoch", "held back"],
)
def test_a_log_that_goes_on_from_the_cursor_agrees(now: Any) -> None:
    assert compare_last(LAST, now) is None


@pytest.mark.parametrize(
    ("now", "named"),
    [
        (None, ["a log to go on with at 40", "no such partition, read up to its last known end"]),
        (log(0, 90, topic_id="new"), [TOPIC_ID, "40", "new with [0, 90)", "created anew"]),
        (log(0, 90, topic_id="new", epoch=0), ["created anew"]),
        (log(0, 20, topic_id="new"), ["created anew"]),
        (log(50, 90, topic_id="new"), ["created anew"]),
        (log(0, 90, epoch=2), ["leader epoch 3 or later", "2: the log was replaced"]),
        (log(0, 33), ["end offset of at least 40", "end offset 33, 7 less", "truncated"]),
        (log(0, 0), ["end offset 0, 40 less"]),
    ],
)
def test_another_log_contradicts_the_cursor(now: Any, named: list[str]) -> None:
    found = compare_last(LAST, now)
    assert isinstance(found, Contradiction)
    text = str(found)
    assert text.startswith("flights[0]: expected ")
    assert all(part in text for part in named), text


def test_a_log_that_starts_above_the_cursor_lost_what_is_between() -> None:
    found = compare_last(LAST, log(55, 90))
    assert found == Loss(offsets(40, 55), TOPIC_ID, RETENTION)
    assert "flights[0]: expected to go on at 40" in str(found)
    assert "starting at 55: 15 offsets lost (retention" in str(found)


def test_a_single_lost_offset_is_lost() -> None:
    found = compare_last(LAST, log(41, 90))
    assert isinstance(found, Loss)
    assert found.offsets == offsets(40, 41)


def test_an_epoch_that_was_not_told_contradicts_nothing() -> None:
    assert compare_last(planned(offsets(0, 40), epoch=None), log(0, 40, epoch=0)) is None


def test_a_new_partition_begins_at_zero_or_has_lost_something() -> None:
    assert compare_new_partition(partition(4), log(0, 9)) is None
    found = compare_new_partition(partition(4), log(6, 9))
    assert found is not None
    assert found.offsets == offsets(0, 6, 4)


def test_a_topic_that_was_never_there_is_a_matter_of_settings() -> None:
    with pytest.raises(SettingsError, match=r"expected delays, weather on the cluster.*Create"):
        require_topics(spec(topics=["flights", "delays", "weather"]), (), state(log()))


def test_a_pattern_without_any_topic_is_a_matter_of_settings() -> None:
    pattern = spec(topics=None, topic_pattern="fl.*")
    with pytest.raises(SettingsError, match=r"no topic on the cluster matches 'fl\.\*'"):
        require_topics(pattern, (), state())
    require_topics(pattern, (), state(log()))


def test_a_topic_that_was_read_before_is_not_a_matter_of_settings() -> None:
    require_topics(spec(topics=["flights"]), ["flights"], state())


def test_another_cluster_behind_the_connection_is_refused() -> None:
    require_same_cluster("flights", "one", state(cluster="one"))
    with pytest.raises(ResetNeeded, match="expected one, found two behind the same connection"):
        require_same_cluster("flights", "one", state(cluster="two"))


@pytest.mark.parametrize("policy", [FAIL, RECORD], ids=["fail", "record"])
def test_a_contradiction_always_stops_whatever_else_was_found(policy: OnDataLoss) -> None:
    with pytest.raises(ResetNeeded, match=r"flights\[0\]: expected one thing, found another"):
        losses("flights", [LOSS, CONTRADICTION], policy)
    with pytest.raises(ResetNeeded, match=r"flights\[0\]: expected one thing, found another"):
        require_no_contradiction("flights", [LOSS, None, CONTRADICTION])
    require_no_contradiction("flights", [LOSS, None])


def test_losses_stop_unless_they_are_to_be_recorded() -> None:
    other = Loss(offsets(0, 3, 2), TOPIC_ID, RETENTION)
    with pytest.raises(DataLost) as refused:
        losses("flights", [LOSS, other], FAIL)
    *lines, move = str(refused.value).splitlines()
    assert lines == [str(LOSS), str(other)]
    assert move.startswith("18 offsets are gone. `on_data_loss: record`")
    assert losses("flights", [LOSS, other], RECORD) == (LOSS, other)
    assert losses("flights", [], FAIL) == ()


def test_an_adopted_batch_is_read_as_planned_where_kafka_still_holds_it() -> None:
    adopted = batch(offsets(10, 40), offsets(7, 7, 1), offsets(0, 5, 2))
    now = state(log(10, 90), log(50, 90), log(0, 5))
    assert readable_ranges(adopted, now, FAIL) == [offsets(10, 40), offsets(0, 5, 2)]


@pytest.mark.parametrize(
    ("log_start", "left"), [(11, (11, 40)), (39, (39, 40)), (40, (40, 40)), (70, (40, 40))]
)
def test_what_retention_took_of_an_adopted_batch_is_lost(
    log_start: int, left: tuple[int, int]
) -> None:
    adopted, now = batch(offsets(10, 40)), state(log(log_start, 90))
    assert readable_ranges(adopted, now, RECORD) == [offsets(*left)]
    with pytest.raises(DataLost, match=rf"flights\[0\].*{left[0] - 10} offsets lost .*after plan"):
        readable_ranges(adopted, now, FAIL)


@pytest.mark.parametrize(
    "now",
    [
        state(),
        state(log(topic_id="new")),
        state(log(epoch=1)),
        state(log(0, 39)),
        state(cluster="x"),
    ],
    ids=["gone", "created anew", "older copy", "truncated", "other cluster"],
)
def test_an_adopted_batch_of_another_log_is_refused(now: Any) -> None:
    with pytest.raises(ResetNeeded):
        readable_ranges(batch(offsets(10, 40)), now, RECORD)


def test_a_topic_that_is_gone_tells_what_was_not_read_and_how_the_others_go_on() -> None:
    last = planned(offsets(10, 40), stable=55)
    with pytest.raises(ResetNeeded) as refused:
        losses("flights", [found] if (found := compare_last(last, None)) else [], RECORD)
    first, move = str(refused.value).splitlines()
    assert "found no such partition, 15 offsets up to its last known end were not read" in first
    assert "take it out of `topics`, or name it in `except_topics`" in move


def test_a_planned_batch_of_a_topic_that_is_gone_tells_how_to_drop_the_plan() -> None:
    pinned = batch(offsets(10, 40), offsets(0, 5, topic="delays"))
    with pytest.raises(ResetNeeded) as refused:
        readable_ranges(pinned, state(log(0, 90)), FAIL)
    first, move = str(refused.value).splitlines()
    assert first.startswith("delays[0]: expected a log to go on with at 0, found no such partition")
    assert ", 5 offsets up to its last known end were not read" in first
    assert "`sluice reset flights --shift-by 0` drops the plan" in move


def test_several_contradictions_name_each_next_move_once() -> None:
    anew = compare_last(LAST, log(0, 90, topic_id="new"))
    gone = [compare_last(planned(offsets(0, 9, number, "delays")), None) for number in (0, 1)]
    with pytest.raises(ResetNeeded) as refused:
        losses("trips", [each for each in (anew, *gone) if each], FAIL)
    lines = str(refused.value).splitlines()
    assert len(lines) == 5
    assert "`sluice reset trips --to-earliest --topic flights` goes on with the new" in lines[3]
