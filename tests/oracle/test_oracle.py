"""The oracle is alive (invariant 12): green on a correct world, red on each planted fault."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.embedded.broker import Broker
from tests.oracle import KafkaTruth, assert_exact, judge, read_truth
from tests.oracle.awkward import STAMP, awkward_topic
from tests.oracle.fault import Fault, two_batches
from tests.oracle.faults import FAULTS
from tests.oracle.world import World
from tests.oracle.world_verdicts import verdict_on

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def topic_name(broker: Broker) -> str:
    return awkward_topic(broker.bootstrap)


@pytest.fixture(scope="module")
def truth(broker: Broker, topic_name: str) -> KafkaTruth:
    return read_truth(broker.bootstrap, [topic_name])


def correct(truth: KafkaTruth) -> World:
    world = World(truth)
    two_batches(world)
    return world


def test_truth_is_what_a_read_committed_client_sees(truth: KafkaTruth) -> None:
    assert sorted(place.partition for place in truth.partitions.values()) == [0, 1]
    for place in truth.partitions.values():
        assert place.offsets.tolist() == [*range(10), *range(15, 25)]
        assert place.aborted.tolist() == [11, 12, 13]
        assert (place.log_start, place.end, place.compacts) == (0, 26, False)


def test_truth_keeps_every_part_of_a_record(truth: KafkaTruth) -> None:
    lines = next(iter(truth.partitions.values())).records.to_pylist()
    assert [line["timestamp"] - STAMP for line in lines] == list(range(20))
    assert lines[2]["headers"] == [{"key": "h", "value": b"2"}, {"key": "h", "value": None}]
    assert (lines[3]["key"], lines[3]["headers"]) == (None, None)
    assert (lines[4]["key"], lines[4]["value"]) == (b"k4", None)
    assert lines[5]["value"] == b"{not json"


def test_a_correct_world_is_exact(truth: KafkaTruth, tmp_path: Path) -> None:
    verdict = verdict_on(correct(truth), tmp_path)
    assert verdict.exact, str(verdict)
    assert verdict.notes == []
    facts = verdict.facts
    assert (facts.records, facts.rows, facts.quarantined, facts.committed) == (40, 38, 2, 2)


def test_it_reads_kafka_by_itself(
    broker: Broker, topic_name: str, truth: KafkaTruth, tmp_path: Path
) -> None:
    world = correct(truth)
    world.write(tmp_path)
    where = (broker.bootstrap, tmp_path, world.pipeline, world.table, [topic_name])
    schema = "id BIGINT, name STRING"
    verdict = assert_exact(*where, fmt="json", schema=schema, group="nobody")
    assert verdict.facts.records == 40
    short = judge(*where, fmt="json", schema="id BIGINT, name STRING, more INT")
    assert short.invariants == {5}


def test_assert_exact_tells_every_violation(truth: KafkaTruth, tmp_path: Path) -> None:
    World(truth).write(tmp_path)
    with pytest.raises(AssertionError, match=r"(?s)2 violations.*10 Live: oracle-\w+\[1\]"):
        assert_exact("unused:0", tmp_path, "world", "world", [], truth=truth)


def test_a_format_without_decoder_is_refused(truth: KafkaTruth, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="without a schema"):
        judge("unused:0", tmp_path, "world", "world", [], truth=truth, fmt="json")


def test_a_sample_of_decoded_rows_is_told(truth: KafkaTruth, tmp_path: Path) -> None:
    verdict = verdict_on(correct(truth), tmp_path, decode_at_most=10)
    assert verdict.exact
    assert verdict.notes == ["fields compared in 10 rows, evenly spread"]


def test_a_raw_world_is_exact_until_a_value_is_altered(truth: KafkaTruth, tmp_path: Path) -> None:
    world = World(truth, raw=True)
    two_batches(world)
    verdict = verdict_on(world, tmp_path / "raw", fmt="raw", decode=None)
    assert verdict.exact, str(verdict)
    assert (verdict.facts.rows, verdict.facts.quarantined) == (40, 0)
    world.of("data")[1].rows[0]["value"] += b" "
    assert verdict_on(world, tmp_path / "altered", fmt="raw", decode=None).invariants == {5}


def test_fields_that_the_test_compares_are_left_to_it(truth: KafkaTruth, tmp_path: Path) -> None:
    world = correct(truth)
    rows = world.of("data")[1].rows
    rows[0]["id"] += 1
    assert verdict_on(world, tmp_path / "judged").invariants == {5}
    assert verdict_on(world, tmp_path / "left", fields=False).exact
    del rows[1]
    assert 1 in verdict_on(world, tmp_path / "lost", fields=False).invariants


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.invariant}-{fault.name}")
def test_a_planted_fault_turns_it_red(truth: KafkaTruth, tmp_path: Path, fault: Fault) -> None:
    world = correct(truth)
    fault.apply(world)
    verdict = verdict_on(world, tmp_path)
    assert fault.invariant in verdict.invariants, str(verdict)
