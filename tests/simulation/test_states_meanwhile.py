"""What happens to a state table between a refresh's look at it and its commit."""

from __future__ import annotations

from sluice.errors import StateStopped
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.selection import parse_selection
from sluice.operations.maintain import MaintenanceResult

from tests.simulation.commands import Command
from tests.simulation.states_by_hand import IN_ONE, States, state_worlds


def loses(states: States, partition: int, below: int) -> None:
    """Kafka deletes the records below an offset."""
    states.world.kafka.delete_records(TopicPartition("t", partition), below)


def maintained(states: States) -> int:
    """How many deleted keys a maintenance has collected."""
    done = states.world.carry_out(Command(("maintain",), "maintain"))
    assert isinstance(done.result, MaintenanceResult), done.problem
    return done.result.collected


def reads_again(states: States, offset: int) -> None:
    """A record of a range of its own becomes a row, and its batch is finished."""
    selection = parse_selection(None, None, [f"t[0] [{offset}, {offset + 1})"], [])
    planned = states.world.pipeline().backfill(selection, "passed over", "me")
    pipeline = states.world.pipeline()
    with pipeline.open_lake(pipeline.span(planned.work)) as lake:
        pipeline.ingest(planned.work, lake)
    pipeline.settle("settled", "me")


def test_a_key_that_is_collected_meanwhile_does_not_come_back_by_an_older_row() -> None:
    for states in state_worlds(IN_ONE):
        states.comes(9, 1, "nine")
        states.put(1, 1, "old")
        states.does("reset", "--to-latest")
        states.put_tombstone(1)
        states.lands()
        states.follows()
        reads_again(states, 1)
        refresh = states.stops_at("state span known", "refresh")
        loses(states, 0, 3)
        assert maintained(states) == 1
        states.judge.before()
        states.world.go_on(refresh, None)
        states.judged()
        assert states.names() == {9: "nine"}
        states.ends_well()


def test_a_refresh_of_removed_rows_that_another_has_overtaken_looks_again(states: States) -> None:
    """It finds a key unchanged at the end of its span, which the other has written meanwhile."""
    for key, seq, name in ((1, 1, "a"), (1, 3, "c"), (2, 1, "b"), (3, 1, "d")):
        states.put(key, seq, name)
    states.lands()
    states.follows()
    version = states.table().version()
    states.table().delete("seq = 3")
    first = states.stops_at("state computed", "refresh")
    states.table().restore(version)
    states.table().delete("id = 2")
    states.world.begin_process(Command(("refresh",), "second"), 0)
    second = states.world.frozen[-1]
    states.goes_up_to("state committed", first)
    states.judge.before()
    states.world.go_on(second, None)
    states.judged()
    assert states.names() == {1: "c", 3: "d"}
    states.ends_well()


def test_a_rebuild_that_would_stop_leaves_the_table_that_is_trusted(apart: States) -> None:
    """The key was collected in one partition, and has come in another: the log has no order."""
    for partition in (0, 1, 2):
        for number in range(4):
            apart.put(10 + partition, number, "f", partition)
    apart.put(1, 1, "a", 0)
    apart.put_tombstone(1)
    for partition in (0, 1, 2):
        for number in range(4):
            apart.put(10 + partition, number, "f", partition)
    apart.lands()
    apart.follows()
    for partition in (0, 1, 2):
        loses(apart, partition, 7)
    assert maintained(apart) == 1
    apart.put(1, 1, "elsewhere", 1)
    apart.lands()
    assert isinstance(apart.asks("refresh"), list)
    assert isinstance(apart.asks("rebuild"), StateStopped)
    assert apart.asks("refresh") == []
