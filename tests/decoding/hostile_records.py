"""Records whose fields are as bad as they can be, in any combination."""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sluice.columns.columns import Array, Column, ColumnType, Primitive, parse_columns
from sluice.lake.decoding.column_types import struct_type

COLUMNS = parse_columns(
    "t STRING, u STRING, bin BINARY, ok BOOLEAN, i8 TINYINT, i16 SMALLINT, i INT, j BIGINT,"
    " f FLOAT, d DOUBLE, e DOUBLE, c DECIMAL(10,2), big DECIMAL(38,0), fine DECIMAL(38,38),"
    " day DATE, late DATE, ts TIMESTAMP, ta ARRAY<STRING>, ia ARRAY<INT>, m MAP<STRING, INT>,"
    " s STRUCT<x: INT, y: STRUCT<z: STRING>>, h ARRAY<STRUCT<key: STRING, value: BINARY>>,"
    " v VARIANT, va ARRAY<VARIANT>"
)
TEXTS: list[Any] = [
    *(None, "", " ", "\0", "a", "ß", "İstanbul", "x" * 70_000, "🙂" * 300, "e\u0301", "\ufffd"),
    *("1", "-0", "1e999", "NaN", "Infinity", "-1e-400", "9" * 400, "9223372036854775808", "0x1F"),
    *("2026-01-31", "2026-02-30", "+999999-01-01", "-0001-01-01", "5881580-07-11", "epoch", "now"),
    *("2026-01-31T06:00:00Z", "2026-01-31 25:61:61", "294247-01-10T04:00:54.775807Z", "24:00"),
    *("2026-01-31T06:00:00+18:01", "2026-01-31T06:00:00 Europe/Nowhere", "true", "null", "%", "\\"),
    *('{"a": 1}', '{"a": {"b": [1, 2]}}', "[" * 3000, '{"a": ' + "9" * 2000 + "}", "{", '"', "{'a"),
    *('{"a":' * each + "1" + "}" * each for each in (500, 501, 1000, 1001, 1500)),
    *('"\0', "\0\0\0[", "[\0", "\0\0\xfe\xff", '{"a":1}\n{"a":2}'),
    *(
        '{"a": "\\ud800"}',
        '{"a": 1, "a": 2} x',
        '{"a": {"b": ["\\ud800"]}}',
        '[{"a": 1e999999999}]',
    ),
    *("22:13", "T9:1Z", "+999999999-01-01", "-999999999-12-31", "0000-01-01", "9999-12-31T23-18"),
    *("YQ==", "YQ", "a", "=", "YWI=YWI=", "Y\nWI=", "-_8=", "abc", "zz", "A" * 70_000),
]
# Every text as a text of JSON, numbers at the ends of what Spark has for them, and what
# is as deep as a VARIANT can be: records and try_parse_json make none of more levels.
ANY = [
    *(json.dumps(each) for each in TEXTS if each is not None),
    *("null", "true", "false", "0", "-0.0", "1.10", "2023", "127", "128", "9223372036854775807"),
    *("-9223372036854775808", "9223372036854775808", "9" * 38, "9" * 39, "-" + "9" * 999),
    *("0." + "9" * 38, "1e38", "1e308", "-1e309", "1e999999999", "1e-999999999", "0." + "0" * 900),
    *("[]", "{}", "[[]]", '{"": {"": null}}', '{"a": 1, "A": "x", "a.b": [true], "*": [{}]}'),
    *('{"a": {"b": [1, "2", null, 3e300, {"c": []}]}}', '[{"a": "22:13"}, {"b": 1e400}, null]'),
    *('{"key": "a", "value": "eA=="}', '{"x": "7", "y": {"z": [1.50]}}', '[null, "\\u0000", -0]'),
    *(
        '{"a":' * 500 + "1" + "}" * 500,
        "[" * 500 + "]" * 500,
        '[{"a":' * 250 + "1" + "}]" * 250,
    ),
    json.dumps([{f"k{n}": n} for n in range(3000)]),
    json.dumps({f"k{n}": [n] for n in range(3000)}),
]
WHOLE = {"i8": 8, "i16": 16, "i": 32, "j": 64}
# The first and last seconds, parts of seconds and days that columns hold, and those beyond.
EDGES = [
    *(-62_135_596_800, -62_135_596_801, 253_402_300_799, 253_402_300_800),
    *(-62_135_596_800_000, -62_135_596_800_001, 253_402_300_799_999, 253_402_300_800_000),
    *(-62_135_596_800_000_000, 253_402_300_799_999_999, 253_402_300_800_000_000),
    *(-719_162, -719_163, 2_932_896, 2_932_897),
]
POINTS = [None, 0.0, -0.0, 1.5, -1.0, float("nan"), float("inf"), float("-inf"), 5e-324]
DAYS = [None, date(1, 1, 1), date(1, 1, 7), date(9999, 12, 31), date(1970, 1, 1), date(2024, 2, 29)]
MOMENTS = [
    None,
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2024, 2, 29, 12, tzinfo=UTC),
]
BYTES = [None, b"", b"\xff\xfe", b"\xed\xa0\x80", b"abc", b"\x00", bytes(range(256)) * 40]
BYTES += [
    b"\xd8\x00",
    b"\x00\xd8",
    b"\xd8\x3d\xde\x00",
    b"\xdc\x00\x00a",
    b"\xfe\xff\x00a",
    b"\xfe\xff\xd8",
]
VALUES: dict[str, list[Any]] = {
    "t": TEXTS,
    "u": TEXTS,
    "bin": BYTES,
    "ok": [None, True, False],
    **{n: [None, 0, 1, -1, 2 ** (b - 1) - 1, -(2 ** (b - 1))] for n, b in WHOLE.items()},
    "i": [None, 0, 1, -1, 2**31 - 1, -(2**31), *EDGES[-4:]],
    "j": [None, 0, 1, -1, 2**63 - 1, -(2**63), *EDGES],
    "f": [*POINTS, 3.4028234663852886e38],
    "d": [*POINTS, 1.7e308, 253402300800.0, 253402300799.99997, -62135596800.1],
    "e": [*POINTS, -1.7e308],
    "c": [None, Decimal("0.00"), Decimal("-99999999.99"), Decimal("99999999.99")],
    "big": [None, Decimal(0), Decimal("9" * 38), Decimal("-" + "9" * 38), *map(Decimal, EDGES)],
    "fine": [None, Decimal(0), Decimal("0." + "9" * 38), Decimal("-0." + "9" * 38)],
    "day": DAYS,
    "late": DAYS,
    "ts": MOMENTS,
    "_timestamp": MOMENTS,
    "ta": [None, [], [None], ["a", None, "x" * 70_000], ["", "\0"]],
    "ia": [None, [], [None], [2**31 - 1, None, -(2**31)]],
    "m": [None, {}, {"": 1}, {"a": None, "\0": 2}],
    "s": [None, (None, None), (1, (None,)), (1, ("a",))],
    "v": [None, *ANY],
    "va": [
        None,
        [],
        [None],
        *([one, None, other] for one, other in zip(ANY, ANY[9:], strict=False)),
    ],
    "h": [None, [], [(None, None)], [("a", b"\xff"), ("a", b"1")], [("", b"")]],
}
ROWS = 400
# Python has no VARIANT, so Spark makes it.
AS_TEXTS: dict[str, ColumnType] = {
    "VARIANT": Primitive("STRING"),
    "ARRAY<VARIANT>": Array(Primitive("STRING")),
}


def hostile_records(spark: SparkSession) -> DataFrame:
    pick = random.Random(7)
    known = [*COLUMNS, *parse_columns("_timestamp TIMESTAMP")]
    rows = [tuple(pick.choice(VALUES[each.name]) for each in known) for _ in range(ROWS)]
    texts = [Column(each.name, AS_TEXTS.get(str(each.type), each.type)) for each in known]
    made = spark.createDataFrame(rows, struct_type(texts)).withColumns(
        {"v": F.parse_json("v"), "va": F.transform("va", F.parse_json)}
    )
    assert made.schema.simpleString() == struct_type(known).simpleString()
    made = made.localCheckpoint()
    # Beyond what Python can make: Kafka's timestamp may be any number.
    beyond = F.when(F.rand(7) < 0.3, F.timestamp_micros(F.lit(2**63 - 1)))
    return made.withColumn("_timestamp", F.coalesce(beyond, "_timestamp")).localCheckpoint()
