"""Change data on Spark: Debezium's events, plain and unwrapped, make the state that they tell."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from sluice.errors import StateStopped
from sluice.operations.backfill.selection import whole_batches

from tests.worlds.pipelines import Installed, Pipelines, Topic
from tests.worlds.records import produce

pytestmark = [pytest.mark.integration, pytest.mark.spark]
LSN = {"lsn": "try_cast(get_json_object(_source, '$.lsn') AS BIGINT)"}
BY_LSN: dict[str, Any] = {"derived": LSN, "state": {"order_by": ["lsn"]}}


@pytest.fixture
def trips(topic: Topic, pipeline: Pipelines) -> Installed:
    """The spec of the documentation: nothing is said of the state but that there is one."""
    trips = pipeline(
        topic(2),
        format={"type": "json", "envelope": "debezium", "schema": "id BIGINT, v STRING"},
        key_format={"type": "json", "schema": "id BIGINT"},
        state={},
    )
    trips.write_spec()
    return trips


def change(op: str, key: int | None, v: str | None = None, lsn: int = 0) -> bytes:
    row = None if key is None else {"id": key, "v": v}
    sides = {"before": row, "after": None} if op == "d" else {"before": None, "after": row}
    source = {"ts_ms": 1_700_000_000_000 + lsn, "lsn": lsn}
    return json.dumps({**sides, "source": source, "op": op}).encode()


def send(trips: Installed, key: int | None, *values: bytes | None, partition: int = 0) -> None:
    named = None if key is None else json.dumps({"id": key}).encode()
    produce(trips.bootstrap, trips.topics[0], list(values), partition, key=named)


def landed(trips: Installed, judged: bool = True, **said: Any) -> list[str]:
    """The kinds of the commits that the state table has got of what was sent."""
    trips.run()
    before = told(trips)
    trips.open().refresh()
    if judged:
        trips.judge_state(**said)
    return told(trips)[len(before) :]


def told(trips: Installed) -> list[str]:
    log = sorted((trips.warehouse / "trips__state" / "_delta_log").glob("*.json"))
    infos = (json.loads(line) for each in log for line in each.read_text().splitlines())
    said = (each["commitInfo"].get("userMetadata") for each in infos if "commitInfo" in each)
    return [json.loads(each)["kind"] for each in said if each]


def state(trips: Installed) -> dict[int, tuple[Any, bool]]:
    rows = trips.rows("trips__state")
    return {row["_key_id"]: (row["v"], row["_deleted"]) for row in rows}


def test_each_way_of_a_delete_deletes_and_a_changed_key_is_two_keys(trips: Installed) -> None:
    for key in (1, 2, 3, 4):
        send(trips, key, change("c", key, "a"))
    send(trips, 1, change("d", 1))
    send(trips, 2, None)
    send(trips, 3, change("d", 3), None)
    assert landed(trips) == ["everything"]
    assert {key: deleted for key, (_, deleted) in state(trips).items()} == {
        **dict.fromkeys((1, 2, 3), True),
        4: False,
    }
    # A changed primary key: the delete and its tombstone under the old key, a new row elsewhere.
    send(trips, 4, change("d", 4), None)
    send(trips, 5, change("c", 5, "a"), partition=1)
    send(trips, 1, change("c", 1, "again"))
    assert landed(trips) == ["appended"]
    found = state(trips)
    assert (found[1], found[4][1], found[5]) == (("again", False), True, ("a", False))


def test_a_placeholder_is_a_value_unless_the_spec_names_it(trips: Installed) -> None:
    unavailable = "__debezium_unavailable_value"
    send(trips, 1, change("c", 1, "long"), change("u", 1, unavailable))
    landed(trips)
    assert state(trips) == {1: (unavailable, False)}


def test_a_placeholder_of_each_type_keeps_the_older_value(trips: Installed) -> None:
    """As Debezium's connector for PostgreSQL writes what was not logged."""
    told = "__débezium"
    types = {
        "names": "ARRAY<STRING>",
        "ids": "ARRAY<STRING>",
        "small": "ARRAY<INT>",
        "great": "ARRAY<BIGINT>",
        "exact": "ARRAY<DECIMAL(20, 2)>",
        "pairs": "MAP<STRING, STRING>",
        "pairs_as_json": "STRING",
    }
    data = [each - 256 if each > 127 else each for each in told.encode()]
    unavailable = {
        "names": [told],
        "ids": ["eedffb70-ef85-3428-b126-08ba1fdcf811"],
        **dict.fromkeys(("small", "great", "exact"), data),
        "pairs": {told: told},
        "pairs_as_json": f'{{"{told}":"{told}"}}',
    }
    first = {
        "names": ["a", told],
        "ids": [],
        "small": [95],
        "great": [2**40],
        "exact": [1.25],
        "pairs": {"a": "b", told: told},
        "pairs_as_json": "{}",
    }
    schema = ", ".join(["id BIGINT", *(f"{name} {type_}" for name, type_ in types.items())])
    trips.write_spec(
        format={"type": "json", "envelope": "debezium", "schema": schema},
        state={"unavailable": told},
    )
    for number, values in enumerate((first, unavailable)):
        event = {"before": None, "after": {"id": 1, **values}, "source": {}, "op": "cu"[number]}
        send(trips, 1, json.dumps(event).encode())
        landed(trips)
    (row,) = trips.rows("trips__state")
    exact = {**first, "exact": [Decimal("1.25")]}
    assert {name: row[name] for name in types} == exact


def test_the_placeholder_of_the_spec_keeps_the_older_value(trips: Installed) -> None:
    unavailable = "__debezium_unavailable_value"
    trips.write_spec(state={"unavailable": unavailable})
    send(trips, 1, change("c", 1, "long"))
    landed(trips)
    send(trips, 1, change("u", 1, unavailable))
    landed(trips)
    assert state(trips) == {1: ("long", False)}


def test_a_truncation_deletes_what_is_below_it_also_what_comes_late(trips: Installed) -> None:
    trips.write_spec(**BY_LSN)
    send(trips, 1, change("c", 1, "a", 10))
    send(trips, 2, change("c", 2, "b", 11), partition=1)
    landed(trips)
    send(trips, None, change("t", None, lsn=20))
    assert landed(trips) == ["everything"]
    assert state(trips) == {1: ("a", True), 2: ("b", True)}
    send(trips, 1, change("u", 1, "late", 19))
    send(trips, 3, change("c", 3, "late", 15), change("m", None, lsn=30), partition=1)
    send(trips, 2, change("c", 2, "new", 21), partition=1)
    assert landed(trips) == ["appended"]
    assert state(trips) == {1: ("late", True), 2: ("new", False), 3: ("late", True)}


def test_truncations_that_are_read_again_or_removed_are_followed(trips: Installed) -> None:
    trips.write_spec(**BY_LSN)
    send(trips, 1, change("c", 1, "a", 10))
    send(trips, None, change("t", None, lsn=20), change("t", None, lsn=5))
    landed(trips)
    planned = trips.open().backfill(whole_batches(["forward-1-1"]), "test", "pytest")
    trips.ingest(planned.work)
    trips.settle()
    assert landed(trips) == ["rewritten"]
    assert state(trips) == {1: ("a", True)}
    trips.session().sql(f"DELETE FROM delta.`{trips.data}` WHERE lsn = 20").collect()
    assert landed(trips) == ["everything"]
    assert state(trips) == {1: ("a", False)}


@pytest.mark.parametrize("is_first", [True, False])
def test_a_truncation_without_an_order_stops_the_state(trips: Installed, is_first: bool) -> None:
    """Until its row is deleted in the data table, as docs/state.md says."""
    events = [(None, change("t", None)), (1, change("c", 1, "a"))]
    first, second = events if is_first else reversed(events)
    send(trips, *first)
    landed(trips)
    send(trips, *second)
    trips.run()
    place = rf"{trips.topics[0]}\[0\]@{0 if is_first else 1} "
    for _ in range(2):
        with pytest.raises(StateStopped, match=rf"{place}.*order_by: \[_source_time\]"):
            trips.open().refresh()
    assert sorted(row["_op"] for row in trips.rows()) == ["c", "t"], "the log goes on"
    trips.session().sql(f"DELETE FROM delta.`{trips.data}` WHERE _op = 't'").collect()
    assert landed(trips) == ["everything"]
    assert state(trips) == {1: ("a", False)}
    send(trips, 1, change("u", 1, "b"))
    assert landed(trips) == ["appended"]


def test_a_message_is_no_row_of_any_key(trips: Installed) -> None:
    send(trips, 1, change("c", 1, "a"), change("m", None))
    send(trips, None, change("m", None))
    landed(trips)
    assert state(trips) == {1: ("a", False)}


def unwrapped(key: int, deleted: bool = False) -> bytes:
    row = {"id": key, "v": None if deleted else "a"}
    return json.dumps({**row, "__deleted": str(deleted).lower()}).encode()


# What ExtractNewRecordState leaves of a delete, by `delete.tombstone.handling.mode`.
HANDLINGS: dict[str, tuple[bytes | None, ...]] = {
    "drop": (),
    "tombstone": (None,),
    "rewrite": (unwrapped(3, True),),
    "rewrite-with-tombstone": (unwrapped(4, True), None),
    "delete-to-tombstone": (b'{"schema": null, "payload": null}',),
}


def test_unwrapped_events_delete_as_far_as_their_mode_leaves_a_delete(trips: Installed) -> None:
    trips.write_spec(
        format={
            "type": "json",
            "envelope": "connect",
            "schema": "id BIGINT, v STRING, __deleted STRING",
        },
        state={"key": ["_key_id"], "deleted_when": "__deleted = 'true'"},
    )
    for key, left in enumerate(HANDLINGS.values(), 1):
        send(trips, key, unwrapped(key), *left)
    landed(trips, deletes=lambda row: row["__deleted"] == "true")
    found = dict(zip(HANDLINGS, (state(trips)[key][1] for key in range(1, 6)), strict=True))
    assert found == {**dict.fromkeys(HANDLINGS, True), "drop": False}
