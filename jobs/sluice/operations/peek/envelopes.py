"""Envelopes: what wraps the fields of a record, known by the members that it has. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice.schemas.inference import Object

_ONE_CHANGE = "Each row is one change, not the row of the source as it is now"


@dataclass(frozen=True)
class Envelope:
    """What writes such records, how each is known, and what can be done with them."""

    name: str
    fits: Callable[[Object], bool]
    advice: str

    def __str__(self) -> str:
        return f"These look like {self.name}. {self.advice}."


def envelope_of(objects: Sequence[Object]) -> Envelope | None:
    """The first of the known ones that all of the objects have."""
    return next((each for each in _KNOWN if objects and all(map(each.fits, objects))), None)


def _has(*names: str) -> Callable[[Object], bool]:
    return lambda found: set(names) <= found.keys()


def _is_connects(found: Object) -> bool:
    return found.keys() == {"schema", "payload"}


def _is_debeziums(found: Object) -> bool:
    states, marks = {"before", "after"}, {"source", "ts_ms"}
    return "op" in found and all(each & found.keys() for each in (states, marks))


def _is_flattened(found: Object) -> bool:
    return bool({"__op", "__deleted"} & found.keys())


def _is_of_dms(found: Object) -> bool:
    metadata = found.get("metadata")
    return isinstance(metadata, dict) and "record-type" in metadata


_KNOWN = (
    Envelope(
        "Connect's JSON, which has its schema in each record",
        _is_connects,
        "exclude: [schema] leaves that out, and value.converter.schemas.enable=false at the"
        " connector writes none. derived takes fields out of payload",
    ),
    Envelope(
        "change events of Debezium",
        _is_debeziums,
        f"{_ONE_CHANGE}: derived takes fields out of before and after",
    ),
    Envelope(
        "flattened change events of Debezium",
        _is_flattened,
        f"{_ONE_CHANGE}: __op and __deleted say what became of it",
    ),
    Envelope(
        "CloudEvents",
        _has("specversion", "id", "source", "type"),
        "derived takes fields out of data; what data holds may differ by type",
    ),
    Envelope(
        "change events of Canal",
        _has("isDdl", "data", "type"),
        f"{_ONE_CHANGE}: data has the rows as they became, old what they were",
    ),
    Envelope(
        "change events of Maxwell",
        _has("database", "table", "type", "data"),
        f"{_ONE_CHANGE}: derived takes fields out of data",
    ),
    Envelope(
        "change events of AWS DMS",
        _is_of_dms,
        f"{_ONE_CHANGE}: metadata says which, and derived takes fields out of data",
    ),
    Envelope(
        "change events of MongoDB",
        _has("operationType", "ns", "documentKey"),
        f"{_ONE_CHANGE}: derived takes fields out of fullDocument",
    ),
)
