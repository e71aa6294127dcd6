"""Every expression that a spec may have gives an answer for every record, and always the same."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from sluice.columns.columns import Column
from sluice.derived.allowed_functions import FUNCTIONS, Function
from sluice.derived.derived_columns import DerivedColumn, derived_columns
from sluice.derived.typed import Typed
from sluice.lake.decoding.column_types import struct_type

from tests.decoding.hostile_records import COLUMNS, hostile_records

pytestmark = pytest.mark.spark

# What stands where a function asks for a written value, and for what no column is.
WRITTEN = [
    *("0", "1", "-1", "2", "15", "224", "256", "512", "1000", "-1000", "2147483647", "1000000000"),
    *("-1000000000", "''", "'a'", "'YEAR'", "'WEEK'", "'MONTH'", "'SECOND'", "'0123456789abcdef'"),
    *("'yyyy-MM-dd'", "\"yyyyMMdd'T'HHmmss.SSSSSS\"", "'$'", "'$.a.b[0]'", "'🙂'"),
    *("'UTF-8'", "'UTF-16'", "'utf-16le'", "'UTF-16BE'", "'us-ascii'", "'ISO-8859-1'", "'base64'"),
    *(
        "'hex'",
        "'d MMM yyyy HH:mm:ss XX'",
        "'yyyy-MM-dd HH:mm:ss.SSSSSSXXX'",
        "'M/d/yyyy'",
        "'yyyy'",
    ),
    *(
        "\"$['a'][*]\"",
        "'$.a[*].b'",
        "'$.a[*][*]'",
        "'$[999999999]'",
        "'$.a.b[0]" + ".c" * 1500 + "'",
    ),
    *("'DOUBLE'", "'STRUCT<a: INT, b: VARIANT>'"),
    "CAST(bin AS STRING)",
]
# More columns than a hundred would be computed another way than a spec's few are.
AT_ONCE, MOST = 90, 250


@pytest.fixture(scope="module")
def hostile(spark: SparkSession) -> DataFrame:
    return hostile_records(spark)


def accepted(texts: Iterator[str], most: int | None = None) -> list[DerivedColumn]:
    """Those of some expressions that a spec may have: the first ones, if only so many are asked."""
    found: list[DerivedColumn] = []
    for text in texts:
        if len(found) == most:
            break
        try:
            found += derived_columns({f"c{len(found)}": text}, COLUMNS)
        except ValueError:
            continue
    return found


def calls(name: str, function: Function) -> Iterator[str]:
    """Calls of a function with all columns and written values, as far as they may be its own."""
    columns = {each.name: each.type for each in COLUMNS}
    more = function.optional or ((function.more,) if function.more else ())
    for kinds in (function.takes, (*function.takes, *more)):
        options = []
        for kind in kinds:
            fitting = [n for n, type in columns.items() if kind.fits(Typed(n, type))]
            options.append([*fitting, *WRITTEN])
        arguments = list(itertools.product(*options))
        random.Random(name).shuffle(arguments)
        yield from (f"{name}({', '.join(each)})" for each in arguments)


def answers(hostile: DataFrame, found: list[DerivedColumn]) -> None:
    """Spark has the type that was expected, an answer for every record, and always the same."""
    for start in range(0, len(found), AT_ONCE):
        part = found[start : start + AT_ONCE]
        rows = hostile.select(*(F.expr(each.sql).alias(each.name) for each in part))
        wanted = struct_type(Column(each.name, each.type) for each in part)
        differing = [
            f"{each.written}: expected {mine.dataType}, found {its.dataType}"
            for each, mine, its in zip(part, wanted, rows.schema, strict=True)
            if mine.dataType.simpleString() != its.dataType.simpleString()
        ]
        assert differing == []
        assert rows._jdf.queryExecution().analyzed().deterministic()
        try:
            rows.write.format("noop").mode("overwrite").save()
        except Exception:
            for each in part:
                try:
                    hostile.select(F.expr(each.sql)).write.format("noop").mode("overwrite").save()
                except Exception as problem:
                    raise AssertionError(f"{each.written}: {str(problem)[:500]}") from None
            raise


def test_spark_knows_each_function(spark: SparkSession) -> None:
    known = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    assert {*FUNCTIONS, "filter", "exists", "from_json"} - known == set()


@pytest.mark.parametrize("part", range(6))
def test_a_function_has_an_answer_for_every_record(hostile: DataFrame, part: int) -> None:
    found: list[DerivedColumn] = []
    for name in sorted(FUNCTIONS)[part::6]:
        mine = accepted(itertools.islice(calls(name, FUNCTIONS[name]), 20 * MOST), MOST)
        assert mine, f"{name}: no call of it is accepted"
        found += mine
    answers(hostile, found)


READ = [
    *("STRING", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "VARIANT"),
    *("DECIMAL(3,3)", "DECIMAL(10,2)", "DECIMAL(38,0)", "DECIMAL(38,38)", "ARRAY<STRING>"),
    *("ARRAY<ARRAY<FLOAT>>", "ARRAY<VARIANT>", "MAP<STRING, STRING>", "MAP<STRING, VARIANT>"),
    *("MAP<STRING, ARRAY<DECIMAL(38,10)>>", "STRUCT<a: STRUCT<b: ARRAY<INT>>, B: STRING>"),
    *("ARRAY<STRUCT<a: BOOLEAN, b: VARIANT>>", "STRUCT<x: TINYINT, y: MAP<STRING, DOUBLE>>"),
]
PATHS = [
    *("'$'", "'$.a'", "'$[0]'", "'$[2].a'", "'$.a.b[3]'", "\"$['a.b']\"", "'$[\"*\"][0]'"),
    *(
        "\"$[''].x\"",
        "'$[999999999]'",
        f"'${'.a' * 999}'",
        f"'${'.a' * 1001}'",
        f"'${'[0]' * 999}'",
    ),
]


def variants() -> Iterator[str]:
    for source in ("v", "try_parse_json(t)"):
        for path, kind in itertools.product(PATHS, READ):
            yield f"try_variant_get({source}, {path}, '{kind}')"
    more = [
        "v",
        "get(va, 0)",
        "coalesce(get(va, 2), v)",
        "if(ok, v, NULL)",
        "nvl2(v, v, get(va, 1))",
    ]
    more += ["try_parse_json(to_json(v))", "CASE WHEN ok THEN v ELSE get(va, 0) END"]
    more += ["try_variant_get(v, '$', 'STRUCT<a: VARIANT>').a"]
    for source in more:
        yield from (source, f"to_json({source})", f"is_variant_null({source})", f"{source} IS NULL")
        yield f"try_variant_get({source}, '$.a', 'STRING')"
    yield "filter(va, x -> NOT is_variant_null(x) AND try_variant_get(x, '$', 'INT') > 3)"


def test_a_variant_has_an_answer_for_every_record(hostile: DataFrame) -> None:
    found = accepted(variants())
    assert [each.written for each in found] == [*variants()]
    answers(hostile, found)


def casts() -> Iterator[str]:
    kinds = ["STRING", "BINARY", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT"]
    kinds += [
        "DOUBLE",
        "DATE",
        "TIMESTAMP",
        "DECIMAL(10,2)",
        "DECIMAL(38,0)",
        "DECIMAL(38,38)",
        "DECIMAL(3,3)",
    ]
    for column, kind in itertools.product([each.name for each in COLUMNS], kinds):
        yield f"CAST({column} AS {kind})"
        yield f"try_cast({column} AS {kind})"
        yield f"CAST(try_cast({column} AS DATE) AS {kind})"
        yield f"CAST(try_cast({column} AS TIMESTAMP) AS {kind})"


def test_a_cast_has_an_answer_for_every_record(hostile: DataFrame) -> None:
    found = accepted(casts())
    assert len(found) > 200
    answers(hostile, found)


def operations() -> Iterator[str]:
    names = [each.name for each in COLUMNS]
    names += ["1", "1.5", "1e300", "'a'", "NULL", "DATE '2026-01-31'"]
    for one, other in itertools.product(names, names):
        for sign in ("+", "-", "*", "DIV", "=", "<>", "<", ">=", "<=>", "||", "AND", "OR"):
            yield f"{one} {sign} {other}"
        yield f"CASE WHEN ok THEN {one} ELSE {other} END"
        yield f"CASE {one} WHEN {other} THEN 1 END"
        yield f"{one} BETWEEN {other} AND {one}"
        yield f"{one} IN ({other}, NULL)"
    for one in names:
        yield from (f"-{one}", f"NOT {one}", f"{one} IS NULL", f"{one} IS TRUE")
        yield f"{one} LIKE '%_a%'"


def test_an_operator_has_an_answer_for_every_record(hostile: DataFrame) -> None:
    found = accepted(operations())
    assert len(found) > 800
    answers(hostile, found)


def test_fields_lambdas_and_deep_expressions_have_one_as_well(hostile: DataFrame) -> None:
    answers(
        hostile,
        accepted(
            iter(
                (
                    "s.x",
                    "S.Y.z",
                    "get(h, 0).key",
                    "filter(h, x -> x.key = 'a')",
                    "exists(h, x -> x.key = t AND i > 3)",
                    "try_validate_utf8(CAST(get(filter(h, x -> x.key = 'a'), 0).value AS STRING))",
                    "exists(ta, each -> each LIKE '%a')",
                    "year(CAST(_timestamp AS DATE))",
                    "date_format(_timestamp, 'yyyy-MM-dd')",
                    "CAST(_timestamp AS DATE)",
                    "datediff(try_cast(t AS DATE), CAST(_timestamp AS DATE))",
                    "try_cast(get_json_object(t, '$.a') AS DATE)",
                    "get_json_object(try_validate_utf8(CAST(bin AS STRING)), '$.a')",
                    "sha2(concat_ws('|', t, CAST(j AS STRING), u), 256)",
                    "timestamp_micros(j DIV 1000)",
                    "from_json(t, 'a INT')",
                    "from_json(t, 'a STRING')",
                    "from_json(t, 'a STRUCT<b: ARRAY<BIGINT>>')",
                    "from_json(t, 'ARRAY<STRUCT<a: DOUBLE, b: FLOAT>>')",
                    "from_json(get(ta, 0), 'ARRAY<STRING>')",
                    "from_json(decode(bin, 'ISO-8859-1'), 'a BOOLEAN, b TINYINT').b",
                    "timestamp_millis(try_cast(t AS BIGINT))",
                    "get_json_object(decode(bin, 'ISO-8859-1'), '$.a')",
                    "get_json_object(decode(unbase64(t), 'UTF-16'), '$.a')",
                    "try_cast(get_json_object(t, \"$['a']\") AS TIMESTAMP)",
                )
            )
        ),
    )


def test_no_day_and_no_moment_is_beyond_the_years_that_columns_hold(hostile: DataFrame) -> None:
    found = accepted(
        iter(
            (
                *(
                    "try_cast(t AS DATE)",
                    "CAST(_timestamp AS DATE)",
                    "_timestamp",
                    "timestamp_seconds(j)",
                ),
                *("timestamp_seconds(d)", "timestamp_seconds(big)", "timestamp_millis(j)"),
                *("timestamp_micros(j)", "date_from_unix_date(i)", "try_to_date(t, 'yyyy')"),
                *("try_to_timestamp(t, 'yyyy-MM-dd')",),
            )
        )
    )
    rows = hostile.select(*(F.year(F.expr(each.sql)).alias(each.name) for each in found))
    years = {value for row in rows.collect() for value in row if value is not None}
    assert min(years) >= 1
    assert max(years) <= 9999
    assert years & {1, 9999}


MEANT = [
    "NOT ok AND ok OR ok",
    "NOT i = j AND i <> j",
    "i = j OR i < j AND ok",
    "d + e * 2 - 1",
    "d - e - 1",
    "-d * e",
    "t || u = u || t",
    "NOT ok IS NULL",
    "i BETWEEN 0 AND 5 AND ok",
    "t LIKE '%a' OR t LIKE '%1'",
    "NOT t LIKE 'a%'",
    "ok = (i IN (1, 2))",
    "CASE WHEN ok THEN i ELSE j END = i",
    "d * e + d = e",
    "t IS NOT NULL AND NOT ok",
    "s.y.z || 'a' = t",
]


@pytest.fixture(scope="module")
def differing(hostile: DataFrame) -> dict[str, int]:
    """For each expression, the records for which ours is not what the text is to Spark."""
    ours = [derived_columns({"x": text}, COLUMNS)[0].sql for text in MEANT]
    counts = [
        F.count_if(~F.expr(mine).eqNullSafe(F.expr(text)))
        for mine, text in zip(ours, MEANT, strict=True)
    ]
    (row,) = hostile.select(counts).collect()
    return dict(zip(MEANT, row, strict=True))


@pytest.mark.parametrize("text", MEANT)
def test_an_expression_means_what_it_means_to_spark(differing: dict[str, int], text: str) -> None:
    assert differing[text] == 0
