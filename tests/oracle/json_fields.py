"""Decoded JSON fields, compared with a reference decoder that shares nothing with the product."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.decoding import reference_json
from tests.decoding.reference_variant import Variant
from tests.oracle.coordinates import Keys, some
from tests.oracle.violation import Violation

if TYPE_CHECKING:
    from tests.oracle.equality import Pairs
    from tests.oracle.evidence import Evidence

# Bytes of a record → its fields, or None where they cannot be decoded.
Decode = Callable[[bytes], dict[str, Any] | None]
LINES = 20_000


def reference_decoder(
    schema: str, timestamp_unit: str | None = None, allow_unmatched: bool = False
) -> Decode:
    """The reference decoder of tests/reference_json.py for one schema."""

    def decode(value: bytes) -> dict[str, Any] | None:
        found = reference_json.decode(
            value, schema, timestamp_unit=timestamp_unit, allow_unmatched=allow_unmatched
        )
        return found if isinstance(found, dict) else None

    return decode


def json_differences(
    evidence: Evidence, pairs: Pairs, fields: list[str], decode: Decode
) -> Iterator[Violation]:
    wrong: dict[str, list[int]] = {}
    for place, sent, stored in _lines(pairs, fields):
        for name in _differing(sent, stored, fields, decode):
            wrong.setdefault(name, []).append(place)
    for name, places in wrong.items():
        for where, offsets in evidence.coordinates.by_partition(pairs.keys[places]):
            found = f"another in {some(offsets)}"
            yield Violation(5, f"data, {where}", f"{name} as the reference decodes it", found)


def _lines(pairs: Pairs, fields: list[str]) -> Iterator[tuple[int, bytes | None, tuple[Any, ...]]]:
    """Row number, sent value, stored fields: in slices, so that memory stays small."""
    stored, values = pairs.stored.select(fields), pairs.sent.column("value")
    for start in range(0, stored.num_rows, LINES):
        part = stored.slice(start, LINES)
        columns = [part.column(name).to_pylist() for name in fields]
        sent = values.slice(start, LINES).to_pylist()
        for line, value in enumerate(sent):
            yield start + line, value, tuple(column[line] for column in columns)


def _differing(
    sent: bytes | None, stored: tuple[Any, ...], fields: list[str], decode: Decode
) -> Iterator[str]:
    expected = {} if sent is None else decode(sent)
    if expected is None:
        yield "an undecodable record kept out"
        return
    yield from expected.keys() - fields
    for name, found in zip(fields, stored, strict=True):
        # Tests that judge no derived column have names for them that begin so.
        derived = name.startswith("_") and name not in expected
        if not derived and not same(expected.get(name), found):
            yield name


def same(expected: Any, found: Any) -> bool:
    if isinstance(expected, Variant):
        return isinstance(found, dict) and Variant.read(**found) == expected
    if isinstance(expected, float) and isinstance(found, float):
        return expected == found or (math.isnan(expected) and math.isnan(found))
    if isinstance(expected, dict) and isinstance(found, list):  # a map arrives as pairs
        return same(expected, dict(found))
    if isinstance(expected, dict) and isinstance(found, dict):
        return all(same(expected.get(n), found.get(n)) for n in expected.keys() | found.keys())
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        pairs = zip(expected, found, strict=False)
        return len(expected) == len(found) and all(same(a, b) for a, b in pairs)
    if isinstance(found, datetime):  # the table says UTC, the reference means it
        found = found.replace(tzinfo=None)
    return type(expected) is type(found) and bool(expected == found)


def wrongly_aside(evidence: Evidence, pairs: Pairs, decode: Decode) -> Iterator[Violation]:
    """Quarantined records that decode well after all, and break no constraint of the table."""
    ruled = tuple(f"the table's CHECK constraint {e} (" for e in evidence.data.constraints)
    values = pairs.sent.column("value").to_pylist()
    errors = pairs.stored.column("error").to_pylist()
    fine = [
        n
        for n, value in enumerate(values)
        if (value is None or decode(value) is not None) and not (errors[n] or "").startswith(ruled)
    ]
    keys: Keys = pairs.keys[fine]
    for name, offsets in evidence.coordinates.by_partition(keys):
        where = f"quarantine, {name}"
        yield Violation(5, where, "undecodable records only", f"decodable {some(offsets)}")
