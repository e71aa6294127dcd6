"""What wraps a record's fields is known by its members, where all samples have them."""

from __future__ import annotations

from typing import Any

import pytest
from sluice.operations.peek.envelopes import envelope_of

from tests.unit.sources import ROOT

DEBEZIUM = {"before": None, "after": {"id": 1}, "op": "c", "ts_ms": 1, "source": {}}


KNOWN: list[tuple[dict[str, Any], str]] = [
    (DEBEZIUM, "change events of Debezium"),
    ({"after": {"id": 1}, "op": "r", "ts_ms": 1}, "change events of Debezium"),
    ({"schema": {}, "payload": DEBEZIUM}, "change events of Debezium"),
    ({"schema": {}, "payload": {"id": 1}}, "Connect's JSON, which has its schema in"),
    ({"id": 1, "__op": "c"}, "flattened change events of Debezium"),
    ({"id": 1, "__deleted": "true"}, "flattened change events of Debezium"),
    ({"specversion": "1.0", "id": "1", "source": "/", "type": "a"}, "CloudEvents"),
    ({"database": "d", "table": "t", "type": "insert", "data": {}}, "change events of Maxwell"),
    (
        {"data": [], "isDdl": False, "type": "INSERT", "database": "d", "table": "t"},
        "change events of Canal",
    ),
    ({"data": {}, "metadata": {"record-type": "data"}}, "change events of AWS DMS"),
    (
        {"_id": {}, "operationType": "insert", "ns": {}, "documentKey": {}},
        "change events of MongoDB",
    ),
    ({"resourceSpans": []}, "batches of OpenTelemetry"),
    ({"resourceLogs": []}, "batches of OpenTelemetry"),
    ({"resourceMetrics": []}, "batches of OpenTelemetry"),
    ({"type": "track", "messageId": "m", "userId": "u"}, "calls of a tracker, such as Segment"),
    ({"type": "page", "messageId": "m", "anonymousId": "a"}, "calls of a tracker"),
]


@pytest.mark.parametrize(("record", "name"), KNOWN)
def test_the_members_name_the_envelope(record: dict[str, Any], name: str) -> None:
    found = envelope_of([record, record])
    assert str(found).startswith(f"These look like {name}")
    assert envelope_of([record, {"id": 1}]) is None


def test_a_page_with_a_spec_is_named_and_is_there() -> None:
    changes = envelope_of([{"data": {}, "metadata": {"record-type": "data"}}])
    assert str(changes).endswith(" docs/sources/dms.md has a spec for them.")
    pages = {found.page for each, _ in KNOWN if (found := envelope_of([each])) and found.page}
    there = {each.name for each in (ROOT / "docs" / "sources").glob("*.md")}
    assert pages == there - {"README.md"}


def test_other_records_have_none() -> None:
    assert envelope_of([{"id": 1, "type": "a", "data": {}}]) is None
    assert envelope_of([{"type": "a", "messageId": "m"}]) is None
    assert envelope_of([{"metadata": "x", "op": "c", "after": {}}]) is None
    assert envelope_of([]) is None
