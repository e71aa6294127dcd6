"""Decodable JSON, clause by clause: the record as a whole, and nested types."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T
from sluice.lake.decoding.decoded_fields import ERROR
from sluice.lake.decoding.json_records import json_struct

from tests.decoding.decoding import decoded, decoded_frame
from tests.decoding.decoding_table import NO, Expected, Together, of_field
from tests.decoding.reference_json import Undecodable

pytestmark = pytest.mark.spark
TOGETHER = Together()

FLAT = "a STRING, b INT, z2 DOUBLE"


def test_a_tombstone_has_neither_fields_nor_error(spark: SparkSession) -> None:
    [row] = decoded_frame(spark, FLAT, [None]).select("d.*").collect()
    assert row.asDict() == {"a": None, "b": None, "z2": None, ERROR: None}


def test_fields_keep_their_names_types_and_order(spark: SparkSession) -> None:
    ddl = "Carrier STRING, `dep delay` DOUBLE, n STRUCT<Inner: TINYINT>, t TIMESTAMP"
    struct = decoded_frame(spark, ddl, [b"{}"]).schema["d"].dataType.simpleString()
    assert struct == (
        "struct<Carrier:string,dep delay:double,n:struct<Inner:tinyint>,t:timestamp,(error):string>"
    )


@TOGETHER.clause
def test_one_object_and_nothing_but_white_space_after_it() -> Expected:
    table: dict[bytes | str, Any] = {
        '{"b":null}': {},
        ' \t\r\n{"b" : 1 } \n\t\r ': {"b": 1},
        '{"a":"}"}': {"a": "}"},
        '{"unknown":[{"deep":{}}],"b":1}': {"b": 1},
        '{"B":1,"b":null}': {},
        f'{{"{"n" * 60_000}":0,"b":1}}': {"b": 1},
    }
    refused = [
        *("", " ", "null", "null}", "null }", "1", '"x"', "[]", "[{}]", "[{}", "[ }", "5}", "}"),
        *(
            "{} x",
            "{}{}",
            "{},{}",
            "{}]x",
            '{},"x":{}',
            "{}]",
            "{}//",
            "{}\0",
            "{}\x0b",
            "{}\u00a0",
        ),
        *("\u00a0{}", "\ufeff{}", "{", '{"a":"x"', '{"a":"x}', '{"a":', '{"a"}', '{"b":1,}', "{,}"),
        *("{'a':1}", "{a:1}", "{1:2}", "{true:2}", '{"q":tru}', '{"q":truefalse}', '{"q":nul1}'),
        *('{"q":NaN}', '{"q":+1}', '{"q":01}', '{"q":.5}', '{"q":1.}', '{"q":1e}', '{"q":0x1}'),
        *('{"q":"\t"}', '{"q":"\\q"}', '{"q":"\\u12G4"}', '{"q":1 2}', '{"q":1 "b":2}', "{/**/}"),
    ]
    return Expected(FLAT, table | dict.fromkeys(refused, NO))


@TOGETHER.clause
def test_strict_utf8_anywhere_in_the_record() -> Expected:
    bad = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf8\x88\x80"]
    table: dict[bytes | str, Any] = {b'{"q":"' + each + b'"}': NO for each in bad}
    table |= {"{}".encode(each): NO for each in ("utf-16-le", "utf-16-be", "utf-32")}
    table |= {
        b"{}\xff": NO,
        b"\xff\xfe{\0}\0": NO,
        '{"\uff21":1,"a":"\ufeff"}': {"a": "\ufeff"},
        '{"a":"\xe9 \U0001f600"}': {"a": "\xe9 \U0001f600"},
    }
    return Expected(FLAT, table)


@TOGETHER.clause
def test_escapes() -> Expected:
    table: dict[bytes | str, Any] = of_field(
        {
            r'"\ud83d\ude00"': "\U0001f600",
            r'"\u0000\b\/\""': '\0\b/"',
            r'"\\ud800"': r"\ud800",
            r'"\ud800"': NO,
            r'"\udc00\ud800"': NO,
            r'"\ud800\\udc00"': NO,
            r'"\uD800x\uDC00"': NO,
        },
        "a",
    )
    table |= {r'{"q":"\udfff"}': NO, r'{"\ud800":1}': NO, r'{"\u0061":"x"}': {"a": "x"}}
    return Expected(FLAT, table)


@TOGETHER.clause
def test_of_repeated_names_the_last_counts() -> Expected:
    ddl = "b INT, n STRUCT<i: INT>, m MAP<STRING, INT>, d DECIMAL(5,2)"
    table: dict[bytes | str, Any] = {
        '{"b":1,"b":2}': {"b": 2},
        '{"b":"x","b":2}': {"b": 2},
        '{"b":[],"b":null}': {},
        '{"b":2,"b":"x"}': NO,
        '{"b":1,"\\u0062":2}': {"b": 2},
        '{"n":{"i":"x","i":3}}': {"n": {"i": 3}},
        '{"n":7,"n":{"i":"x"},"n":{"i":4}}': {"n": {"i": 4}},
        '{"m":{"k":1,"j":null,"k":2}}': {"m": {"k": 2, "j": None}},
        '{"m":{"k":"x","k":2}}': {"m": {"k": 2}},
        '{"d":1.5,"d":1.55}': {"d": Decimal("1.55")},
        '{"d":1.5,"d" : 1.505}': NO,
        '{"d":1.5,"d":"1.5"}': NO,
    }
    return Expected(ddl, table)


@TOGETHER.clause
def test_a_thousand_levels_decode_and_no_more() -> Expected:
    def arrays(count: int) -> str:
        return "[" * count + "]" * count

    def objects(count: int) -> str:
        return '{"k":' * (count - 1) + "{}" + "}" * (count - 1)

    table: dict[bytes | str, Any] = {
        f'{{"b":null,"q":{arrays(999)}}}': {},
        f'{{"q":{arrays(1000)}}}': NO,
        f'{{"b":null,"q":{objects(999)}}}': {},
        f'{{"q":{objects(1000)}}}': NO,
        f'{{"a":{arrays(999)}}}': {"a": arrays(999)},
        f'{{"a":{arrays(1000)}}}': NO,
        f'{{"a":{objects(999)}}}': {"a": objects(999)},
        f'{{"a":{objects(1000)}}}': NO,
    }
    return Expected(FLAT, table)


@TOGETHER.clause
def test_nested_types_likewise() -> Expected:
    ddl = (
        "x STRUCT<a: TINYINT, s: STRING, t: TIMESTAMP, n: STRUCT<d: DOUBLE, b: BINARY>>, "
        "y ARRAY<TIMESTAMP>, m MAP<STRING, STRUCT<a: TINYINT>>, z ARRAY<STRING>"
    )
    empty = {"a": None, "s": None, "t": None, "n": None}
    structs = {
        "{}": empty,
        '{"a":1,"s":1.10,"q":{}}': empty | {"a": 1, "s": "1.10"},
        '{"t":"2013-01-01T05:00:00+19:00"}': empty | {"t": datetime(2012, 12, 31, 10)},
        '{"n":{"d":1e400},"n":{"d":2,"b":"QQ=="}}': empty | {"n": {"d": 2.0, "b": b"A"}},
        **dict.fromkeys(('{"a":128}', '{"t":"x"}', '{"n":{"d":1e400}}', '{"n":{"b":1234}}'), NO),
        **dict.fromkeys(('"{}"', '"{\\"a\\":1}"', "[]", "5", "true"), NO),
    }
    arrays = {
        "[]": [],
        '["2013-01-01T05:00:00Z",null]': [datetime(2013, 1, 1, 5), None],
        **dict.fromkeys(("[1]", '["2013-01-01"]', "{}", '"[]"', "[[]]"), NO),
    }
    maps = {
        "{}": {},
        '{"k":null,"":{}}': {"k": None, "": {"a": None}},
        '{"k":{"a":1},"k":{"a":127}}': {"k": {"a": 127}},
        **dict.fromkeys(('{"k":{"a":128}}', '{"k":1}', "[]"), NO),
    }
    texts = {'["a",1.10,null,{ "a":1.0},[],true]': ["a", "1.10", None, '{"a":1.0}', "[]", "true"]}
    table = of_field(structs) | of_field(arrays, "y") | of_field(maps, "m") | of_field(texts, "z")
    return Expected(ddl, table)


@TOGETHER.clause
def test_decimals_inside_nested_types() -> Expected:
    ddl = "x STRUCT<a: DECIMAL(5,2), s: STRING>, y ARRAY<DECIMAL(3,1)>, b BOOLEAN"
    table = of_field(
        {
            '{"a":1.10,"s":"q"}': {"a": Decimal("1.10"), "s": "q"},
            '{"s":[true,"tr",1e5]}': {"a": None, "s": '[true,"tr",1e5]'},
            **dict.fromkeys(('{"a":"1.1"}', '{"a":1.111}'), NO),
        }
    )
    table |= of_field({"[1.1,null]": [Decimal("1.1"), None], "[1.11]": NO}, "y")
    return Expected(ddl, table | of_field({"true": True, '"true"': NO}, "b"))


def test_ten_megabytes_of_text_decode(spark: SparkSession) -> None:
    text = "x" * 10_000_000
    values = [f'{{"a":"{text}","b":{b}}}'.encode() for b in ("1", '"x"', '"x","b":1')]
    plain, bad, exact = decoded(spark, "a STRING, b INT", values)
    assert plain == exact == {"a": text, "b": 1}
    assert isinstance(bad, Undecodable)


def test_long_names_of_records_do_not_stay_in_memory(spark: SparkSession) -> None:
    """Jackson keeps names for the records to come: it had filled the heap after some hundred."""
    java = spark._jvm.java.lang  # type: ignore[union-attr]
    heap = java.management.ManagementFactory.getMemoryMXBean()

    def used() -> int:
        java.System.gc()
        return int(heap.getHeapMemoryUsage().getUsed())

    def decode(each: str) -> int:
        record = f"""'{{"' || repeat('n', 500000) || {each} || '":{{}},"b":1}}'"""
        values = spark.range(120).selectExpr(f"CAST({record} AS BINARY) AS value")
        fields = T.StructType([T.StructField("b", T.IntegerType())])
        decoding = values.withColumn("d", json_struct(fields, "value"))
        return decoding.where("d.b = 1").count()

    assert decode("'same'") == 120
    before = used()
    assert decode("id") == 120
    assert used() - before < 45_000_000


def test_the_reason_names_what_is_wrong(spark: SparkSession) -> None:
    reasons = {
        b"\xff": "not strict UTF-8: byte 0xff at 0; ISO-8859-1 text?",
        rb'{"a":"\ud800"}': "a lone surrogate escape",
        b"": "not one JSON object: found no bytes",
        b"{}{}": "not one JSON object: found several JSON objects, the second at byte 2",
        b'{"a":"x","b":1.5}': "b: expected INT, found 1.5",
        b'{"b":1,"z2":"y"}': 'z2: expected DOUBLE, found "y"',
    }
    found = decoded(spark, FLAT, list(reasons))
    assert found == [Undecodable(each) for each in reasons.values()]


def test_a_record_is_parsed_once_and_a_filter_does_not_repeat_it(spark: SparkSession) -> None:
    def parses(query: DataFrame) -> int:
        plan = query.select("d.*")._jdf.queryExecution().optimizedPlan().toString()
        return int(plan.count("sluice_json("))

    decoding = decoded_frame(spark, "a STRING, b INT, t TIMESTAMP", [b"{}"])
    assert parses(decoding) == parses(decoding.where("d.`(error)` IS NULL")) == 1


def test_one_decoding_serves_every_pass(spark: SparkSession) -> None:
    """Its expressions are built once, as building them takes longer than a small batch."""
    decoding = json_struct(T.StructType([T.StructField("b", T.ByteType())]), "value").alias("d")
    for text, byte in (('{"b":1}', 1), ('{"b":2,"q":{}}\n', 2), ('{"b":128}', None)):
        records = spark.createDataFrame([(bytearray(text.encode()),)], "value BINARY")
        [row] = records.select(decoding).select("d.*").collect()
        assert (row["b"], row[ERROR] is None) == (byte, byte is not None)
