"""Decodable JSON, clause by clause; then compared with the reference decoder."""

from __future__ import annotations

import json
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from tests import reference_json
from tests.reference_json import Undecodable
from tests.spark.decoding import NONCE, decoded, decoded_frame

pytestmark = pytest.mark.spark

NO = object()  # undecodable
FLAT = "a STRING, b INT, z2 DOUBLE"


def assert_decodes(
    spark: SparkSession, ddl: str, table: dict[bytes | str, Any], unit: str | None = None
) -> None:
    """Every value of the table, in one Spark job; the reference has to agree as well."""
    values = [each.encode() if isinstance(each, str) else each for each in table]
    found = decoded(spark, ddl, values, unit)
    for value, expected, ours in zip(values, table.values(), found, strict=True):
        reference = reference_json.decode(value, ddl, timestamp_unit=unit)
        for who, outcome in (("Spark", ours), ("reference", reference)):
            told = f"{who}: {value[:100]!r} gave {str(outcome)[:200]}"
            if expected is NO:
                assert isinstance(outcome, Undecodable), told
            else:
                assert isinstance(outcome, dict), told
                assert {k: v for k, v in outcome.items() if v is not None} == expected, told


def of_field(values: dict[str, Any], name: str = "x") -> dict[bytes | str, Any]:
    """The table of records `{"x": …}`; None expects a null."""
    return {
        f'{{"{name}":{text}}}': NO if each is NO else {} if each is None else {name: each}
        for text, each in values.items()
    }


def test_a_tombstone_has_neither_fields_nor_error(spark: SparkSession) -> None:
    [row] = decoded_frame(spark, FLAT, [None]).select("d.*").collect()
    assert row.asDict() == {"a": None, "b": None, "z2": None, "_error": None}


def test_fields_keep_their_names_types_and_order(spark: SparkSession) -> None:
    ddl = "Carrier STRING, `dep delay` DOUBLE, n STRUCT<Inner: TINYINT>, t TIMESTAMP"
    struct = decoded_frame(spark, ddl, [b"{}"]).schema["d"].dataType.simpleString()
    assert struct == (
        "struct<Carrier:string,dep delay:double,n:struct<Inner:tinyint>,t:timestamp,_error:string>"
    )


def test_one_object_and_nothing_but_white_space_after_it(spark: SparkSession) -> None:
    table: dict[bytes | str, Any] = {
        "{}": {},
        ' \t\r\n{"b" : 1 } \n\t\r ': {"b": 1},
        '{"a":"}"}': {"a": "}"},
        '{"unknown":[{"deep":{}}],"b":1}': {"b": 1},
        '{"B":1}': {},
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
    assert_decodes(spark, FLAT, table | dict.fromkeys(refused, NO))


def test_what_follows_the_object_cannot_pose_as_the_wrapper(spark: SparkSession) -> None:
    mark = f'{{"{NONCE[:-1]}X":true}}'
    refused = [f"{{}},{mark}]", f"{{}},{mark}", f"[{{}},{mark}]", '{"b":1},{},[', '{"b":[1']
    assert_decodes(spark, "a STRING, b INT", dict.fromkeys(refused, NO))


def test_strict_utf8_anywhere_in_the_record(spark: SparkSession) -> None:
    bad = [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xf8\x88\x80"]
    table: dict[bytes | str, Any] = {b'{"q":"' + each + b'"}': NO for each in bad}
    table |= {
        b"{}\xff": NO,
        b"\xff\xfe{\0}\0": NO,
        '{"a":"\xe9 \U0001f600"}': {"a": "\xe9 \U0001f600"},
    }
    assert_decodes(spark, FLAT, table)


def test_escapes(spark: SparkSession) -> None:
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
    assert_decodes(spark, FLAT, table)


def test_of_repeated_names_the_last_counts(spark: SparkSession) -> None:
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
    assert_decodes(spark, ddl, table)


def test_a_thousand_levels_decode_and_no_more(spark: SparkSession) -> None:
    def arrays(count: int) -> str:
        return "[" * count + "]" * count

    def objects(count: int) -> str:
        return '{"k":' * (count - 1) + "{}" + "}" * (count - 1)

    table: dict[bytes | str, Any] = {
        f'{{"q":{arrays(999)}}}': {},
        f'{{"q":{arrays(1000)}}}': NO,
        f'{{"q":{objects(999)}}}': {},
        f'{{"q":{objects(1000)}}}': NO,
        f'{{"a":{arrays(999)}}}': {"a": arrays(999)},
        f'{{"a":{arrays(1000)}}}': NO,
        f'{{"a":{objects(999)}}}': {"a": objects(999)},
        f'{{"a":{objects(1000)}}}': NO,
    }
    assert_decodes(spark, FLAT, table)


def test_integers_in_range_without_fraction_or_exponent(spark: SparkSession) -> None:
    ddl = "t TINYINT, s SMALLINT, i INT, l BIGINT"
    table: dict[bytes | str, Any] = {}
    for name, bits in (("t", 8), ("s", 16), ("i", 32), ("l", 64)):
        top = 2 ** (bits - 1)
        inside: dict[str, Any] = {str(each): each for each in (top - 1, -top, 0)}
        outside = [str(top), str(-top - 1), str(2 * top - 1), "9" * 2000]
        other = ["1.0", "1e0", '"1"', '""', "true", "[]", "{}"]
        table |= of_field(inside | {"-0": 0} | dict.fromkeys(outside + other, NO), name)
    assert_decodes(spark, ddl, table)


def test_doubles_and_floats_are_the_nearest_finite_value(spark: SparkSession) -> None:
    doubles: dict[str, Any] = {
        **{text: float(text) for text in ("0.1", "1", "-0.0", "1e-5", "4.9e-324", "2e-324")},
        **{text: float(text) for text in ("1.7976931348623157e308", "9007199254740993", "9" * 300)},
        "9007199254740993.0000001": 9007199254740994.0,
        "0." + "9" * 2000: 1.0,
        **dict.fromkeys(
            ("1.7976931348623159e308", "1e400", "-1e999", "9" * 400, '"1"', "true"), NO
        ),
        **dict.fromkeys(('"NaN"', "NaN", "Infinity", '"Infinity"', '""'), NO),
    }
    floats: dict[str, Any] = {
        "16777217": 16777216.0,
        "16777217.0000000001": 16777218.0,
        "3.4028235e38": 3.4028234663852886e38,
        **dict.fromkeys(("3.5e38", "-1e39", '"1"'), NO),
    }
    assert_decodes(spark, "d DOUBLE, f FLOAT", of_field(doubles, "d") | of_field(floats, "f"))


def test_decimals_are_exact(spark: SparkSession) -> None:
    same = {
        text: Decimal(text) for text in ("1", "1.5", "1.50", "-1.25", "0", "99999999.99", "1e2")
    }
    exact = {
        "1.5" + "0" * 60: "1.5",
        "100e-3": "0.1",
        "-0": "0",
        "0e99999999999": "0",
        "1E+2": "100",
    }
    exact["1" + "0" * 2000 + "e-2000"] = "1"
    inexact = ["1.505", "1e-3", "123456789.12", "100000000", "1e400", "1.00" + "0" * 60 + "1"]
    other = ['"1.5"', "true", "[]", "1e99999999999"]
    values: dict[str, Any] = same | {text: Decimal(each) for text, each in exact.items()}
    assert_decodes(spark, "x DECIMAL(10,2)", of_field(values | dict.fromkeys(inexact + other, NO)))
    limits = {
        "9" * 38: Decimal("9" * 38),
        "9" * 39: NO,
        "1e37": Decimal("1e37"),
        "1e38": NO,
        "0.5": NO,
    }
    assert_decodes(spark, "x DECIMAL(38,0)", of_field(limits))


def test_decimals_beside_their_own_name_as_text(spark: SparkSession) -> None:
    table: dict[bytes | str, Any] = {
        '{"x":1.5,"y":"x"}': {"x": Decimal("1.5"), "y": "x"},
        '{"y":"x","x" : 1.5 }': {"x": Decimal("1.5"), "y": "x"},
        '{"y":"\\"x\\":2,","x":1.5}': {"x": Decimal("1.5"), "y": '"x":2,'},
        '{"x":1.5,"o":{"x":2}}': {"x": Decimal("1.5")},
        '{"x":1.5,"o":["x",2]}': {"x": Decimal("1.5")},
    }
    assert_decodes(spark, "x DECIMAL(10,2), y STRING", table)


def test_booleans(spark: SparkSession) -> None:
    values = {"true": True, "false": False, "null": None, '"true"': NO, "1": NO, "0": NO, "[]": NO}
    assert_decodes(spark, "x BOOLEAN", of_field(values))


def test_strings_are_json_strings_or_the_json_text_of_the_value(spark: SparkSession) -> None:
    as_written = ["1.10", "1e5", "-0", "1E400", "12345678901234567890123", "true", "9" * 3000]
    values: dict[str, Any] = {text: text for text in as_written}
    values |= {
        **{f'"{text}"': text for text in ("1.1", "1.0E10", "0", "{}", "[1.10]", "Infinity", "")},
        r'"\"Infinity\""': '"Infinity"',
        "null": None,
        r'{ "x" : 1.10, "y": [ true , {}, "\u0001\u00e9\/" ], "x": 2 }': (
            '{"x":1.10,"y":[true,{},"\\u0001\xe9/"],"x":2}'
        ),
    }
    assert_decodes(spark, "x STRING", of_field(values))


DATES = {
    '"2013-01-01"': date(2013, 1, 1),
    '"2012-02-29"': date(2012, 2, 29),
    '"0001-01-01"': date(1, 1, 1),
    '"1582-10-10"': date(1582, 10, 10),
    '"9999-12-31"': date(9999, 12, 31),
}
NO_DATES = [
    *(
        '"2013-02-29"',
        '"2013-02-30"',
        '"2013-04-31"',
        '"1900-02-29"',
        '"0000-01-01"',
        '"2013-00-01"',
    ),
    *(
        '"2013-1-1"',
        '" 2013-01-01"',
        '"2013-01-01\\n"',
        '"+2013-01-01"',
        '"12013-01-01"',
        '"epoch"',
    ),
    *('""', "20130101", "true", "[]", "{}", '"\u0662\u0660\u0661\u0663-01-01"', '"2013-13-01"'),
]


def test_dates_are_full_dates_that_exist(spark: SparkSession) -> None:
    refused = dict.fromkeys([*NO_DATES, '"2013-01-01T00:00:00Z"'], NO)
    assert_decodes(spark, "x DATE", of_field(DATES | refused))


def test_timestamps_are_rfc_3339(spark: SparkSession) -> None:
    five = datetime(2013, 1, 1, 5)
    good = {
        **dict.fromkeys(
            ("2013-01-01T05:00:00Z", "2013-01-01t05:00:00z", "2013-01-01 05:00:00"), five
        ),
        **dict.fromkeys(("2013-01-01T05:00:00", "2013-01-01T05:00:00-00:00"), five),
        "2013-01-01T05:00:00.1Z": datetime(2013, 1, 1, 5, 0, 0, 100000),
        "2013-01-01T05:00:00.1234569": datetime(2013, 1, 1, 5, 0, 0, 123456),
        "1969-12-31T23:59:59.9999999": datetime(1969, 12, 31, 23, 59, 59, 999999),
        "2013-01-01T05:00:00+05:30": datetime(2012, 12, 31, 23, 30),
        "2013-01-01T05:00:00.5-23:59": datetime(2013, 1, 2, 4, 59, 0, 500000),
        "0001-01-01T05:00:00+05:00": datetime(1, 1, 1),
        "9999-12-31T23:59:59.999999Z": datetime(9999, 12, 31, 23, 59, 59, 999999),
    }
    bad = [
        *("2013-01-01T05:00:60Z", "2013-01-01T24:00:00Z", "2013-01-01T05:60:00Z", "2013-01-01"),
        *(
            "2013-02-30T05:00:00Z",
            "2013-01-01T5:00:00Z",
            "2013-01-01T05:00",
            "2013-01-01T05:00:00.",
        ),
        *("2013-01-01T05:00:00+24:00", "2013-01-01T05:00:00+05:60", "2013-01-01T05:00:00+0530"),
        *("2013-01-01T05:00:00 Z", "2013-01-01T05:00:00ZZ", "2013-01-01T05:00:00 UTC", "now"),
        *("2013-01-01T05:00:00Europe/Paris", "2013-01-01X05:00:00Z", "0000-12-31T23:00:00-05:00"),
        *("0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "T05:00:00", "1357016400"),
    ]
    values: dict[str, Any] = {f'"{text}"': each for text, each in good.items()}
    refused = [*NO_DATES, *(f'"{text}"' for text in bad), "1357016400", "1357016400.5"]
    assert_decodes(spark, "x TIMESTAMP", of_field(values | dict.fromkeys(refused, NO)))


@pytest.mark.parametrize(("unit", "places"), [("s", 0), ("ms", 3), ("us", 6)])
def test_timestamps_in_numbers_where_the_spec_names_the_unit(
    spark: SparkSession, unit: str, places: int
) -> None:
    zeros, at = "0" * places, datetime(2013, 1, 1, 5)
    values: dict[str, Any] = {
        f"1357016400{zeros}": at,
        f"1357016400{zeros}.0": at,
        f"1.3570164e{9 + places}": at,
        f"-1{zeros}": datetime(1969, 12, 31, 23, 59, 59),
        "0": datetime(1970, 1, 1),
        "0e99999999999": datetime(1970, 1, 1),
        "1e-99999999999": datetime(1970, 1, 1),
        f"1357016400123456{'9' * 40}e-{46 - places}": at.replace(microsecond=123456),
        f"-62135596800{zeros}": datetime(1, 1, 1),
        f"253402300799{zeros}": datetime(9999, 12, 31, 23, 59, 59),
        '"2013-01-01T05:00:00Z"': at,
    }
    outside = [f"-62135596801{zeros}", f"253402300800{zeros}", "1e99999999999", "9" * 30]
    refused = dict.fromkeys([*outside, '"1357016400"', "true", "[]"], NO)
    assert_decodes(spark, "x TIMESTAMP", of_field(values | refused), unit)


def test_binary_is_base64_text(spark: SparkSession) -> None:
    good = {'""': b"", '"QQ=="': b"A", '"QUI="': b"AB", '"QUJD"': b"ABC", '"+/+/"': b"\xfb\xff\xbf"}
    good |= {'"1234"': b"\xd7m\xf8", '"true"': b"\xb6\xbb\x9e", r'"\u0051Q=="': b"A"}
    refused = [
        '"QQ"',
        '"Q=="',
        '"QQ==QQ=="',
        r'"QUJD\n"',
        '"QU JD"',
        '"_-__"',
        "1234",
        "true",
        "[]",
    ]
    assert_decodes(spark, "x BINARY", of_field(good | dict.fromkeys(refused, NO)))


def test_nested_types_likewise(spark: SparkSession) -> None:
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
    assert_decodes(spark, ddl, table)


def test_decimals_inside_nested_types(spark: SparkSession) -> None:
    ddl = "x STRUCT<a: DECIMAL(5,2), s: STRING>, y ARRAY<DECIMAL(3,1)>, b BOOLEAN"
    table = of_field(
        {
            '{"a":1.10,"s":"q"}': {"a": Decimal("1.10"), "s": "q"},
            '{"s":[true,"tr",1e5]}': {"a": None, "s": '[true,"tr",1e5]'},
            **dict.fromkeys(('{"a":"1.1"}', '{"a":1.111}'), NO),
        }
    )
    table |= of_field({"[1.1,null]": [Decimal("1.1"), None], "[1.11]": NO}, "y")
    assert_decodes(spark, ddl, table | of_field({"true": True, '"true"': NO}, "b"))


def test_ten_megabytes_of_text_decode(spark: SparkSession) -> None:
    text = "x" * 10_000_000
    values = [f'{{"a":"{text}","b":{b}}}'.encode() for b in ("1", '"x"', '"x","b":1')]
    plain, bad, exact = decoded(spark, "a STRING, b INT", values)
    assert plain == exact == {"a": text, "b": 1}
    assert isinstance(bad, Undecodable)


def test_the_reason_names_what_is_wrong(spark: SparkSession) -> None:
    reasons = {
        b"\xff": "not strict UTF-8",
        rb'{"a":"\ud800"}': "a lone surrogate escape",
        b"": "not one JSON object",
        b"{}{}": "not one JSON object",
        b'{"a":"x","b":1.5}': "b: not a INT",
        b'{"b":1,"z2":"y"}': "z2: not a DOUBLE",
    }
    found = decoded(spark, FLAT, list(reasons))
    assert found == [Undecodable(each) for each in reasons.values()]


def test_the_quick_reading_errs_on_one_side_only(spark: SparkSession) -> None:
    values = [b'{"b":1}', b'{"a":1.10}', b'{"a":"\\u0041"}', b"x", b'{"b":"x"}', b'{"z2":1e999}']
    fields = decoded_frame(spark, FLAT, values)
    assert [isinstance(each, Undecodable) for each in decoded(spark, FLAT, values)] == [
        *(False, False, False, True, True, True)
    ]
    assert fields.columns == ["place", "value", "d"]


def test_an_ordinary_schema_is_parsed_once(spark: SparkSession) -> None:
    frame = decoded_frame(spark, "a STRING, b INT, t TIMESTAMP", [b"{}"])
    plan = frame.select("d.*")._jdf.queryExecution().optimizedPlan().toString()
    natively = [line for line in plan.splitlines() if "from_json(StructField" in line]
    assert len(natively) == 1, plan


# --- compared with the reference ------------------------------------------------------------------

PROPERTY_DDL = (
    "a STRING, b INT, c BIGINT, d DOUBLE, e BOOLEAN, f FLOAT, g TIMESTAMP, h DATE, i BINARY, "
    "j TINYINT, k DECIMAL(6,2), m MAP<STRING, INT>, n STRUCT<a: STRING, b: INT>, o ARRAY<STRING>"
)
NAMES = [*"abcdefghijkmno", "x", "\xe9", "_error", "aa", ""]
_scalars = st.one_of(
    st.none().map(json.dumps),
    st.booleans().map(json.dumps),
    st.integers(-(2**70), 2**70).map(str),
    st.integers(-200, 300).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.decimals(-1000, 1000, places=2, allow_nan=False).map(str),
    st.from_regex(r"-?(0|[1-9][0-9]{0,4})(\.[0-9]{1,4})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.text(max_size=8).map(json.dumps),
    st.text(max_size=8).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.datetimes().map(lambda at: json.dumps(at.isoformat())),
    st.dates().map(lambda day: json.dumps(day.isoformat())),
    st.sampled_from(['"2013-01-01T05:00:00Z"', '"QUI="', '"1.5"', '"{}"', '"\\ud800"', "-0", "0"]),
)
_space = st.sampled_from(["", "", "", " ", "\n"])
_names = st.sampled_from(NAMES)


def _arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(values, max_size=3).map(lambda each: f"[{','.join(each)}]")


def _objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    members = st.builds(
        lambda name, before, after, value: f"{json.dumps(name)}{before}:{after}{value}",
        *(_names, _space, _space, values),
    )
    return st.lists(members, max_size=4).map(lambda each: "{" + ",".join(each) + "}")


_values = st.recursive(_scalars, lambda inner: _arrays(inner) | _objects(inner), max_leaves=6)
_trailers = st.sampled_from(
    [
        *(" ", "\n", "x", "}", "]", ",", "{}", ",{}", "]x", ',"a":1}', "\0", "//", "\ufeff"),
        f',{{"{NONCE[1:]}":true}}]',
    ]
)


@st.composite
def _records(draw: st.DrawFn) -> bytes:
    text = draw(_objects(_values) | _objects(_scalars) | _values)
    record = text.encode("utf-8", "surrogatepass")
    how = draw(st.sampled_from(["valid"] * 4 + ["cut", "byte", "delete", "trailer", "leader"]))
    at = draw(st.integers(0, max(len(record) - 1, 0)))
    match how:
        case "cut":
            return record[:at]
        case "byte":
            byte = draw(st.sampled_from(b'{}[]:,"\\ 01-.eEtn\x00\xff\xe9') | st.integers(0, 255))
            return record[:at] + bytes([byte]) + record[at + 1 :]
        case "delete":
            return record[:at] + record[at + 1 :]
        case "trailer":
            return record + draw(_trailers).encode()
        case "leader":
            return draw(st.sampled_from(["\ufeff", "[", " ", ",", "{}", "//\n"])).encode() + record
        case _:
            return record


@settings(
    max_examples=6,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
)
@given(records=st.lists(_records(), min_size=150, max_size=400))
def test_spark_decodes_as_the_reference_does(spark: SparkSession, records: list[bytes]) -> None:
    found = decoded(spark, PROPERTY_DDL, records)
    for record, ours in zip(records, found, strict=True):
        reference = reference_json.decode(record, PROPERTY_DDL)
        if isinstance(reference, Undecodable):
            assert isinstance(ours, Undecodable), record
        else:
            assert ours == reference, record
