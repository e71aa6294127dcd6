"""Samples: the values of a topic's records, as JSON objects, and why others are not. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sluice.offsets.quarantined import error_pattern
from sluice.operations.peek.change_events import (
    STRANGER,
    Enveloped,
    events_of,
    is_event,
    is_wrapped,
    payload_of,
    rows_of,
)
from sluice.operations.peek.framed import Framed, Headers, framed
from sluice.operations.peek.packing import Unpacked
from sluice.operations.peek.places import placed
from sluice.operations.peek.whole_values import WholeValues, whole_values
from sluice.schemas.inference import Inferred, Object, infer_columns, parse_object


@dataclass(frozen=True)
class Samples:
    """Values by where their records are; tombstones, which have none, are left out.

    `broken` says of some why nothing can be seen in them; `headers` are those of the records.
    """

    by_place: Mapping[str, bytes | None]
    broken: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, Headers] = field(default_factory=dict)
    at: str = ""
    """Where they were within the records' own values; empty where they are these."""

    @classmethod
    def of(cls, opened: Unpacked, headers: Mapping[str, Headers]) -> Samples:
        """The records of these values: also those that they hold as JSON text."""
        found = placed(opened.values)
        return cls(found.values, {**opened.broken, **found.broken}, headers, found.at)

    @cached_property
    def values(self) -> Mapping[str, bytes]:
        """Those of the records that have one."""
        return {where: each for where, each in self.by_place.items() if each is not None}

    @property
    def frames(self) -> list[Framed]:
        """Those that seem to name a schema of a registry."""
        headers = self.headers
        found = (framed(v, headers.get(at, ()), "value") for at, v in self.values.items())
        return [each for each in found if each]

    @property
    def objects(self) -> list[Object]:
        """The values that are one JSON object."""
        return list(self._parsed[0].values())

    @cached_property
    def problems(self) -> Mapping[str, str]:
        """Why values would be quarantined, by where they are."""
        if self.whole:
            return self.whole.problems
        if self.enveloped and self.enveloped.envelope == "debezium":
            strangers = {w: STRANGER for w, each in self._parsed[0].items() if not is_event(each)}
            return self._parsed[1] | strangers | dict.fromkeys(self._nulls, STRANGER)
        names = {each.name for each in self.inferred.columns} if self.inferred else set()
        unmatched = {
            where: "expected one of the declared fields, found none of them"
            for where, each in self._parsed[0].items()
            if names.isdisjoint(row := self._row(each))
            and not self._is_null(each)
            and not (self._rescued and row)
        }
        return self._parsed[1] | (unmatched if names else {})

    @cached_property
    def inferred(self) -> Inferred | None:
        """The columns of the objects, where most values are some, and a column can be made."""
        objects, others = self._parsed
        if len(others) > len(objects):
            return None
        found = self.enveloped.inferred if self.enveloped else infer_columns(self.objects)
        return found if found.columns else None

    @cached_property
    def whole(self) -> WholeValues | None:
        """What takes each value as a whole, where none has fields for columns, and most are JSON.

        Within another value there is none.
        """
        if self.inferred or self.at:
            return None
        return whole_values(self.values, self.broken)

    @property
    def columns(self) -> Inferred | None:
        """What the proposal declares; None where it is raw."""
        return self.inferred or (self.whole.inferred if self.whole else None)

    @cached_property
    def enveloped(self) -> Enveloped | None:
        """The rows of Debezium's events, or in Connect's wrapper, where most values are some."""
        objects, others = self._parsed
        # An envelope says itself where its row is.
        if self.at or len(others) > len(objects):
            return None
        return events_of(self.objects) or rows_of(self.objects, bool(self._nulls))

    @property
    def tombstones(self) -> int:
        """The records without a value, and the nulls that Connect wrote in place of one."""
        return len(self.by_place) - len(self.values) + len(self._nulls)

    @cached_property
    def _nulls(self) -> list[str]:
        return [where for where, each in self.values.items() if each.strip() == b"null"]

    @property
    def _rescued(self) -> bool:
        """Whether the proposal keeps the fields that no column declares."""
        return self.inferred is not None and bool(self.inferred.left_out)

    def _row(self, found: Object) -> Object:
        return payload_of(found) if self.enveloped else found

    def _is_null(self, found: Object) -> bool:
        """Whether it is a null that Connect wrote."""
        return self.enveloped is not None and is_wrapped(found) and found["payload"] is None

    @property
    def rows(self) -> Sequence[Object]:
        """What the columns are of: the objects, or the rows in their envelopes."""
        return self.enveloped.rows if self.enveloped else self.objects

    def told_problems(self) -> Iterator[tuple[int, str]]:
        """Each cause, the most frequent first: of how many values, and the first of them."""
        causes: dict[str, list[str]] = {}
        for where, why in self.problems.items():
            causes.setdefault(error_pattern(why), []).append(f"{where}: {why}")
        for told in sorted(causes.values(), key=len, reverse=True):
            yield len(told), told[0]

    @cached_property
    def _parsed(self) -> tuple[dict[str, Object], dict[str, str]]:
        objects, problems = {}, dict(self.broken)
        for where, value in self.values.items():
            if where in problems or where in self._nulls:
                continue
            try:
                objects[where] = parse_object(value)
            except ValueError as problem:
                problems[where] = str(problem)
        return objects, problems
