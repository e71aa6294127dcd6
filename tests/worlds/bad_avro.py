"""Bad Avro: whole records in which one field is not what its type says, or is only just."""

from __future__ import annotations

import json

from tests.decoding import reference_avro
from tests.decoding.avro_decoding import encoded, fixed, logical, record
from tests.worlds.corpus import Corpus, Decoded

AVRO_SCHEMA = record(
    {
        "id": "long",
        "count": "int",
        "ok": "boolean",
        "city": ["null", "string"],
        "raw": "bytes",
        "kind": {"type": "enum", "name": "Kind", "symbols": ["TAXI", "BIKE"]},
        "paid": ["null", "long", "string"],
        "legs": {"type": "array", "items": record({"km": "double", "stops": "string"}, "a.Leg")},
        "tags": {"type": "map", "values": "int"},
        "code": fixed("Code", 2),
        "day": logical("int", "date"),
        "at": logical("long", "timestamp-micros"),
        "price": logical("bytes", "decimal", precision=9, scale=2),
    }
)
AVRO_TEXT = json.dumps(AVRO_SCHEMA)
# A whole record, field by field.
PARTS = {
    "id": b"\x0e",
    "count": b"\x03",
    "ok": b"\x01",
    "city": b"\x02\x06Ulm",
    "raw": b"\x04\x00\xff",
    "kind": b"\x02",
    "paid": b"\x02\x10",
    "legs": b"\x02" + b"\0" * 7 + b"\x40\x02a\x00",
    "tags": b"\x02\x02k\x01\x00",
    "code": b"\x00\x01",
    "day": b"\x02",
    "at": b"\x80\x89\x7a",
    "price": b"\x04\x04\xe2",
}
# The least long, and the greatest.
LEAST, MOST = b"\xff" * 9 + b"\x01", b"\xfe" + b"\xff" * 8 + b"\x01"


def trip(**changed: bytes) -> bytes:
    """A whole record, but for these fields' bytes."""
    return b"".join((PARTS | changed).values())


def _avro(number: int) -> bytes:
    return trip(id=encoded("long", number))


def _of_avro(value: bytes) -> Decoded:
    found = reference_avro.decode(value, AVRO_TEXT)
    return found if isinstance(found, dict) else None


MORE_THAN_32 = "count: expected an int, found one of more than 32 bits"
MORE_THAN_64 = "id: expected a long, found one of more than 64 bits"
LEG = PARTS["legs"][1:-1]
ODD_AVRO = {
    trip(id=LEAST): None,
    trip(id=b"\x8e\x00"): None,
    trip(id=b"\xff" * 9 + b"\x02"): MORE_THAN_64,
    trip(id=b"\xff" * 40 + b"\x01"): MORE_THAN_64,
    trip(id=b"\x80" * 10 + b"\x00"): MORE_THAN_64,
    trip(count=b"\xff\xff\xff\xff\x0f"): None,
    trip(count=b"\xff\xff\xff\xff\x1f"): MORE_THAN_32,
    trip(count=b"\x80" * 5 + b"\x00"): MORE_THAN_32,
    trip(ok=b"\x02"): "ok: expected a boolean, found the byte 2",
    trip(city=b"\x00"): None,
    trip(city=b"\x01Ulm"): "city: expected the place of a union's type below 2, found -1",
    trip(city=b"\x04Ulm"): "city: expected the place of a union's type below 2, found 2",
    trip(city=b"\x02\x01Ulm"): "city: expected a length, found -1",
    trip(city=b"\x02" + LEAST): "city: expected a length, found -9223372036854775808",
    trip(city=b"\x02\xfe\xff\xff\xff\x0f"): "city: expected 2147483647 bytes, found 32",
    trip(city=b"\x02\x04\xc3\x28"): 'city: expected text in UTF-8, found bytes "C328"',
    trip(city=b"\x02\x06\xed\xa0\x80"): 'city: expected text in UTF-8, found bytes "EDA080"',
    trip(raw=MOST): "raw: expected 9223372036854775807 bytes, found 29",
    trip(kind=b"\x04"): "kind: expected the place of a symbol below 2, found 2",
    trip(kind=b"\x01"): "kind: expected the place of a symbol below 2, found -1",
    trip(paid=b"\x06"): "paid: expected the place of a union's type below 3, found 3",
    trip(paid=b"\x04\x02x"): None,
    trip(legs=b"\x00"): None,
    trip(legs=b"\x01\x14" + LEG + b"\x00"): None,
    trip(legs=b"\x02" + LEG + b"\x02" + LEG + b"\x00"): None,
    trip(legs=b"\x01\x16" + LEG): "legs: expected a block's end at byte 27, found it at 26",
    trip(legs=b"\x01\x01" + LEG + b"\x00"): "legs: expected a block of -1 bytes, found 25",
    trip(legs=MOST + LEG): "legs: expected 9223372036854775807 elements, found 24 bytes",
    trip(legs=LEAST + LEG): "legs: expected -9223372036854775808 elements, found 23 bytes",
    trip(tags=b"\x02\x01k\x01\x00"): "tags[0]: expected a length, found -1",
    trip(tags=b"\x04\x02k\x01\x02k\x03\x00"): None,
    trip(day=encoded("int", 2_932_896)): None,
    trip(day=encoded("int", 2_932_897)): "day: expected DATE, found 2932897",
    trip(day=b"\xff\xff\xff\xff\x0f"): "day: expected DATE, found -2147483648",
    trip(at=LEAST): "at: expected TIMESTAMP, found -9223372036854775808",
    trip(price=b"\x00"): "price: expected a number, found no bytes",
    trip(price=b"\x08\x7f\xff\xff\xff"): "price: expected DECIMAL(9,2), found 21474836.47",
    trip() + b"\x00": "expected the end of the record, found 1 more bytes",
    trip()[:-1]: "price: expected 2 bytes, found 1",
    b"\x00\x00\x00\x00\x07" + trip(): (
        "raw: expected a length, found -4"
        " (the value begins like Confluent's frame with schema id 7)"
    ),
}
AVRO = Corpus(
    {"type": "avro", "schema_file": "trip.avsc"},
    _avro,
    _of_avro,
    ODD_AVRO,
    {"trip.avsc": AVRO_TEXT.encode()},
)
