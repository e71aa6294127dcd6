"""Replays: they change the records that they are asked about, and no neighbour of these."""

from __future__ import annotations

import json

import pytest
from deltalake import DeltaTable
from sluice.errors import RowsErased
from sluice.offsets.quarantined import RecordFilter
from sluice.offsets.ranges import TopicPartition
from sluice.operations.backfill.replay import quarantined_records
from sluice.operations.backfill.selection import offset_ranges

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.deciding]

STRICT = {"type": "json", "schema": "id INT, s STRING, `when` TIMESTAMP"}
BAD = (2, 7)


def value(number: int) -> bytes:
    late = {"when": "yesterday"} if number in BAD else {}
    return json.dumps({"id": number, "s": f"text {number}", **late}).encode()


@pytest.fixture
def visits(topic: Topic, pipeline: Pipelines) -> Installed:
    """Ten records in each of three partitions, two of them undecodable, landed in one batch."""
    made = pipeline(topic(partitions=3), format=STRICT, quarantine={"max_ratio": 1.0})
    for partition in range(3):
        produce(made.bootstrap, made.topics[0], [value(n) for n in range(10)], partition=partition)
    made.run()
    return made


def replay(visits: Installed, choice: RecordFilter | None = None) -> None:
    asked = quarantined_records(choice or RecordFilter())
    visits.ingest(visits.open().backfill(asked, "test", "pytest").work)
    visits.settle()


def exact(visits: Installed) -> None:
    done = visits.sluice("verify")
    assert done.returncode == 0, done.stdout + done.stderr


def judged(visits: Installed) -> None:
    """The oracle decodes all by the spec that is there now; the neighbours' text is older."""
    found = [str(each) for each in visits.verdict().violations]
    assert [each for each in found if "expected s as the reference decodes it" not in each] == []


def texts(visits: Installed) -> dict[tuple[int, int], str | None]:
    return {(row["_partition"], row["_offset"]): row["s"] for row in visits.rows()}


BETWEEN = "of these 18 offsets 6 are written; the rows between them stay as they are"


@pytest.mark.parametrize(("max_records", "told"), [(5_000_000, BETWEEN), (4, "")])
def test_neighbours_stay_as_they_were_read(visits: Installed, max_records: int, told: str) -> None:
    """The spec has no column for their text any more: read again, they would lose it."""
    before = texts(visits)
    visits.write_spec(
        format={"type": "json", "schema": "id INT"}, max_records_per_batch=max_records
    )
    shown = visits.sluice("quarantine replay", "--all", "--dry-run")
    assert told in shown.stdout, shown.stdout + shown.stderr
    replay(visits)
    replayed = {(partition, number): None for partition in range(3) for number in BAD}
    assert texts(visits) == before | replayed
    exact(visits)
    judged(visits)


def test_a_range_ends_where_a_neighbour_has_no_row(visits: Installed) -> None:
    """One that others deleted, and one in quarantine that is not asked about."""
    DeltaTable(visits.data).delete("_partition = 0 AND _offset = 4")
    visits.write_spec(format={"type": "json", "schema": "id INT"})
    chosen = RecordFilter(
        positions=[(TopicPartition(visits.topics[0], at), n) for at, n in ((0, 2), (0, 7), (1, 7))]
    )
    replay(visits, chosen)
    ranges = [visits.ranges()[name] for name in ("backfill-1-1", "backfill-1-2")]
    assert ranges == [{"[0]": (2, 3), "[1]": (7, 8)}, {"[0]": (7, 8)}]
    assert len(visits.rows()) == 3 * 8 + 3 - 1
    exact(visits)


def test_what_others_changed_between_stays_theirs_also_afterwards(visits: Installed) -> None:
    DeltaTable(visits.data).update(updates={"s": "'masked'"}, predicate="_offset = 4")
    visits.write_spec(format={"type": "json", "schema": "id INT"})
    replay(visits)
    assert {texts(visits)[partition, 4] for partition in range(3)} == {"masked"}
    again = offset_ranges([f"{visits.topics[0]}[{partition}] [3, 6)" for partition in range(3)])
    with pytest.raises(RowsErased, match=r"\[4, 5\): 1 row that others changed"):
        visits.open().backfill(again, "test", "pytest")


@pytest.mark.spark
@pytest.mark.seam
def test_spark_writes_the_chosen_records_only(visits: Installed) -> None:
    before = texts(visits)
    visits.write_spec(format={"type": "json", "schema": "id INT"})
    done = visits.process("quarantine replay", "--all")
    assert done.returncode == 0, done.stderr
    replayed = {(partition, number): None for partition in range(3) for number in BAD}
    assert texts(visits) == before | replayed
    exact(visits)
    judged(visits)
