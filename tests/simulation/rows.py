"""Rows of the tables as places and contents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.simulation.books import Content, Key

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Columns that only histories with a state table have.
_KEYED = ("seq", "name")


def key_of(row: Mapping[str, Any]) -> Key:
    """A row's place."""
    return Key(row["_topic_id"], row["_partition"], row["_offset"])


def content_of_row(row: Mapping[str, Any]) -> Content:
    """What a row says of its record; the value is what its columns show of it."""
    moment: datetime = row["_timestamp"]
    stamp = (moment.replace(tzinfo=moment.tzinfo or UTC) - _EPOCH) // timedelta(milliseconds=1)
    headers = tuple((each["key"], each["value"]) for each in row["_headers"] or ())
    return Content(stamp, row["_key"], _value(row), headers)


def _value(row: Mapping[str, Any]) -> bytes | None:
    if "value" in row:
        found: bytes | None = row["value"]
        return found
    if row["_tombstone"]:
        return None
    kept = [row[each] for each in _KEYED if each in row]
    return json.dumps([row.get("id"), row.get("extra"), *kept]).encode()


def is_like(row: Mapping[str, Any], record: Content, dropped: bool) -> bool:
    """Whether a row is the record's. `dropped` says that `extra` may not have been declared."""
    found = content_of_row(row)
    if found._replace(value=None) != record._replace(value=None):
        return False
    if row["_tombstone"] != (record.value is None):
        return False
    if "value" in row or record.value is None:
        return found.value == record.value
    try:
        sent = json.loads(record.value)
    except ValueError:
        return False
    if any(row[each] != sent.get(each) for each in _KEYED if each in row):
        return False
    extra = row.get("extra")
    return row.get("id") == sent["id"] and (extra == sent["extra"] or (dropped and extra is None))
