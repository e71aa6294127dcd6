"""Bad Protobuf: messages that no writer makes, and those that Protobuf passes over in silence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from tests.decoding.reference_protobuf_wire import TooWide, require_fitting
from tests.worlds.corpus import Corpus, Decoded
from tests.worlds.protobuf_schemas import descriptor_set, message_class

PROTO = """
syntax = "proto3"; package trips;
import "google/protobuf/timestamp.proto"; import "ticket.proto";
message Trip {
  int64 id = 1; string city = 2; optional double price = 3; repeated int32 stops = 4;
  Kind kind = 5; bytes raw = 6; Leg leg = 7; map<string, int32> tags = 8;
  google.protobuf.Timestamp at = 9; oneof paid { sint32 cash = 10; fixed64 card = 11; }
  Ticket ticket = 12;
}
message Leg { float km = 1; repeated string names = 2; }
enum Kind { UNKNOWN = 0; TAXI = 1; }
"""
TICKET = """
syntax = "proto2"; package trips;
message Ticket {
  required int32 number = 1; map<string, Class> ways = 2; optional Class class = 4;
  repeated group Seat = 3 { required string row = 1; }
}
enum Class { FIRST = 0; SECOND = 1; }
"""
SOURCES = {"main.proto": PROTO, "ticket.proto": TICKET}
Trip = message_class(PROTO, "trips.Trip", bare=False, **{"ticket.proto": TICKET})
# Of a map's entry that it does not understand, the parser keeps what it likes.
_BareTrip = message_class(PROTO, "trips.Trip", bare=True, **{"ticket.proto": TICKET})
MINUS_ONE, LEAST = b"\xff" * 9 + b"\x01", b"\x80" * 9 + b"\x01"
NOT_ONE = "not one trips.Trip message: "
ENDED = "While parsing a protocol message, the input ended unexpectedly in the middle of a field"
WIRE_TYPE = f"{NOT_ONE}Protocol message tag had invalid wire type"
ZERO = f"{NOT_ONE}Protocol message contained an invalid tag (zero)"
CUT = f"{NOT_ONE}{ENDED}"
GROUP = f"{NOT_ONE}Protocol message end-group tag did not match expected tag"
DEEP = f"{NOT_ONE}Protocol message had too many levels of nesting"
NEGATIVE = (
    f"{NOT_ONE}CodedInputStream encountered an embedded string or message which claimed to have"
    " negative size"
)
NEEDED = "expected a value, as it is required, found none"
# Of a ticket.
NUMBER, WAY, SEAT = b"\x08\x01", b"\x12\x05\x0a\x01k\x10\x01", b"\x1b\x0a\x01a\x1c"
WAY_UNKNOWN = 'ticket.ways["k"]: expected trips.Class, found 7'


def _protobuf(number: int) -> bytes:
    made = Trip(id=number, city="Köln", price=0.5, stops=[1, -1], kind=1, raw=b"\0", cash=-7)
    made.leg.names.append("a")
    made.tags["k"] = 1
    made.at.seconds = 1_357_016_400
    made.ticket.number = number % 1000
    made.ticket.ways["out"] = 1
    made.ticket.seat.add(row="a")
    return made.SerializeToString(deterministic=True)


def _passed_over(found: Message) -> bool:
    numbers = {each.field_number for each in UnknownFieldSet(found)}
    return any(each.number in numbers for each in found.DESCRIPTOR.fields)


def _parts(made: Message) -> Iterator[Message]:
    yield made
    yield from (getattr(made, name) for name in ("leg", "at", "ticket") if made.HasField(name))
    yield from (*made.tags, *made.ticket.ways, *made.ticket.seat)


def _of_protobuf(value: bytes) -> Decoded:
    try:
        made = _BareTrip.FromString(value)
        require_fitting(value, made.DESCRIPTOR)
        if any(map(_passed_over, _parts(made))) or not made.IsInitialized():
            return None
        if any(isinstance(each, bytes) for each in _texts(made)) or not 0 <= made.at.nanos < 10**9:
            return None
        return _columns(made)
    except (DecodeError, OverflowError, KeyError, TooWide):
        return None


def _texts(made: Message) -> Iterator[str | bytes]:
    yield from (made.city, *made.leg.names, *(each.row for each in made.ticket.seat))
    yield from (each.key for each in (*made.tags, *made.ticket.ways))


def _columns(made: Message) -> Decoded:
    at = timedelta(seconds=made.at.seconds, microseconds=made.at.nanos // 1000)
    optional = {
        "price": made.price,
        "leg": {"km": made.leg.km, "names": list(made.leg.names)},
        "at": datetime(1970, 1, 1) + at,
        "cash": made.cash,
        "card": Decimal(made.card),
        "ticket": _ticket(made.ticket),
    }
    return {
        **{name: each if made.HasField(name) else None for name, each in optional.items()},
        **{name: getattr(made, name) for name in ("id", "city", "raw")},
        "kind": {0: "UNKNOWN", 1: "TAXI"}[made.kind],
        "stops": list(made.stops),
        "tags": {each.key: each.value for each in made.tags},
    }


def _ticket(found: Message) -> Decoded:
    classes = ("FIRST", "SECOND")
    return {
        "number": found.number,
        "ways": {each.key: classes[each.value] for each in found.ways},
        "class": classes[getattr(found, "class")] if found.HasField("class") else None,
        "seat": [{"row": each.row} for each in found.seat],
    }


def _with_ticket(*parts: bytes) -> bytes:
    body = b"".join(parts)
    return bytes([0x62, len(body)]) + body


ODD_PROTOBUF = {
    b"": None,
    b"\x0e\x01": WIRE_TYPE,
    b"\x0f\x01": WIRE_TYPE,
    b"\x00\x01": ZERO,
    b"\x08" + MINUS_ONE: None,
    b"\x08\x81\x80\x00": None,
    b"\x08" + b"\xff" * 10 + b"\x01": ZERO,
    b"\x08\xff": CUT,
    b"\xff" * 5 + b"\x01\x00": WIRE_TYPE,
    b"\x0b": GROUP,
    b"\x0c": GROUP,
    b"\x0b\x14": GROUP,
    b"\x0b\x0c": "id: expected BIGINT, found a value of wire type 3",
    b"\x9b\x06\x9c\x06": None,
    b"\x9b\x06" * 200 + b"\x9c\x06" * 200: DEEP,
    b"\x9b\x06" * 100_000: DEEP,
    b"\x12\x05ab": CUT,
    b"\x12\xff\xff\xff\xff\x07": CUT,
    b"\x12" + MINUS_ONE: NEGATIVE,
    b"\x12\x02\xc3\x28": 'city: expected STRING, found "�("',
    b"\x12\x03\xed\xa0\x80": 'city: expected STRING, found "�"',
    b"\x12\x01\x00": None,
    b"\x0a\x01x": "id: expected BIGINT, found a value of wire type 2",
    b"\x10\x01": "city: expected STRING, found a value of wire type 0",
    b"\x19" + b"\xff" * 8: None,
    b"\x19" + b"\xff" * 7: CUT,
    b"\x20\x01\x22\x01\x02": None,
    b"\x22\x01\x80": CUT,
    b"\x25\x01\x00\x00\x00": "stops: expected ARRAY<INT>, found a value of wire type 5",
    b"\x28\x07": "kind: expected trips.Kind, found 7",
    b"\x28" + MINUS_ONE: "kind: expected trips.Kind, found -1",
    b"\x3a\x01\x0d": CUT,
    b"\x3a\x02\x08\x01": "leg.km: expected FLOAT, found a value of wire type 0",
    b"\x3a\x00\x3a\x03\x12\x01a": None,
    b"\x42\x00": None,
    b"\x42\x03\x0a\x01\xff": 'tags[…]: expected STRING, found "�"',
    b"\x42\x05\x0a\x01k\x12\x00": 'tags["k"]: expected INT, found a value of wire type 2',
    b"\x42\x03\x0a\x01k": None,
    b"\x4a\x0b\x08"
    + LEAST: 'at: expected TIMESTAMP, found {"seconds":-9223372036854775808,"nanos":0}',
    b"\x4a\x0b\x08" + MINUS_ONE: None,
    b"\x4a\x02\x10\x01": None,
    b"\x4a\x0b\x10" + MINUS_ONE: 'at: expected TIMESTAMP, found {"seconds":0,"nanos":-1}',
    b"\x50\x01\x59" + b"\0" * 8: None,
    b"\x98\x06\x01": None,
    _with_ticket(NUMBER, WAY, SEAT): None,
    _with_ticket(): f"ticket.number: {NEEDED}",
    _with_ticket(WAY): f"ticket.number: {NEEDED}",
    _with_ticket(NUMBER, WAY, SEAT, b"\x1b\x1c"): f"ticket.seat[1].row: {NEEDED}",
    _with_ticket(WAY, b"\x1b\x1c"): f"ticket.number: {NEEDED}",
    _with_ticket(NUMBER, b"\x1b\x1c", WAY): f"ticket.seat[0].row: {NEEDED}",
    _with_ticket(NUMBER, b"\x1b"): GROUP,
    _with_ticket(NUMBER, b"\x1b\x0a\x01\xff\x1c"): 'ticket.seat[0].row: expected STRING, found "�"',
    _with_ticket(
        NUMBER, b"\x12\x05\x0a\x01\xff\x10\x01"
    ): 'ticket.ways[…]: expected STRING, found "�"',
    _with_ticket(NUMBER, b"\x12\x05\x0a\x01k\x10\x07"): WAY_UNKNOWN,
    _with_ticket(NUMBER, b"\x12\x03\x0a\x01k"): None,
    _with_ticket(NUMBER, b"\x20\x07"): "ticket.class: expected trips.Class, found 7",
}
PROTOBUF = Corpus(
    {"type": "protobuf", "schema_file": "trip.desc", "record": "trips.Trip"},
    _protobuf,
    _of_protobuf,
    ODD_PROTOBUF,
    {"trip.desc": descriptor_set(SOURCES)},
)
