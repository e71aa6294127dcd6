"""Backfills: offsets below the cursor are read again, and take the place of exactly their rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from deltalake import DeltaTable
from sluice.errors import BackfillClosed, ResetNeeded, SettingsError, TooManyQuarantined
from sluice.moves import Move
from sluice.offsets.quarantined import RecordFilter, RecordState
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.replay import quarantined_records
from sluice.operations.backfill.selection import (
    Selection,
    offset_ranges,
    time_window,
    whole_batches,
)
from sluice.operations.quarantine.listing import choose_records
from sluice.operations.reset.targets import shift_by, to_table
from sluice.progress.quarantined_records import read_quarantined
from sluice.protocol.plan.write_plan import PlannedWork
from sluice.protocol.settle.write_receipts import Settlement

from tests.worlds.compaction import COMPACTED, compact
from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import delete_records, group_positions, numbered, produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]


DAY = datetime(2026, 11, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
EVER = time_window(datetime(2000, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC))


def at(hours: float) -> int:
    """Milliseconds of a moment on that day, as Kafka stamps records."""
    return int((DAY + hours * HOUR).timestamp() * 1000)


def hours(first: float, last: float) -> Selection:
    return time_window(DAY + first * HOUR, DAY + last * HOUR)


def plan(trips: Installed, asked: Selection) -> PlannedWork:
    return trips.open().backfill(asked, "test", "pytest")


def again(trips: Installed, asked: Selection) -> tuple[PlannedWork, Settlement]:
    """What `sluice backfill` does, with the tests' Spark session."""
    planned = plan(trips, asked)
    trips.ingest(planned.work)
    return planned, trips.settle()


def by_batch(trips: Installed) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for row in trips.rows():
        found.setdefault(row["_batch"], []).append((row["_partition"], row["_offset"]))
    return {batch: sorted(places) for batch, places in found.items()}


def contents(trips: Installed) -> list[tuple[int, int, bytes]]:
    return sorted((row["_partition"], row["_offset"], row["value"]) for row in trips.rows())


def verified(trips: Installed) -> None:
    done = trips.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """Two partitions, a record every quarter of an hour for four hours, landed by two batches.

    The clock of the producer of the odd ones in partition 1 is an hour fast.
    """
    made = pipeline(topic(2, retention_ms=-1, message_timestamp_type="CreateTime"))
    for number in range(16):
        fast = number % 2
        for partition in (0, 1):
            stamp = at(number / 4 + (partition and fast))
            produce(made.bootstrap, made.topics[0], numbered(1, number), partition, timestamp=stamp)
        if number == 7:
            made.run()
    made.run()
    return made


def test_neighbouring_windows_touch_and_the_cursor_stays(trips: Installed) -> None:
    before = contents(trips)
    everything = [hours(-30, 1), hours(1, 2), hours(2, 3), hours(3, 30)]
    # Not in order: a backfill may run backwards.
    for asked in reversed(everything):
        assert again(trips, asked)[0].plan.left_out == ()
    # Partition 1 has records of this hour at 5, 7, 8 and 10.
    assert trips.ranges()["backfill-1-2"] == {"[0]": (8, 12), "[1]": (5, 11)}
    covered = [trips.ranges("committed")[f"backfill-1-{n}"] for n in (4, 3, 2, 1)]
    for partition, touch in (("[0]", True), ("[1]", False)):
        ranges = [each[partition] for each in covered if partition in each]
        assert (ranges[0][0], ranges[-1][1]) == (0, 16)
        assert all(one[1] >= two[0] for one, two in pairwise(ranges))
        assert all(one[1] == two[0] for one, two in pairwise(ranges)) == touch
    assert {row["_batch"] for row in trips.rows()} == {f"backfill-1-{n}" for n in (1, 2, 3, 4)}
    assert contents(trips) == before
    assert {row["mode"] for row in trips.offsets("planned") if row["lane"] == "backfill"} == {
        "replace"
    }
    assert group_positions(trips.bootstrap, trips.group, trips.topics[0], 2) == [16, 16]
    produce(trips.bootstrap, trips.topics[0], numbered(3, 100))
    trips.run()
    assert trips.ranges()["forward-1-3"] == {"[0]": (16, 19), "[1]": (16, 16)}
    assert trips.judge().facts.rows == 35


def test_a_record_dated_ahead_narrows_no_window(topic: Topic, pipeline: Pipelines) -> None:
    """One clock that counts microseconds, and one late record; some are in quarantine."""
    visits = lenient(topic, pipeline, retention_ms=-1, message_timestamp_after_max_ms=2**63 - 1)
    name = visits.topics[0]
    for number, stamp in enumerate((0, 1, 2, None, 4, 5, 6, 4.5)):
        made = at(2) * 1000 if stamp is None else at(stamp)
        value = [b"broken"] if number in (3, 5) else numbered(1, number)
        produce(visits.bootstrap, name, value, timestamp=made)
    visits.run()
    zone = timezone(timedelta(hours=-12))
    found, _ = again(visits, hours(4, 6))
    assert visits.ranges()["backfill-1-1"] == {"[0]": (4, 8)}
    assert [str(each) for each in found.plan.beside] == [
        f"{name}[0] [4, 8): 1 record outside the window read again as well, as they lie between"
        " those in it"
    ]
    for asked, ranges in (
        (hours(1, 3), [f"{name}[0] [1, 3)"]),
        (hours(5, 5.5), [f"{name}[0] [5, 6)"]),
        (hours(30, 40), []),
        (time_window(DAY + 20 * HOUR, datetime.max.replace(tzinfo=zone)), []),
    ):
        found, _ = again(visits, asked)
        assert found.plan.beside == ()
        assert [str(each.offsets) for b in found.plan.batches for each in b.ranges] == ranges
    shown = choose_records(visits.open().resources, RecordFilter(), 20).records
    assert [(each.row.offset, each.timestamp) for each in shown] == [(3, None), (5, DAY + 5 * HOUR)]
    verified(visits)
    assert visits.judge().facts.rows == 6


def test_what_kafka_no_longer_holds_stays_and_is_said(trips: Installed) -> None:
    before = contents(trips)
    delete_records(trips.bootstrap, trips.topics[0], 6, 0)
    delete_records(trips.bootstrap, trips.topics[0], 16, 1)
    found, _ = again(trips, hours(0, 2))
    assert [str(each) for each in found.plan.left_out] == [
        f"{trips.topics[0]}[{partition}] [0, {end}): not read again: Kafka no longer holds it; the"
        " rows that are there stay"
        for partition, end in ((0, 6), (1, 7))
    ]
    assert by_batch(trips)["backfill-1-1"] == [(0, 6), (0, 7)]
    nothing, settled = again(trips, hours(0, 1))
    assert (bool(nothing.work), settled.events) == (False, [])
    # What retention takes between plan and ingest stays as well.
    planned = plan(trips, offset_ranges([f"{trips.topics[0]}[0] [8, 12)"]))
    # Whole files of the table are read with them: nobody knows how many rows.
    assert trips.open().span(planned.work) is None
    delete_records(trips.bootstrap, trips.topics[0], 10, 0)
    trips.ingest(planned.work)
    trips.settle()
    assert by_batch(trips)["backfill-1-2"] == [(0, 10), (0, 11)]
    (lost,) = trips.offsets("loss")
    assert (lost["lane"], lost["start_offset"], lost["end_offset"]) == ("backfill", 8, 10)
    assert "the rows that were there stay" in lost["reason"]
    assert contents(trips) == before
    verified(trips)
    trips.judge(from_earliest=False)


def test_only_what_is_below_the_cursor_is_read_again(trips: Installed) -> None:
    produce(trips.bootstrap, trips.topics[0], numbered(4, 100), timestamp=at(3.9))
    found, _ = again(trips, hours(3.5, 4))
    assert [str(each) for each in found.plan.left_out] == [
        f"{trips.topics[0]}[0] [16, 20): not read again: it is above the cursor: the forward lane"
        " brings it"
    ]
    assert len(trips.rows()) == 32
    with pytest.raises(SettingsError, match=r"expected a committed batch .* 'forward-1-9'"):
        plan(trips, whole_batches(["forward-1-9"]))
    with pytest.raises(SettingsError, match=r"found .*\[7\]"):
        plan(trips, offset_ranges([f"{trips.topics[0]}[7] [0, 5)"]))
    trips.run()
    assert trips.judge().facts.rows == 36


def test_a_mended_schema_reads_a_batch_again(topic: Topic, pipeline: Pipelines) -> None:
    shapes = pipeline(
        topic(),
        format={"type": "json", "schema": "id INT"},
        quarantine={"max_ratio": 1.0},
        max_records_per_batch=4,
    )
    values = [b'{"id": 1, "name": "a"}', b'{"id": 5000000000, "name": "b"}', b"broken"]
    produce(shapes.bootstrap, shapes.topics[0], values)
    shapes.run()
    assert (len(shapes.rows()), len(shapes.quarantined())) == (1, 2)
    shapes.write_spec(
        format={"type": "json", "schema": "number BIGINT, name STRING"},
        quarantine={"max_ratio": 0.0},
    )
    again(shapes, whole_batches(["forward-1-1"]))
    assert [(row["name"], row["_batch"]) for row in shapes.rows()] == [
        ("a", "backfill-1-1"),
        ("b", "backfill-1-1"),
    ]
    verified(shapes)
    shapes.judge()


def test_replayed_records_leave_the_quarantine_with_the_commit_that_brings_them(
    topic: Topic, pipeline: Pipelines
) -> None:
    def aside() -> list[int]:
        return [
            row.offset for row in read_quarantined(visits.open().resources).of(RecordState.LIVE)
        ]

    strict = {"type": "json", "schema": "id INT, `when` TIMESTAMP"}
    visits = pipeline(topic(), format=strict, quarantine={"max_ratio": 1.0})
    late = b'{"id": 7, "when": "yesterday"}'
    produce(visits.bootstrap, visits.topics[0], [*numbered(3), late, late, b"broken", late])
    visits.run()
    assert (len(visits.rows()), aside()) == (3, [3, 4, 5, 6])
    visits.write_spec(format={"type": "json", "schema": "id INT"}, quarantine={"max_ratio": 0.0})
    found, _ = again(visits, quarantined_records(RecordFilter(reason_like="when")))
    # The other one has no row to leave as it is.
    assert visits.ranges()["backfill-1-1"] == {"[0]": (3, 5)}
    assert visits.ranges()["backfill-1-2"] == {"[0]": (6, 7)}
    assert (len(visits.rows()), aside(), found.plan.left_out) == (6, [5], ())
    # What is undecodable still stays, and is no reason to stop: that is no news.
    again(visits, quarantined_records(RecordFilter()))
    assert (len(visits.rows()), aside()) == (6, [5])
    verified(visits)
    visits.judge()


def test_plans_of_several_runs_stand_in_line(trips: Installed) -> None:
    """The later one finishes what the earlier one left, and does not read it twice."""
    first = plan(trips, offset_ranges([f"{trips.topics[0]}[0] [0, 8)"]))
    second = plan(trips, offset_ranges([f"{trips.topics[0]}[0] [4, 12)"]))
    assert (first.work.batches, second.work.batches) == (range(1, 2), range(1, 3))
    assert trips.ranges()["backfill-1-2"] == {"[0]": (8, 12)}
    trips.ingest(second.work)
    assert not trips.open().outstanding(first.work)
    trips.ingest(first.work)
    assert [event["batch"] for event in trips.settle().events] == ["backfill-1-1", "backfill-1-2"]
    assert trips.judge().facts.rows == 32


def test_fresh_data_goes_first(trips: Installed) -> None:
    """After each batch the backfill lane looks whether a forward batch waits."""
    trips.write_spec(max_records_per_batch=4)
    slow = plan(trips, hours(0, 2))
    assert len(slow.work.batches) > 2
    produce(trips.bootstrap, trips.topics[0], numbered(4, 100))
    fresh = trips.plan()
    turns = 0
    while left := trips.open().outstanding(slow.work):
        turns += 1
        trips.ingest(left)
        trips.ingest(fresh)
        trips.settle()
    assert turns == 2, "one batch before the forward one, all the others after it"
    versions = {row["batch"]: row["data_version"] for row in trips.offsets("committed")}
    assert versions["backfill-1-1"] < versions["forward-1-3"] < versions["backfill-1-2"]
    assert trips.judge().facts.rows == 36


def test_rows_whose_records_were_compacted_stay(topic: Topic, pipeline: Pipelines) -> None:
    trips = pipeline(topic(**COMPACTED))
    for number in range(20):
        produce(trips.bootstrap, trips.topics[0], numbered(1, number), key=b"%d" % (number % 3))
    trips.run()
    before = contents(trips)
    compact(trips.bootstrap, trips.topics)
    again(trips, offset_ranges([f"{trips.topics[0]}[0] [0, 20)"]))
    assert set(by_batch(trips)) == {"forward-1-1", "backfill-1-1"}
    assert contents(trips) == before
    verified(trips)
    trips.run()
    trips.judge()


@pytest.mark.spark
def test_compacted_rows_stay_where_the_structs_of_a_map_are_declared_anew(
    topic: Topic, pipeline: Pipelines
) -> None:
    """Kept rows and new ones are put together by name, in structs within a map as well."""
    before, now = (
        {"type": "json", "schema": f"n MAP<STRING, STRUCT<{x}>>, o ARRAY<MAP<STRING, STRUCT<{y}>>>"}
        for x, y in (("a: INT", "a: INT, b: INT"), ("a: INT, c: STRING", "b: INT, a: INT"))
    )
    trips = pipeline(topic(**COMPACTED), format=before)
    value = b'{"n": {"k": {"a": 2, "c": "x"}}, "o": [{"k": {"a": 3, "b": 4}}]}'
    for number in range(20):
        produce(trips.bootstrap, trips.topics[0], [value], key=b"%d" % (number % 3))
    trips.run()
    compact(trips.bootstrap, trips.topics)
    trips.write_spec(format=now)
    again(trips, offset_ranges([f"{trips.topics[0]}[0] [0, 20)"]))
    rows = {row["_offset"]: row for row in trips.rows() if row["_offset"] < 20}
    assert {row["_batch"] for row in rows.values()} == {"forward-1-1", "backfill-1-1"}
    assert {dict(row["o"][0])["k"]["a"] for row in rows.values()} == {3}
    found = [dict(rows[each]["n"])["k"] for each in (0, 19)]
    assert found == [{"a": 2, "c": None}, {"a": 2, "c": "x"}]


def test_a_restore_that_undoes_a_backfill_is_noticed_and_made_good(trips: Installed) -> None:
    before = DeltaTable(trips.data).version()
    again(trips, hours(1, 2))
    DeltaTable(trips.data).restore(before)
    with pytest.raises(ResetNeeded, match=r"found backfill-1-1 undone.*--to-table"):
        trips.plan()
    with pytest.raises(ResetNeeded, match=r"found backfill-1-1 undone.*--to-table"):
        trips.open().dry_run(hours(1, 2))
    done = trips.open().reset(to_table, "a test", "run", "pytest")
    assert done.closed_at == {"forward": 2, "backfill": 0}
    assert [(each.before, each.after.offsets.start) for each in done.cursor] == [(16, 16)] * 2
    again(trips, hours(1, 2))
    assert set(by_batch(trips)) == {"forward-1-1", "forward-1-2", "backfill-2-1"}
    trips.run()
    assert trips.judge().facts.rows == 32


def test_a_reset_that_closes_a_backfill_says_so_and_so_does_the_backfill(trips: Installed) -> None:
    found = plan(trips, hours(1, 2))
    preview = trips.open().preview_reset(shift_by(0))
    assert "backfill-1-1: closed without being ingested; request the backfill" in preview.summary
    trips.open().reset(shift_by(0), "a test", "run", "pytest")
    with pytest.raises(
        BackfillClosed, match=r"backfill-1-1: a reset has closed them.*request them again"
    ):
        trips.open().outstanding(found.work)
    again(trips, hours(1, 2))
    assert set(by_batch(trips)) >= {"backfill-2-1"}
    assert trips.judge().facts.rows == 32


def lenient(topic: Topic, pipeline: Pipelines, **config: object) -> Installed:
    """A pipeline of numbers that puts aside whatever else comes, however much."""
    numbers = {"type": "json", "schema": "id INT"}
    return pipeline(topic(**config), format=numbers, quarantine={"max_ratio": 1.0})


def test_a_window_and_a_replay_pass_over_what_was_skipped(
    topic: Topic, pipeline: Pipelines
) -> None:
    visits = lenient(topic, pipeline)
    name = visits.topics[0]
    produce(visits.bootstrap, name, [*numbered(1), b"broken"])
    visits.run()
    produce(visits.bootstrap, name, [*numbered(3, 2), b"broken"])
    skip = {TopicPartition(name, 0): 2}
    visits.open().skip(skip, "a test", "run", "pytest")
    visits.run()
    assert (len(visits.rows()), len(visits.quarantined())) == (3, 2)
    replayed, _ = again(visits, quarantined_records(RecordFilter()))
    assert [each.ranges[0].offsets.start for each in replayed.plan.batches] == [1, 5]
    found, _ = again(visits, EVER)
    (left_out,) = found.plan.left_out
    assert str(left_out.offsets) == f"{name}[0] [2, 3)"
    assert "decided to skip it" in str(left_out)
    assert visits.judge(skipped=frozenset({(0, 2)})).facts.rows == 3


def test_what_becomes_undecodable_is_counted_record_by_record(
    topic: Topic, pipeline: Pipelines
) -> None:
    """As many others become decodable: that makes up for nothing."""
    visits = lenient(topic, pipeline)
    late, large = b'{"id": "x"}', b'{"id": 1, "big": 5000000000}'
    produce(visits.bootstrap, visits.topics[0], [late, late, large, large])
    visits.run()
    assert (len(visits.rows()), len(visits.quarantined())) == (2, 2)
    texts = {"type": "json", "schema": "big INT", "allow_unmatched": True}
    visits.write_spec(format=texts, quarantine={"max_ratio": 0.4, "max_records": 0})
    with pytest.raises(
        TooManyQuarantined, match="2 of 4 records are undecodable, and were not bef"
    ) as refused:
        again(visits, whole_batches(["forward-1-1"]))
    assert "limits, and give the same command again: a run does not try" in str(refused.value)
    assert refused.value.moves[1:] == (Move("reset", ("trips", "--shift-by", "0")),)
    assert {row["_batch"] for row in visits.rows()} == {"forward-1-1"}
    visits.write_spec(quarantine={"max_ratio": 0.5})
    waiting = "to be read again, not committed yet: backfill-1-1. The next backfill lands them."
    assert waiting in visits.sluice("run").stdout
    again(visits, whole_batches(["forward-1-1"]))
    assert {row["_batch"] for row in visits.rows()} == {"backfill-1-1"}
    assert "to be read again" not in visits.sluice("run").stdout
    visits.judge()
