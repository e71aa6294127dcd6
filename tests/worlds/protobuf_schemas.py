"""Protobuf schemas for tests: .proto sources, compiled by protoc itself."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    Edition,
    FeatureSet,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import protoc
from sluice.schemas.registered import Reference, RegisteredSchema

from local.known_protos import known_files

ORDER = """
syntax = "proto3";
package shop;
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/empty.proto";
import "google/protobuf/field_mask.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";

message Order {
  int32 i = 1; sint64 l = 2; uint32 u = 3; fixed64 v = 4; float f = 5; double d = 6; bool b = 7;
  string s = 8; bytes x = 9; Status e = 10;
  optional int32 oi = 11; optional string os = 12;
  repeated int64 ri = 13; repeated Item items = 14; repeated Status states = 31;
  map<string, int32> m = 15; map<int32, Item> by = 16; map<bool, string> flags = 17;
  oneof choice { string a = 18; Item c = 19; uint64 n = 20; }
  google.protobuf.Timestamp at = 21; google.protobuf.Duration took = 22;
  google.protobuf.Int64Value w = 23; google.protobuf.StringValue ws = 24;
  google.protobuf.Struct tree = 25; google.protobuf.Value any_json = 26;
  google.protobuf.ListValue some = 27; google.protobuf.Any packed = 28;
  google.protobuf.Empty nothing = 29; google.protobuf.FieldMask mask = 30;
  message Item { string sku = 1; repeated string tags = 2; Status state = 3; }
}
enum Status { option allow_alias = true; NEW = 0; SENT = 1; GONE = 1; BACK = -1; }
message Other { int32 i = 1; }
"""
COLUMNS = (
    "i INT, l BIGINT, u BIGINT, v DECIMAL(20,0), f FLOAT, d DOUBLE, b BOOLEAN, s STRING, x BINARY,"
    " e STRING, oi INT, os STRING, ri ARRAY<BIGINT>,"
    " items ARRAY<STRUCT<sku: STRING, tags: ARRAY<STRING>, state: STRING>>, states ARRAY<STRING>,"
    " m MAP<STRING, INT>,"
    " by MAP<STRING, STRUCT<sku: STRING, tags: ARRAY<STRING>, state: STRING>>,"
    " flags MAP<STRING, STRING>, a STRING,"
    " c STRUCT<sku: STRING, tags: ARRAY<STRING>, state: STRING>, n DECIMAL(20,0), at TIMESTAMP,"
    " took DECIMAL(21,9), w BIGINT, ws STRING, tree STRING, any_json STRING, some STRING,"
    " packed STRUCT<type_url: STRING, value: BINARY>, nothing BOOLEAN,"
    " mask STRUCT<paths: ARRAY<STRING>>"
)


def descriptor_set(sources: Mapping[str, str], main: str = "main.proto") -> bytes:
    """What `protoc --include_imports --descriptor_set_out` writes for a file."""
    known = str(files("grpc_tools") / "_proto")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in sources.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        out = f"{folder}/out.desc"
        common = Path(folder, "known.desc")
        common.write_bytes(known_files().SerializeToString())
        options = [f"-I{folder}", f"-I{known}", f"--descriptor_set_in={common}"]
        options += ["--include_imports", f"--descriptor_set_out={out}"]
        assert protoc.main(["protoc", *options, main]) == 0
        return Path(out).read_bytes()


def of_file(source: str, **others: str) -> RegisteredSchema:
    """As the spec has a schema_file."""
    content = descriptor_set({"main.proto": source, **others})
    return RegisteredSchema("main.desc", "PROTOBUF", base64.b64encode(content).decode())


def of_registry(key: str, source: str, **others: str) -> RegisteredSchema:
    """As Confluent's serialiser for Python registers it."""
    *needed, main = FileDescriptorSet.FromString(
        descriptor_set({"main.proto": source, **others})
    ).file
    references = tuple(
        Reference(each.name, base64.b64encode(each.SerializeToString()).decode())
        for each in needed
        if not each.name.startswith(("google/", "confluent/"))
    )
    text = base64.b64encode(main.SerializeToString()).decode()
    return RegisteredSchema(key, "PROTOBUF", text, references)


def message_class(source: str, name: str, *, bare: bool = False, **others: str) -> Any:
    """The class of a message, made from the source without the product's code.

    `bare` shows what is on the wire: maps as the lists of entries that they are there, and text as
    bytes where it is not UTF-8, of which the parser else refuses also what a later value replaces.
    """
    pool = DescriptorPool()
    described = FileDescriptorSet.FromString(descriptor_set({"main.proto": source, **others}))
    for each in described.file:
        if bare:
            _strip(each)
        pool.AddSerializedFile(each.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName(name))


def _strip(file: FileDescriptorProto) -> None:
    if file.syntax == "proto3":
        file.syntax, file.edition = "editions", Edition.EDITION_2023
        file.options.features.field_presence = FeatureSet.IMPLICIT
        file.options.features.utf8_validation = FeatureSet.NONE
    # Python's class of a Struct needs its map.
    _strip_all(file.message_type, lists=not file.name.startswith("google/"))


def _strip_all(messages: Iterable[DescriptorProto], lists: bool) -> None:
    for each in messages:
        if lists:
            each.options.map_entry = False
        for field in each.field:
            field.ClearField("proto3_optional")
        _strip_all(each.nested_type, lists)
