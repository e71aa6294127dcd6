"""Targets of a reset: every name of the table means one, and asks Kafka only where it must."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from sluice.errors import ResetNeeded, SettingsError
from sluice.offsets.notation import parse_scope
from sluice.offsets.partition_log import Logs
from sluice.operations.reset.standing import HeldPosition
from sluice.operations.reset.targets import Target, named_target, shift_by, to_latest, to_table
from sluice.positions.names import SKIP, TARGETS
from sluice.positions.position import cursor_at

from tests.unit.builders import CLUSTER, log, offsets, partition, planned, state
from tests.unit.positions.answers import Answers

CURSOR = {partition(): planned(offsets(20, 40)), partition(1): planned(offsets(50, 50, 1))}
ROWS = {**CURSOR, partition(): cursor_at(CURSOR[partition()], 30)}
HELD = HeldPosition("flights", CURSOR, ROWS, {"forward": 3, "backfill": 0}, CLUSTER)


@dataclass
class Kafka(Answers):
    """One that also knows its logs, unless a test has taken them away."""

    held: Logs | None = field(default_factory=lambda: state(log(10, 90), log(0, 50)).logs)

    def logs(self, cluster_id: str) -> Logs:
        if self.held is None:
            raise ResetNeeded("another cluster")
        self.asked.append(cluster_id)
        return self.held

    def new_cluster(self, before: str) -> tuple[str, Logs]:
        assert self.held is not None
        return "another", self.held


def goes(target: Target, kafka: Kafka) -> dict[int, int]:
    moves = target.moves(HELD, kafka).items()
    return {each.partition: moved.after.offsets.end for each, moved in moves}


VALUES = {
    "to-earliest": ("", {0: 10, 1: 0}),
    "to-latest": ("", {0: 90, 1: 50}),
    "to-table": ("", {0: 30, 1: 50}),
    "to-datetime": ("2026-11-01T06:00:00Z", {0: 55, 1: 50}),
    "by-duration": ("PT1H", {0: 55, 1: 50}),
    "shift-by": ("-5", {0: 35, 1: 45}),
    "to-offsets": ("flights[1]=7", {1: 7}),
    "to-group": ("old", {0: 55}),
}


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - {SKIP}))
def test_every_name_of_the_table_leads_somewhere(name: str) -> None:
    value, expected = VALUES[name]
    assert goes(named_target(name, value), Kafka({0: 55})) == expected


@pytest.mark.parametrize("name", [name for name, each in TARGETS.items() if each.metavar])
def test_a_name_that_takes_a_value_needs_one(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} needs a value"):
        named_target(name, " ")


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - {SKIP}))
def test_some_topics_only_where_the_name_allows_it(name: str) -> None:
    value, everywhere = VALUES[name]
    scopes = [parse_scope("flights:0")]
    if not TARGETS[name].of_some_topics:
        with pytest.raises(ValueError, match="leave the topic out"):
            named_target(name, value, scopes)
        return
    found = goes(named_target(name, value, scopes), Kafka({0: 55}))
    assert found == {0: everywhere[0]}


@pytest.mark.parametrize(
    ("scope", "why"),
    [("delays", "topic 'delays': expected one of"), ("flights:7", r"flights\[7\]: expected")],
)
def test_an_unknown_topic_or_partition_is_refused(scope: str, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        named_target("to-latest", scopes=[parse_scope(scope)]).moves(HELD, Kafka())


def test_a_target_that_needs_no_log_does_not_ask_for_one() -> None:
    assert goes(to_table, Kafka(held=None)) == {0: 30, 1: 50}
    for target in (to_latest, shift_by(0)):
        with pytest.raises(ResetNeeded, match="another cluster"):
            target.moves(HELD, Kafka(held=None))


@pytest.mark.parametrize(
    ("name", "value", "scopes", "towards"),
    [
        ("to-latest", "", (), "to-latest"),
        ("to-latest", "as a flag is told to be set", (), "to-latest"),
        ("to-latest", "", ("flights:0",), "to-latest flights:0"),
        ("by-duration", " PT1H", (), "by-duration PT1H"),
        ("to-datetime", "9000-01-01", (), "to-datetime 9000-01-01"),
        ("to-datetime", "2026-01-01", (), ""),
        ("to-earliest", "", (), ""),
        ("to-table", "", (), ""),
        ("to-offsets", "flights[0]=5", (), ""),
        ("shift-by", "5", (), ""),
        ("to-group", "old", (), ""),
    ],
)
def test_some_targets_move_with_the_log(
    name: str, value: str, scopes: tuple[str, ...], towards: str
) -> None:
    assert named_target(name, value, [parse_scope(each) for each in scopes]).towards == towards
    assert to_latest.towards == "to-latest"


@pytest.mark.parametrize("name", sorted(TARGETS.keys() - {SKIP}))
def test_a_new_cluster_is_read_from_positions_of_its_own(name: str) -> None:
    value, _ = VALUES[name]
    if not TARGETS[name].on_new_cluster:
        with pytest.raises(ValueError, match="from positions of its own"):
            named_target(name, value, new_cluster=True)
        return
    target, kafka = named_target(name, value, new_cluster=True), Kafka({0: 55, 1: 5})
    if name == "to-offsets":
        with pytest.raises(SettingsError, match=r"flights\[0\]: expected a position for every"):
            target.moves(HELD, kafka)
        return
    assert goes(target, kafka).keys() == {0, 1}
    assert target.cluster_id(HELD, kafka) == "another"
    assert named_target(name, value).cluster_id(HELD, kafka) == CLUSTER


def test_a_new_cluster_is_read_in_all_its_topics() -> None:
    with pytest.raises(ValueError, match="in all partitions"):
        named_target("to-earliest", scopes=[parse_scope("flights")], new_cluster=True)


def test_the_logs_are_those_of_the_cluster_that_was_read() -> None:
    kafka = Kafka()
    to_latest.moves(HELD, kafka)
    assert kafka.asked == [CLUSTER]
