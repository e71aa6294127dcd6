"""Frames and compressions: what is around a payload is taken off, or the record says why not."""

from __future__ import annotations

import json
import zlib

import cramjam
import pytest
from pyspark.sql import SparkSession
from sluice.schemas.registered import RegisteredSchema
from sluice.spec_file.plain_formats import RawFormat

from tests.decoding.wraps_decoding import LIMIT, PAYLOADS, ROW, TYPES, USER, User, decoded, form
from tests.worlds.packed import (
    COMPRESSIONS,
    as_container,
    as_single_object,
    as_zstandard_container,
    in_confluents,
    in_glue,
)

pytestmark = pytest.mark.spark

# The second message of the file; of all by name: Account, its entry of a map, its Zone, User.
INDEXES, PLACE = b"\x02\x02", b"\x03"
REGISTERED = {
    "json": RegisteredSchema("7", "JSON", '{"properties": {"id": {"type": "integer"}}}'),
    "avro": RegisteredSchema("7", "AVRO", json.dumps(USER)),
}


def framed(kind: str) -> dict[str, list[bytes]]:
    """The payload in each frame that the format takes without a registry."""
    payload = PAYLOADS[kind]
    of_message = kind == "protobuf"
    placed = PLACE + payload if of_message else payload
    found = {
        "none": [payload],
        "confluent": [in_confluents(payload, indexes=INDEXES if of_message else b"")],
        "glue": [in_glue(placed), in_glue(placed, packed=True)],
    }
    if kind == "avro":
        files = [as_container(USER, [ROW], each) for each in ("null", "deflate", "snappy")]
        found["container"] = [*files, as_zstandard_container(USER, ROW)]
        found["single_object"] = [as_single_object(USER, ROW)]
    if of_message:
        found["delimited"] = [bytes([len(payload)]) + payload]
    return found


@pytest.mark.parametrize("kind", PAYLOADS)
def test_each_frame_is_taken_off_below_each_compression(spark: SparkSession, kind: str) -> None:
    for frame, values in framed(kind).items():
        assert decoded(spark, form(kind, frame=frame), [*values, None]) == [
            *[ROW] * len(values),
            None,
        ], frame
        for name, ways in COMPRESSIONS.items():
            packed = [way(value) for value in values for way in ways]
            found = decoded(spark, form(kind, frame=frame, compression=name), [*packed, None])
            assert found == [*[ROW] * len(packed), None], (frame, name)


def test_keys_have_them_as_well(spark: SparkSession) -> None:
    (value,) = framed("avro")["single_object"]
    keys = [COMPRESSIONS["gzip"][0](value), None, b"{}"]
    found = decoded(spark, form("avro", frame="single_object", compression="gzip"), keys, "key")
    assert found == [ROW, None, "not gzip: expected 1f8b08, found 7b7d at byte 0"]


def test_raw_bytes_lie_unpacked(spark: SparkSession) -> None:
    zstd = COMPRESSIONS["zstd"][0]
    found = decoded(spark, RawFormat(type="raw", compression="zstd"), [zstd(b"\xffa"), None, b""])
    assert found == [{"value": b"\xffa"}, {"value": None}, "not zstd: found no bytes"]


@pytest.mark.parametrize("kind", REGISTERED)
def test_a_registrys_frame_lies_within_the_compression(spark: SparkSession, kind: str) -> None:
    of = TYPES[kind][0].model_validate({"type": kind, "registry": "r", "compression": "gzip"})
    gzip = COMPRESSIONS["gzip"][0]
    values = [gzip(in_confluents(PAYLOADS[kind])), gzip(in_confluents(PAYLOADS[kind], 8)), None]
    found = decoded(spark, of.read_as(REGISTERED[kind]), values, writer=REGISTERED[kind])
    assert found[0]["id"] == ROW["id"]
    assert found[1:] == ["no such schema in the registry: 8", None]


def test_what_is_rescued_is_of_the_payload(spark: SparkSession) -> None:
    gzip = COMPRESSIONS["gzip"][0]
    of = form("json", compression="gzip")
    (found, broken) = decoded(spark, of, [gzip(b'{"id":1,"x":2}'), b"x"], rescue=True)
    assert found == {"id": 1, "name": None, "_rescued": '{"x":2}'}
    assert broken == "not gzip: expected 1f8b08, found 78 at byte 0"


ONE = PAYLOADS["json"]
OTHER = {**USER, "fields": [*USER["fields"], {"name": "x", "type": "int"}]}
OBJECT = as_single_object(USER, ROW)


def test_a_single_object_of_another_schema_names_both_fingerprints(spark: SparkSession) -> None:
    values = [as_single_object(OTHER, {**ROW, "x": 1}), b"\xc3\x01\x02", b"\xc3", ONE, b""]
    found = decoded(spark, form("avro", frame="single_object"), values)
    assert found == [
        "expected a record of the declared schema, whose fingerprint is"
        f" 0x{OBJECT[2:10][::-1].hex()}, found 0x{values[0][2:10][::-1].hex()}",
        "not an Avro single object: expected 10 bytes before the record, found 3",
        "not an Avro single object: expected c301, found c3",
        "not an Avro single object: expected c301, found 7b22696422",
        "not an Avro single object: expected c301, found no bytes",
    ]


def test_a_container_file_is_read_with_its_own_schema(spark: SparkSession) -> None:
    values = [
        as_container(OTHER, [{**ROW, "x": 1}]),
        as_container({**USER, "name": "account"}, [ROW]),
    ]
    found = decoded(spark, form("avro", frame="container"), values, rescue=True)
    assert found[0] == {**ROW, "_rescued": '{"x":1}'}
    assert found[1] == "expected record demo.user, found record demo.account"


ONE_FILE = as_container(USER, [ROW])


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (as_container(USER, []), "expected one record in the container file, found 0"),
        (as_container(USER, [ROW] * 3), "expected one record in the container file, found 3"),
        (as_container(USER, [ROW] * 3, "deflate"), "expected one record in the container file, fo"),
        (b"", "not an Avro container file: expected 4f626a01, found no bytes"),
        (OBJECT, "not an Avro container file: expected 4f626a01, found c301"),
        (ONE_FILE[:-1], "not an Avro container file: expected 16 bytes, found 15 at byte"),
        (ONE_FILE[:40], "not an Avro container file: expected"),
        (ONE_FILE[:-1] + b"\0", "not an Avro container file: expected the file's mark, found anot"),
        (ONE_FILE + b"\x02", "not an Avro container file: expected a number, found the end of"),
        (as_container(USER, [ROW], "xz"), "not an Avro container file: expected the codec null, d"),
        (
            as_container({**USER, "name": "user"}, [ROW], "deflate").replace(b'"long"', b'"lnog"'),
            "",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_container_file_of_other_contents_is_told(
    spark: SparkSession, value: bytes, reason: str
) -> None:
    (found,) = decoded(spark, form("avro", frame="container"), [value])
    assert isinstance(found, str)
    assert found.startswith(reason)


def test_a_container_files_block_is_bounded_as_well(spark: SparkSession) -> None:
    (found,) = decoded(
        spark,
        form("avro", frame="container"),
        [as_container(USER, [{"id": 1, "name": "a" * (70 << 20)}], "deflate")],
    )
    assert found == f"deflate: {LIMIT}"


def test_delimited_is_one_message(spark: SparkSession) -> None:
    short = User(id=1).SerializeToString()
    one = bytes([len(short)]) + short
    values = [b"\0", one + one, one + b"\x05", one[:-1], b"", b"\xff" * 11]
    found = decoded(spark, form("protobuf", frame="delimited"), values)
    assert found == [
        {"id": 0, "name": ""},
        "expected one message after its length, found 2",
        "expected the end of the message at byte 3, found 1 more bytes",
        "not a message after its length: expected 2 bytes, found 1",
        "not a message after its length: found no length at byte 0",
        "not a message after its length: found no length at byte 0",
    ]


def test_frames_of_messages_have_the_place_of_the_one_that_is_read(spark: SparkSession) -> None:
    payload = PAYLOADS["protobuf"]
    confluents = [in_confluents(payload, 9, b"\0"), in_confluents(b"", 9, b"\x02")]
    assert decoded(spark, form("protobuf", frame="confluent"), confluents) == [
        "schema 9: expected the message demo.User, found demo.Account at the message index 0",
        "schema 9: expected 1 message indexes, found 0 bytes",
    ]
    glues = [in_glue(b"\0" + payload), in_glue(b"\x07" + payload), in_glue(b"")]
    assert decoded(spark, form("protobuf", frame="glue"), glues) == [
        "expected the message demo.User, found demo.Account at the message index 0",
        "expected the message demo.User, found none at the message index 7",
        "AWS Glue's frame: found no message index",
    ]


def test_other_beginnings_are_no_frame(spark: SparkSession) -> None:
    glue = [ONE, b"\x03\x07" + bytes(16), in_glue(b"")[:10], in_glue(b"x", True)[:-3], b""]
    found = decoded(spark, form("json", frame="glue"), glue)
    assert found[:3] == [
        "not AWS Glue's frame: expected 0300 or 0305, found 7b22696422",
        "not AWS Glue's frame: expected 0300 or 0305, found 0307000000",
        "not AWS Glue's frame: expected 18 bytes before the record, found 10",
    ]
    assert found[3] == f"not zlib: found the end at byte {len(zlib.compress(b'x')) - 3}"
    assert found[4] == "not AWS Glue's frame: expected 0300 or 0305, found no bytes"
    confluent = [ONE, bytes(cramjam.gzip.compress(ONE))]
    told = "no schema id: expected the byte 0 and an id, or a header, found "
    assert decoded(spark, form("json", frame="confluent"), confluent) == [
        f"{told}0x7b22696422",
        f"{told}0x1f8b080000 (the value begins like gzip)",
    ]
