"""A message that is within itself: its JSON text, in which nothing is lost."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.protobuf_decoding import Read, decoded_protobuf
from tests.worlds.protobuf_schemas import message_class

pytestmark = pytest.mark.spark

NODE = """
syntax = "proto3"; package p;
import "google/protobuf/duration.proto"; import "google/protobuf/empty.proto";
import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto"; import "google/type/date.proto";
message Node {
  Node next = 1; repeated Node all = 2; map<int64, Node> by = 3;
  int32 i = 4; int64 l = 5; uint32 u = 6; fixed64 v = 7; float f = 8; double d = 9; bool b = 10;
  string s = 11; bytes x = 12; Kind e = 13; optional int32 oi = 14; optional string os = 15;
  repeated int32 ri = 16; repeated Kind kinds = 17; map<string, bytes> m = 18;
  oneof choice { string one = 19; Node other = 20; }
  google.protobuf.Timestamp at = 21; google.protobuf.Duration took = 22;
  google.protobuf.Int64Value w = 23; google.protobuf.StringValue ws = 24;
  google.protobuf.Struct tree = 25; google.protobuf.Value any_json = 26;
  google.protobuf.Empty nothing = 27; google.type.Date day = 28; map<bool, string> flags = 29;
  repeated double rd = 30; repeated string rs = 31; map<string, Kind> by_kind = 32;
}
enum Kind { A = 0; B = 1; }
"""
PROTO2 = """
syntax = "proto2"; package old;
message M { optional M m = 1; required int32 r = 2; optional int32 i = 3; optional Kind k = 4;
  optional string s = 5 [default = "x"]; optional bytes x = 6 [ctype = CORD]; }
enum Kind { A = 1; }
"""
Node = message_class(NODE, "p.Node")
Old = message_class(PROTO2, "old.M")


def texts(spark: SparkSession, *nodes: Any) -> list[Any]:
    """Of each message the text that it is within another one, or the error."""
    values = [Node(next=each).SerializeToString() for each in nodes]
    found = decoded_protobuf(spark, NODE, "p.Node", values)
    return [each if isinstance(each, str) else each["next"] for each in found]


def test_every_type_has_its_text(spark: SparkSession) -> None:
    whole = Node(
        i=-1,
        l=-(2**63),
        u=2**32 - 1,
        v=2**64 - 1,
        f=0.1,
        d=0.1,
        b=True,
        s='é"\n',
        x=b"\xff\xfe",
        e=1,
        oi=0,
        os="",
        ri=[1, 0],
        kinds=[0, 1],
        m={"b": b"\0", "a": b""},
        one="",
        at={"seconds": 1, "nanos": 1},
        took={"seconds": -1, "nanos": -500_000_000},
        w={"value": 2**53 + 1},
        ws={},
        nothing={},
        day={"year": 2024},
        flags={True: "t"},
        rd=[math.nan, math.inf, -math.inf, 1.5, 2.0],
        rs=["", "x"],
        by_kind={"k": 1},
    )
    whole.tree.update({"b": [None], "a": 1})
    whole.any_json.null_value = 0
    (found,) = texts(spark, whole)
    assert found == (
        '{"i":-1,"l":-9223372036854775808,"u":4294967295,"v":18446744073709551615,"f":0.1,'
        '"d":0.1,"b":true,"s":"é\\"\\n","x":"//4=","e":"B","oi":0,"os":"","ri":[1,0],'
        '"kinds":["A","B"],"m":{"a":"","b":"AA=="},"one":"",'
        '"at":"1970-01-01T00:00:01.000000001Z","took":"-1.5s","w":9007199254740993,"ws":"",'
        '"tree":{"a":1,"b":[null]},"any_json":null,"nothing":{},"day":{"year":2024},'
        '"flags":{"true":"t"},"rd":["NaN","Infinity","-Infinity",1.5,2],"rs":["","x"],'
        '"by_kind":{"k":"B"}}'
    )


def test_what_is_unset_is_left_out_and_levels_go_on(spark: SparkSession) -> None:
    inner = Node(i=1)
    found = texts(
        spark,
        Node(),
        Node(i=0, s="", d=0.0, e=0, other={}),
        Node(next=Node(next=inner)),
        Node(all=[inner, {}], by={7: inner, -1: {}}),
    )
    assert found == [
        "{}",
        '{"other":{}}',
        '{"next":{"next":{"i":1}}}',
        '{"all":[{"i":1},{}],"by":{"-1":{},"7":{"i":1}}}',
    ]


def test_each_place_that_begins_anew_is_text(spark: SparkSession) -> None:
    node = Node(all=[{"i": 1}], by={2: {"s": "x"}}, other={"b": True})
    (found,) = decoded_protobuf(spark, NODE, "p.Node", [node.SerializeToString()])
    assert isinstance(found, dict)
    told = (found["all"], found["by"], found["other"], found["next"])
    assert told == (['{"i":1}'], [("2", '{"s":"x"}')], '{"b":true}', None)


def test_attributes_that_hold_attributes(spark: SparkSession) -> None:
    source = """syntax = "proto3"; package e;
    message Event { repeated KeyValue attributes = 1; }
    message KeyValue { string key = 1; AnyValue value = 2; }
    message AnyValue { oneof v { string s = 1; int64 i = 2; Values a = 3; KeyValues k = 4; } }
    message Values { repeated AnyValue values = 1; }
    message KeyValues { repeated KeyValue values = 1; }"""
    Event = message_class(source, "e.Event")
    inner = {"key": "deep", "value": {"i": 2**60}}
    event = Event(
        attributes=[
            {"key": "service", "value": {"s": "shop"}},
            {"key": "args", "value": {"a": {"values": [{"s": "-x"}, {"k": {"values": [inner]}}]}}},
        ]
    )
    (found,) = decoded_protobuf(spark, source, "e.Event", [event.SerializeToString()])
    assert isinstance(found, dict)
    service, args = found["attributes"]
    assert service == {"key": "service", "value": {"s": "shop", "i": None, "a": None, "k": None}}
    text, nested = args["value"]["a"]["values"]
    assert text == '{"s":"-x"}'
    assert json.loads(nested) == {"k": {"values": [inner]}}


def test_a_value_within_the_text_that_does_not_fit_says_where(spark: SparkSession) -> None:
    wrong_type = b"\x22\x01x"  # i, as text
    entry = b"\x92\x01\x04\x0a\x02\xff\xfe"  # m, with a key that is no text
    bare = [b"\x0a" + bytes([len(each)]) + each for each in (wrong_type, entry, b"\x5a\x01\xff")]
    nodes = [
        Node(next={"e": 7}),
        Node(next={"all": [{}, {"kinds": [0, 9]}]}),
        Node(by={5: {"at": {"nanos": -1}}}),
        Node(next={"by": {5: {"took": {"seconds": 1, "nanos": -1}}}}),
        Node(next={"any_json": {"number_value": math.nan}}),
    ]
    values = [*(each.SerializeToString() for each in nodes), *bare]
    assert decoded_protobuf(spark, NODE, "p.Node", values) == [
        "next.e: expected p.Kind, found 7",
        "next.all[1].kinds[1]: expected p.Kind, found 9",
        'by["5"].at: expected TIMESTAMP, found {"seconds":0,"nanos":-1}',
        'next.by["5"].took: expected DECIMAL(21,9), found {"seconds":1,"nanos":-1}',
        "next.any_json: expected a number that JSON has, found NaN",
        "next.i: expected INT, found a value of wire type 2",
        'next.m["…"]: expected STRING, found "��"'.replace('["…"]', "[…]"),
        'next.s: expected STRING, found "�"',
    ]


def test_proto2_has_what_was_set_and_what_it_requires(spark: SparkSession) -> None:
    def read(*values: Any) -> list[Read]:
        found = [each.SerializePartialToString() for each in values]
        return decoded_protobuf(spark, PROTO2, "old.M", found)

    whole, bare, lacking = read(
        Old(r=1, m={"r": 0, "i": 0, "k": 1, "s": "", "x": b"\xff"}),
        Old(r=1, m={"r": 5}),
        Old(r=1, m={"m": {}, "r": 2}),
    )
    assert isinstance(whole, dict)
    assert isinstance(bare, dict)
    assert whole["m"] == '{"r":0,"i":0,"k":"A","s":"","x":"/w=="}'
    assert bare["m"] == '{"r":5}'
    assert lacking == "m.m.r: expected a value, as it is required, found none"
    unknown = b"\x10\x01\x0a\x04\x10\x01\x20\x09"
    assert decoded_protobuf(spark, PROTO2, "old.M", [unknown]) == [
        "m.k: expected old.Kind, found 9"
    ]


def test_a_record_cannot_unfold_to_more_than_memory(spark: SparkSession) -> None:
    source = f"""syntax = "proto3"; package p;
    message N {{ N n = 1; repeated E e = 2; }} enum E {{ {"L" * 200} = 0; }}"""
    N = message_class(source, "p.N")
    few, many = (N(n=N(e=[0] * count)).SerializeToString() for count in (1000, 1_000_000))
    kept, refused = decoded_protobuf(spark, source, "p.N", [few, many])
    assert isinstance(kept, dict)
    assert len(kept["n"]) == 1000 * 203 + len('{"e":[]}') - 1
    assert refused == (
        "n.e: expected at most 16,777,216 fields in the structs of a record, found more"
    )


def test_twins_are_read_by_their_names(spark: SparkSession) -> None:
    source = """syntax = "proto3"; package p;
    message M { string _offset = 1; int32 ID = 2; string id = 3; T t = 4; bool last = 5; }
    message T { int32 a = 1; string A = 2; int32 z = 3; }"""
    M = message_class(source, "p.M")
    made = M(ID=1, id="x", t={"a": 2, "A": "y", "z": 3}, last=True)
    found = decoded_protobuf(spark, source, "p.M", [made.SerializeToString()])
    assert found == [{"ID": 1, "t": {"a": 2, "z": 3}, "last": True}]
