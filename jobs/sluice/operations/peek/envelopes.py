"""Envelopes: what wraps the fields of a record, known by the members that it has. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice.operations.peek.change_events import is_event, is_wrapped, payload_of
from sluice.schemas.inference import Object

_ONE_CHANGE = "Each row is one change, not the row of the source as it is now"


@dataclass(frozen=True)
class Envelope:
    """What writes such records, how each is known, and what can be done with them.

    `page` is the one of docs/sources that has a spec for them.
    """

    name: str
    fits: Callable[[Object], bool]
    advice: str
    page: str = ""

    def __str__(self) -> str:
        example = f" docs/sources/{self.page} has a spec for them." if self.page else ""
        return f"These look like {self.name}. {self.advice}.{example}"


def envelope_of(objects: Sequence[Object]) -> Envelope | None:
    """The first of the known ones that all of the objects have."""
    payloads = [payload_of(each) for each in objects]
    known = next((each for each in _OF_DEBEZIUM if objects and all(map(each.fits, payloads))), None)
    return known or next(
        (each for each in _KNOWN if objects and all(map(each.fits, objects))), None
    )


def _has(*names: str) -> Callable[[Object], bool]:
    return lambda found: set(names) <= found.keys()


def _is_flattened(found: Object) -> bool:
    return bool({"__op", "__deleted"} & found.keys())


def _is_schema_change(found: Object) -> bool:
    return "tableChanges" in found or {"ddl", "databaseName"} <= found.keys()


def _is_of_dms(found: Object) -> bool:
    metadata = found.get("metadata")
    return isinstance(metadata, dict) and "record-type" in metadata


def _is_of_otlp(found: Object) -> bool:
    return bool({"resourceSpans", "resourceLogs", "resourceMetrics"} & found.keys())


def _is_of_a_tracker(found: Object) -> bool:
    return {"type", "messageId"} <= found.keys() and bool({"userId", "anonymousId"} & found.keys())


_NO_ROWS = "They are rows of no table: leave this topic out"
UNWRAPPED = Envelope(
    "flattened change events of Debezium",
    _is_flattened,
    f"{_ONE_CHANGE}: __op and __deleted say what became of it",
    "debezium.md",
)
_OF_DEBEZIUM = (
    Envelope(
        "change events of Debezium",
        is_event,
        f"{_ONE_CHANGE}: envelope: debezium gives the row's columns, and _op, _source and"
        " _source_time beside them",
        "debezium.md",
    ),
    UNWRAPPED,
    Envelope("heartbeats of Debezium", lambda found: found.keys() == {"ts_ms"}, _NO_ROWS),
    Envelope("transaction markers of Debezium", _has("status", "id", "event_count"), _NO_ROWS),
    Envelope("schema changes of Debezium", _is_schema_change, _NO_ROWS),
)
_KNOWN = (
    Envelope(
        "Connect's JSON, which has its schema in each record",
        is_wrapped,
        "envelope: connect takes the row out of payload, and reads its types as schema names them",
        "connect.md",
    ),
    Envelope(
        "CloudEvents",
        _has("specversion", "id", "source", "type"),
        "derived takes fields out of data; what data holds may differ by type",
        "cloudevents.md",
    ),
    Envelope(
        "change events of Canal",
        _has("isDdl", "data", "type"),
        f"{_ONE_CHANGE}: data has the rows as they became, old what they were",
        "maxwell-canal.md",
    ),
    Envelope(
        "change events of Maxwell",
        _has("database", "table", "type", "data"),
        f"{_ONE_CHANGE}: columns takes fields out of data",
        "maxwell-canal.md",
    ),
    Envelope(
        "change events of AWS DMS",
        _is_of_dms,
        f"{_ONE_CHANGE}: metadata says which, and columns takes fields out of data",
        "dms.md",
    ),
    Envelope(
        "change events of MongoDB",
        _has("operationType", "ns", "documentKey"),
        f"{_ONE_CHANGE}: columns takes fields out of fullDocument",
        "mongodb.md",
    ),
    Envelope(
        "batches of OpenTelemetry",
        _is_of_otlp,
        "Each row has the arrays of many spans, log records or metrics, which a view takes apart",
        "otlp.md",
    ),
    Envelope(
        "calls of a tracker, such as Segment",
        _is_of_a_tracker,
        "properties and traits have other fields in each: hold them as text",
        "segment.md",
    ),
)
