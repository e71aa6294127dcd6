"""What is planned goes on where the last batch ended, whatever happened to the log meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sluice.errors import DataLost, ResetNeeded, SettingsError
from sluice.offsets.partition_log import KafkaState
from sluice.offsets.plan import Plan
from sluice.offsets.ranges import OffsetRange, TopicPartition
from sluice.protocol.plan.log_changes import Contradiction
from sluice.protocol.plan.next_batches import plan_first, plan_next

from tests.unit.builders import (
    CLUSTER,
    TOPIC_ID,
    batch,
    history,
    log,
    offsets,
    partition,
    planned,
    sequence,
    spec,
    state,
)


def ranges(plan: Plan) -> list[list[OffsetRange]]:
    return [[each.offsets for each in batch.ranges] for batch in plan.batches]


def test_the_first_plan_reads_from_the_starts_to_the_lso() -> None:
    now = state(log(5, 40, 60), log(0, 10))
    plan = plan_first(spec(), history(), now, {partition(): 5, partition(1): 8})
    assert ranges(plan) == [[offsets(5, 40), offsets(8, 10, 1)]]
    (first,) = plan.batches
    assert (first.sequence, first.number, first.mode) == (sequence(), 1, "append")
    assert first.cluster_id == CLUSTER
    assert first.ranges[0] == planned(offsets(5, 40), log_start=5, stable=40)


def test_the_first_plan_makes_the_starts_durable_even_without_a_record() -> None:
    plan = plan_first(
        spec(), history(), state(log(7, 7), log(0, 0)), {partition(): 7, partition(1): 0}
    )
    assert ranges(plan) == [[offsets(7, 7), offsets(0, 0, 1)]]


def test_the_first_plan_is_cut_to_the_limits_of_the_spec() -> None:
    small = spec(max_records_per_batch=10, max_batches_per_run=2)
    plan = plan_first(small, history(), state(log(0, 90)), {partition(): 0})
    assert ranges(plan) == [[offsets(0, 10)], [offsets(10, 20)]]
    assert [each.number for each in plan.batches] == [1, 2]


def test_a_topic_that_does_not_exist_is_not_planned() -> None:
    with pytest.raises(SettingsError, match="expected flights on the cluster"):
        plan_first(spec(), history(), state(), {})


def test_the_next_plan_goes_on_at_the_cursor_with_the_next_number() -> None:
    before = history(batch(offsets(0, 40), offsets(3, 5, 1), number=7))
    plan = plan_next(spec(), before, state(log(10, 60, 90), log(0, 5)))
    assert ranges(plan) == [[offsets(40, 60), offsets(5, 5, 1)]]
    assert [each.number for each in plan.batches] == [8]
    assert plan.losses == ()


def test_nothing_new_is_no_plan() -> None:
    assert not plan_next(spec(), history(batch(offsets(0, 40))), state(log(0, 40, 90)))


def test_an_lso_below_the_cursor_is_nothing_new() -> None:
    assert not plan_next(spec(), history(batch(offsets(0, 40))), state(log(0, 30, 40)))


def test_a_new_partition_starts_at_its_beginning() -> None:
    plan = plan_next(
        spec(start="latest"), history(batch(offsets(0, 40))), state(log(0, 40), log(0, 9))
    )
    assert ranges(plan) == [[offsets(40, 40), offsets(0, 9, 1)]]


def test_a_new_partition_that_already_lost_records_is_a_loss() -> None:
    before, now = history(batch(offsets(0, 40))), state(log(0, 40), log(4, 9))
    with pytest.raises(DataLost, match=r"flights\[1\]: expected to go on at 0.*starting at 4: 4"):
        plan_next(spec(), before, now)
    plan = plan_next(spec(on_data_loss="record"), before, now)
    assert ranges(plan) == [[offsets(40, 40), offsets(4, 9, 1)]]
    assert [each.offsets for each in plan.losses] == [offsets(0, 4, 1)]


def test_a_new_topic_starts_at_its_log_start_and_has_lost_nothing() -> None:
    both = spec(topics=None, topic_pattern=".*")
    now = state(log(0, 40))
    logs = {**now.logs, TopicPartition("delays", 0): log(4, 9, topic_id="other")}
    plan = plan_next(both, history(batch(offsets(0, 40))), type(now)(CLUSTER, logs))
    assert ranges(plan) == [[offsets(4, 9, 0, "delays"), offsets(40, 40)]]
    assert plan.losses == ()


def test_a_topic_that_the_spec_no_longer_names_keeps_its_place() -> None:
    delays = planned(offsets(0, 7, 0, "delays"), topic_id="other", stable=8, epoch=1)
    before = history(batch(delays, planned(offsets(0, 40))))
    plan = plan_next(spec(), before, state(log(0, 50)))
    assert ranges(plan) == [[offsets(7, 7, 0, "delays"), offsets(40, 50)]]
    kept = plan.batches[0].ranges[0]
    assert (kept.topic_id, kept.last_stable_offset, kept.leader_epoch) == ("other", 8, 1)


@pytest.mark.parametrize("stable", [55, 70])
def test_a_recorded_loss_makes_the_batch_start_at_the_log_start(stable: int) -> None:
    plan = plan_next(
        spec(on_data_loss="record"), history(batch(offsets(0, 40))), state(log(55, stable))
    )
    assert ranges(plan) == [[offsets(55, stable)]]
    assert [each.offsets for each in plan.losses] == [offsets(40, 55)]
    assert plan.losses[0].topic_id == TOPIC_ID


def test_a_loss_stops_the_plan_unless_the_spec_says_otherwise() -> None:
    with pytest.raises(DataLost, match="15 offsets are gone"):
        plan_next(spec(), history(batch(offsets(0, 40))), state(log(55, 70)))


def test_every_partition_that_is_wrong_gets_its_own_line() -> None:
    before = history(batch(offsets(0, 40), offsets(0, 40, 1), offsets(0, 40, 2)))
    with pytest.raises(ResetNeeded) as refused:
        plan_next(spec(), before, state(log(0, 39), log(0, 40), log(0, 90, topic_id="new")))
    first, second, *moves = str(refused.value).splitlines()
    assert first.startswith("flights[0]: ")
    assert second.startswith("flights[2]: ")
    assert len(moves) == 2


def test_what_a_fingerprint_shows_is_told_with_the_rest_and_one_command_names_all_topics() -> None:
    """The reset of one topic would pass over the other; a topic that is gone cannot be reset."""
    both = spec(topics=None, topic_pattern=".*")
    others = [planned(offsets(0, 40, 0, name), topic_id=name) for name in ("delays", "gone")]
    before = history(batch(planned(offsets(0, 40)), *others))
    logs = {**state(log(0, 39)).logs, partition(0, "delays"): log(0, 90, topic_id="delays")}
    hidden = Contradiction(partition(0, "delays"), "one record batch", "another")
    with pytest.raises(ResetNeeded) as refused:
        plan_next(both, before, KafkaState(CLUSTER, logs), changes=[hidden])
    text = str(refused.value)
    told = [line.split(": ")[0] for line in text.splitlines()[:3]]
    assert told == ["flights[0]", "gone[0]", "delays[0]"]
    assert text.count("sluice reset flights --to-earliest --topic delays --topic flights`") == 1
    assert "`except_topics`" in text


def test_another_cluster_stops_the_plan() -> None:
    with pytest.raises(ResetNeeded, match="cluster: expected"):
        plan_next(spec(), history(batch(offsets(0, 40))), state(log(0, 90), cluster="other"))


def test_a_topic_that_is_gone_stops_the_plan() -> None:
    with pytest.raises(ResetNeeded, match="no such partition"):
        plan_next(spec(), history(batch(offsets(0, 40))), state())


def test_an_epoch_the_broker_does_not_tell_for_once_is_not_forgotten() -> None:
    """The partition was led in epoch 9; a later log of epoch 4 is an older copy all the same."""
    first = history(batch(planned(offsets(0, 40), epoch=9)))
    untold = plan_next(spec(), first, state(log(0, 50, epoch=None)))
    with pytest.raises(ResetNeeded, match="leader epoch 9 or later"):
        plan_next(spec(), history(*untold.batches), state(log(0, 60, epoch=4)))


def test_partitions_that_a_topic_created_anew_lacks_are_given_up_once_a_reset_has_gone_on() -> None:
    """A reset moves the partitions that are there; the others keep their place of the old topic."""
    anew = state(log(0, 9, topic_id="new"))
    old = batch(offsets(0, 40), offsets(0, 7, 1))
    with pytest.raises(ResetNeeded, match=r"\[0\]: .*created anew\nflights\[1\]: .*no such parti"):
        plan_next(spec(), history(old), anew)
    moved = batch(planned(offsets(0, 0), topic_id="new"), offsets(7, 7, 1))
    plan = plan_next(spec(), history(moved), anew)
    ends = {str(each.offsets): each.topic_id for each in plan.batches[0].ranges}
    assert ends == {"flights[0] [0, 9)": "new", "flights[1] [7, 7)": TOPIC_ID}


def test_a_partition_that_the_topic_created_anew_gets_later_is_a_new_one() -> None:
    """Its place in the cursor is of the old topic; the new one has been read in the others."""
    moved = batch(planned(offsets(0, 9), topic_id="new"), offsets(7, 7, 1))
    grown = state(log(0, 9, topic_id="new"), log(0, 4, topic_id="new"))
    (planned_next,) = plan_next(spec(), history(moved), grown).batches
    ends = {str(each.offsets): each.topic_id for each in planned_next.ranges}
    assert ends == {"flights[0] [9, 9)": "new", "flights[1] [0, 4)": "new"}
    gone = state(log(0, 9, topic_id="new"), log(2, 4, topic_id="new"))
    with pytest.raises(DataLost, match="gone before the new partition"):
        plan_next(spec(), history(moved), gone)


NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


def test_the_batch_that_reaches_every_lso_has_the_moment_before_they_were_asked_for() -> None:
    before = history(replace(batch(offsets(0, 40), offsets(0, 9, 1)), complete_until=NOON))
    asked = NOON + timedelta(minutes=10)
    now = state(log(0, 65), log(0, 9), asked=asked)
    plan = plan_next(spec(max_records_per_batch=10), before, now)
    assert [each.complete_until for each in plan.batches] == [NOON, NOON, asked]


def test_a_plan_that_ends_below_an_lso_repeats_the_moment_before() -> None:
    small = spec(max_records_per_batch=10, max_batches_per_run=2)
    now = state(log(0, 90), log(0, 9), asked=NOON)
    first = plan_first(small, history(), now, {partition(): 0, partition(1): 0})
    assert [each.complete_until for each in first.batches] == [None, None]
    later = plan_next(small, history(*first.batches), now)
    assert [each.complete_until for each in later.batches] == [None, None]


def test_a_partition_that_waits_keeps_the_table_incomplete() -> None:
    before = history(replace(batch(offsets(0, 40)), complete_until=NOON))
    now = state(log(0, 45), log(0, 30), asked=NOON + timedelta(hours=1))
    (one,) = plan_next(spec(max_records_per_batch=20, max_batches_per_run=1), before, now).batches
    assert [each.offsets.end for each in one.ranges] == [45, 15]
    assert one.complete_until == NOON


def test_a_topic_that_the_spec_no_longer_names_keeps_no_table_incomplete() -> None:
    before = history(batch(planned(offsets(0, 7, 0, "delays"), stable=8), planned(offsets(0, 40))))
    (one,) = plan_next(spec(), before, state(log(0, 50), asked=NOON)).batches
    assert one.complete_until == NOON
