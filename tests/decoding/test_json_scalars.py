"""Decodable JSON, clause by clause: every scalar type."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.decoding.decoding_table import NO, Expected, Together, of_field

pytestmark = pytest.mark.spark
TOGETHER = Together()


@TOGETHER.clause
def test_integers_in_range_without_fraction_or_exponent() -> Expected:
    ddl = "t TINYINT, s SMALLINT, i INT, l BIGINT"
    table: dict[bytes | str, Any] = {}
    for name, bits in (("t", 8), ("s", 16), ("i", 32), ("l", 64)):
        top = 2 ** (bits - 1)
        inside: dict[str, Any] = {str(each): each for each in (top - 1, -top, 0)}
        outside = [str(top), str(-top - 1), str(2 * top - 1), "9" * 2000]
        other = ["1.0", "1e0", '"1"', '""', "true", "[]", "{}"]
        table |= of_field(inside | {"-0": 0} | dict.fromkeys(outside + other, NO), name)
    return Expected(ddl, table)


@TOGETHER.clause
def test_doubles_and_floats_are_the_nearest_finite_value() -> Expected:
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
    return Expected("d DOUBLE, f FLOAT", of_field(doubles, "d") | of_field(floats, "f"))


@TOGETHER.clause
def test_decimals_are_exact() -> Expected:
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
    table = of_field(values | dict.fromkeys(inexact + other, NO))
    return Expected("x DECIMAL(10,2)", table)


@TOGETHER.clause
def test_decimals_of_all_their_digits_are_exact() -> Expected:
    limits = {
        "9" * 38: Decimal("9" * 38),
        "9" * 39: NO,
        "1e37": Decimal("1e37"),
        "1e38": NO,
        "0.5": NO,
    }
    return Expected("x DECIMAL(38,0)", of_field(limits))


@TOGETHER.clause
def test_decimals_beside_their_own_name_as_text() -> Expected:
    table: dict[bytes | str, Any] = {
        '{"x":1.5,"y":"x"}': {"x": Decimal("1.5"), "y": "x"},
        '{"y":"x","x" : 1.5 }': {"x": Decimal("1.5"), "y": "x"},
        '{"y":"\\"x\\":2,","x":1.5}': {"x": Decimal("1.5"), "y": '"x":2,'},
        '{"x":1.5,"o":{"x":2}}': {"x": Decimal("1.5")},
        '{"x":1.5,"o":["x",2]}': {"x": Decimal("1.5")},
    }
    return Expected("x DECIMAL(10,2), y STRING", table)


@TOGETHER.clause
def test_booleans() -> Expected:
    values = {"true": True, "false": False, "null": None, '"true"': NO, "1": NO, "0": NO, "[]": NO}
    return Expected("x BOOLEAN", of_field(values))


@TOGETHER.clause
def test_strings_are_json_strings_or_the_json_text_of_the_value() -> Expected:
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
    return Expected("x STRING", of_field(values))


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


@TOGETHER.clause
def test_dates_are_full_dates_that_exist() -> Expected:
    refused = dict.fromkeys([*NO_DATES, '"2013-01-01T00:00:00Z"'], NO)
    return Expected("x DATE", of_field(DATES | refused))


@TOGETHER.clause
def test_timestamps_are_rfc_3339() -> Expected:
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
    return Expected("x TIMESTAMP", of_field(values | dict.fromkeys(refused, NO)))


def in_numbers(unit: str, places: int) -> Expected:
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
        # Between two microseconds it is the earlier, before 1970 too.
        f"-1{zeros}.{'0' * (6 - places)}5": datetime(1969, 12, 31, 23, 59, 58, 999999),
        f"-1{'9' * 20}e-{26 - places}": datetime(1969, 12, 31, 23, 59, 59, 999998),
        "-1e-99999999999": datetime(1969, 12, 31, 23, 59, 59, 999999),
        f"-62135596800{zeros}": datetime(1, 1, 1),
        f"253402300799{zeros}": datetime(9999, 12, 31, 23, 59, 59),
        '"2013-01-01T05:00:00Z"': at,
    }
    outside = [f"-62135596801{zeros}", f"253402300800{zeros}", "1e99999999999", "9" * 30]
    outside.append(f"-62135596800{zeros}.{'0' * (6 - places)}1")
    refused = dict.fromkeys([*outside, '"1357016400"', "true", "[]"], NO)
    return Expected("x TIMESTAMP", of_field(values | refused), unit)


IN_NUMBERS = {
    unit: TOGETHER.add(in_numbers(unit, places))
    for unit, places in (("s", 0), ("ms", 3), ("us", 6))
}


@pytest.mark.parametrize("unit", IN_NUMBERS)
def test_timestamps_in_numbers_where_the_spec_names_the_unit(
    spark: SparkSession, unit: str
) -> None:
    IN_NUMBERS[unit](spark)


@TOGETHER.clause
def test_binary_is_base64_text() -> Expected:
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
    return Expected("x BINARY", of_field(good | dict.fromkeys(refused, NO)))
