"""Content: whatever a record holds arrives as it is declared, or is put aside; never a guess."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from deltalake import DeltaTable
from sluice.errors import SpecError, TooManyQuarantined
from sluice.lake import batch_commit, spark_lake
from sluice.operations.backfill.selection import offset_ranges

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import end, numbered, produce, send, transactional

pytestmark = [pytest.mark.integration, pytest.mark.spark]


NUMBERS = {"type": "json", "schema": "id BIGINT"}
SCALARS = {
    "type": "json",
    "schema": "t TINYINT, s SMALLINT, i INT, l BIGINT, d DECIMAL(5,2), f FLOAT, x DOUBLE,"
    " a STRING, b BOOLEAN, at TIMESTAMP, day DATE, raw BINARY",
}
BROKEN = b'{"id": 1'
FITTING = [
    b'{"t": -128, "s": -32768, "i": -2147483648, "l": -9223372036854775808}',
    b'{"t": 127, "s": 32767, "i": 2147483647, "l": 9223372036854775807}',
    b'{"d": 999.99, "f": 3.4028235e38, "x": 1.7976931348623157e308}',
    b'{"d": -999.99, "f": -3.4028235e38, "x": 4.9e-324}',
    b'{"a": "\\u0000 and \\ud83d\\ude00", "raw": "AP8="}',
    b'{"a": "first", "a": "last", "i": "no number", "i": 7}',
    b'{"a": {"x": [1.10, null]}, "b": true, "at": "9999-12-31T23:59:59.9999999Z"}',
    b'{"at": "0001-01-01T00:00:00Z", "day": "9999-12-31"}',
    b'{"a": null}',
    None,
]
MISFITS = [
    *(b'{"t": 128}', b'{"t": -129}', b'{"s": 32768}', b'{"s": -32769}'),
    *(b'{"i": 2147483648}', b'{"i": -2147483649}'),
    *(
        b'{"l": 9223372036854775808}',
        b'{"l": -9223372036854775809}',
        b'{"l": 18446744073709551616}',
    ),
    *(b'{"d": 1000}', b'{"d": 0.001}', b'{"d": 1e9}'),
    *(b'{"f": 3.5e38}', b'{"f": -1e39}', b'{"x": 1e309}', b'{"x": -1e400}'),
    *(b'{"x": NaN}', b'{"x": Infinity}', b'{"x": -Infinity}', b'{"x": "NaN"}', b'{"q": NaN}'),
    *(b'{"a": "\xff"}', b'{"a": "\xed\xa0\x80"}', b'{"a": "\\ud800"}', b'{"q": "\xc0\x80"}'),
    *(b'{"a": "\x00"}', b"{}\x00", b"\x00", b'{"a": 1}\x00\x00', b'{"a\x00": 1}'),
    *(b'{"i": 7, "i": "no number"}', b'{"a": "last", "a": "\xff"}'),
    *(b'{"at": "10000-01-01T00:00:00Z"}', b'{"day": "2013-02-29"}', b'{"raw": "AP8"}'),
]


def of(trips: Installed, offset: int) -> dict[str, object]:
    (row,) = (row for row in trips.rows() if row["_offset"] == offset)
    return {name: value for name, value in row.items() if name[0] != "_" and value is not None}


def aside(trips: Installed) -> list[int]:
    return sorted(row["_offset"] for row in trips.quarantined())


def test_values_at_the_edge_of_their_types_arrive_and_those_beyond_are_put_aside(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=SCALARS, quarantine={"max_ratio": 1.0})
    produce(trips.bootstrap, trips.topics[0], FITTING)
    trips.run()
    assert (len(trips.rows()), trips.quarantined()) == (len(FITTING), [])
    assert of(trips, 1) == {"t": 127, "s": 32767, "i": 2147483647, "l": 9223372036854775807}
    assert of(trips, 2)["d"] == Decimal("999.99")
    assert of(trips, 4) == {"a": "\0 and \U0001f600", "raw": b"\x00\xff"}
    assert of(trips, 5) == {"a": "last", "i": 7}
    mixed = [value for pair in zip(MISFITS, FITTING * 4, strict=False) for value in pair]
    produce(trips.bootstrap, trips.topics[0], mixed)
    trips.run()
    first = len(FITTING)
    assert aside(trips) == list(range(first, first + 2 * len(MISFITS), 2))
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (first + len(MISFITS), len(MISFITS))


def test_a_thousand_levels_arrive_and_one_more_is_put_aside(
    topic: Topic, pipeline: Pipelines
) -> None:
    form = {"type": "json", "schema": "id INT, deep STRING"}
    trips = pipeline(topic(), format=form, quarantine={"max_ratio": 1.0})

    def arrays(levels: int) -> str:
        return "[" * (levels - 1) + "]" * (levels - 1)

    def objects(levels: int) -> str:
        return '{"k":' * (levels - 2) + "{}" + "}" * (levels - 2)

    values = [
        f'{{"id": {levels}, "{name}": {deep(levels)}}}'.encode()
        for name in ("deep", "undeclared")
        for deep in (arrays, objects)
        for levels in (999, 1000, 1001, 5000)
    ]
    produce(trips.bootstrap, trips.topics[0], values)
    trips.run()
    assert sorted(row["id"] for row in trips.rows()) == [999] * 4 + [1000] * 4
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (8, 8)


def test_one_percent_is_within_the_usual_budget_and_a_record_more_is_not(
    topic: Topic, pipeline: Pipelines
) -> None:
    """The first and the last record of every range are among them."""
    trips = pipeline(topic(2), format=NUMBERS, quarantine={"max_records": 0})
    name = trips.topics[0]
    for partition in (0, 1):
        values = [BROKEN, *numbered(249), *[BROKEN] * 3, *numbered(246), BROKEN]
        produce(trips.bootstrap, name, values, partition)
    trips.run()
    assert aside(trips) == [0, 0, *(250, 250, 251, 251, 252, 252), 499, 499]
    produce(trips.bootstrap, name, [BROKEN, *numbered(97), BROKEN])
    work = trips.plan()
    with pytest.raises(TooManyQuarantined, match="2 of 99 records"):
        trips.ingest(work)
    facts = trips.judge(caught_up=False).facts
    assert (facts.rows, facts.quarantined, facts.committed) == (990, 10, 1)
    trips.write_spec(quarantine={"max_ratio": 0.03, "max_records": 0})
    trips.run()
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (990 + 97, 12)


@pytest.mark.parametrize("layout", [{}, {"partition_by": ["id"]}, {"cluster_by": ["id"]}], ids=str)
def test_a_wrong_schema_fails_as_a_whole_and_goes_on_when_it_is_mended(
    topic: Topic, pipeline: Pipelines, layout: dict[str, list[str]]
) -> None:
    trips = pipeline(topic(), format=NUMBERS, **layout)
    produce(trips.bootstrap, trips.topics[0], [b'{"id": "A%d"}' % n for n in range(20)])
    work = trips.plan()
    with pytest.raises(TooManyQuarantined, match="20 of 20 records are undecodable"):
        trips.ingest(work)
    assert (trips.rows(), trips.offsets("committed")) == ([], [])
    trips.judge(caught_up=False)
    trips.write_spec(format={"type": "json", "schema": "id STRING"})
    trips.run()
    assert {row["id"] for row in trips.rows()} == {f"A{n}" for n in range(20)}
    metadata = DeltaTable(trips.data).metadata()
    assert metadata.partition_columns == layout.get("partition_by", [])
    assert metadata.configuration["sluice.pipeline"] == trips.name
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (20, 0)


def test_two_batches_that_give_an_empty_table_its_columns_do_not_remove_each_others_rows(
    topic: Topic, pipeline: Pipelines, monkeypatch: pytest.MonkeyPatch
) -> None:
    trips = pipeline(topic(), format=NUMBERS, quarantine={"max_ratio": 1.0})
    values = [b'{"id": "A%d"}' % n for n in range(20)]
    produce(trips.bootstrap, trips.topics[0], values[:10])
    trips.run()
    assert (trips.rows(), len(aside(trips))) == ([], 10)
    produce(trips.bootstrap, trips.topics[0], values[10:])
    trips.write_spec(format={"type": "json", "schema": "id STRING"})
    fresh = trips.plan()
    again = trips.open().backfill(offset_ranges([f"{trips.topics[0]}[0] [0, 10)"]), "test", "test")
    look = batch_commit.require_no_rows

    def another_lands_after_the_look(*given: Any) -> None:
        look(*given)
        monkeypatch.undo()
        trips.ingest(again.work)

    monkeypatch.setattr(spark_lake, "require_no_rows", another_lands_after_the_look)
    trips.ingest(fresh)
    trips.settle()
    assert {row["id"] for row in trips.rows()} == {f"A{n}" for n in range(20)}
    assert trips.judge().facts.rows == 20


def test_a_type_that_changes_under_stored_rows_is_refused(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=NUMBERS)
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    trips.run()
    trips.write_spec(format={"type": "json", "schema": "id STRING"})
    produce(trips.bootstrap, trips.topics[0], numbered(3))
    with pytest.raises(SpecError, match=r"schema: id: expected BIGINT as in .*, found STRING"):
        trips.run()
    trips.write_spec(format=NUMBERS)
    trips.run()
    assert trips.judge().facts.rows == 6


def test_a_range_of_aborted_and_malformed_records_lands_without_rows(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(), format=NUMBERS, quarantine={"max_ratio": 1.0})
    name, producer = trips.topics[0], transactional(trips.bootstrap)
    send(producer, name, [*numbered(2), BROKEN])
    produce(trips.bootstrap, name, [BROKEN])
    end(trips.bootstrap, name, producer, commit=False)
    trips.run()
    (receipt,) = trips.offsets("committed")
    counted = [receipt[each] for each in ("records", "quarantined", "gap_aborted", "gap_control")]
    assert (trips.rows(), aside(trips), counted) == ([], [3], [0, 1, 3, 1])
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined, facts.committed) == (0, 1, 1)


def test_what_is_put_aside_keeps_its_key_headers_and_time(
    topic: Topic, pipeline: Pipelines
) -> None:
    trips = pipeline(topic(retention_ms=-1), format=NUMBERS, quarantine={"max_ratio": 1.0})
    headers, then = [("h", b"1"), ("h", None), ("h", b"\xff"), ("", b"")], 1_356_998_400_123
    for value in (BROKEN, b'{"id": 2}', None):
        for key in (None, b"", b"\x00\xff"):
            for given in (None, headers):
                record: dict[str, Any] = {"key": key, "headers": given, "timestamp": then}
                produce(trips.bootstrap, trips.topics[0], [value], **record)
    trips.run()
    assert sum(row["_headers"] is None for row in trips.quarantined()) == 3
    assert sum(row["_tombstone"] for row in trips.rows()) == 6
    facts = trips.judge().facts
    assert (facts.rows, facts.quarantined) == (12, 6)
