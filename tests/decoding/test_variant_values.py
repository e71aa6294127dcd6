"""What expressions have of a VARIANT, against what was expected and what Python finds."""

from __future__ import annotations

import json
import random
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from sluice.columns.columns import parse_columns
from sluice.derived.derived_columns import derived_columns
from sluice.lake.decoding.column_types import struct_type

from tests.decoding.derived_values import Value, given

pytestmark = pytest.mark.spark

ORDER = (
    '{"id": 7, "at": "2023-11-14", "log.level": "warn",'
    ' "lines": [{"sku": "a", "n": 2}, {"n": "x"}],'
    ' "price": 12345678901234567.50, "none": null, "tags": {"b": 1, "a": [true]}, "e": 1.5e2}'
)
VARIANTS: list[Value] = [
    *(
        (f"try_variant_get(try_parse_json(x), {path}, '{kind}')", "STRING", ORDER, expected)
        for path, kind, expected in (
            ("'$.id'", "INT", 7),
            ("'$.id'", "STRING", "7"),
            ("'$.id'", "BOOLEAN", True),
            ("'$.id'", "ARRAY<INT>", None),
            ("'$.ID'", "INT", None),
            ("\"$['log.level']\"", "STRING", "warn"),
            ("'$.log.level'", "STRING", None),
            ("'$.lines[0].sku'", "STRING", "a"),
            ("'$.lines[2].sku'", "STRING", None),
            ("'$.lines[1].n'", "INT", None),
            ("'$.lines'", "STRING", '[{"n":2,"sku":"a"},{"n":"x"}]'),
            ("'$.lines'", "ARRAY<STRUCT<n: INT, sku: STRING>>", [(2, "a"), (None, None)]),
            ("'$.price'", "STRING", "12345678901234567.5"),
            ("'$.price'", "DECIMAL(20,2)", Decimal("12345678901234567.50")),
            ("'$.price'", "DECIMAL(10,2)", None),
            ("'$.price'", "INT", None),
            ("'$.e'", "INT", 150),
            ("'$.e'", "STRING", "150.0"),
            ("'$.none'", "STRING", None),
            ("'$.tags'", "MAP<STRING, STRING>", {"a": "[true]", "b": "1"}),
            ("'$.tags'", "MAP<STRING, INT>", {"a": None, "b": 1}),
            ("'$.at'", "BIGINT", None),
        )
    ),
    (
        "to_json(try_parse_json(x))",
        "STRING",
        '{"b": 1.10, "a": [1e2, null]}',
        '{"a":[100.0,null],"b":1.1}',
    ),
    ("to_json(try_parse_json(x))", "STRING", '{"a": 1, "a": 2}', '{"a":2}'),
    ("to_json(try_parse_json(x))", "STRING", '{"a": 1', None),
    ("to_json(try_parse_json(x))", "STRING", "", None),
    ("to_json(try_parse_json(x))", "STRING", '"\\ud800"', None),
    ("to_json(try_parse_json(x))", "STRING", '{"a": 1} x', None),
    ("to_json(try_parse_json(x))", "STRING", "[" * 500 + "]" * 500, "[" * 500 + "]" * 500),
    ("to_json(try_parse_json(x))", "STRING", "[" * 501 + "]" * 501, None),
    ("to_json(try_parse_json(x))", "STRING", "\0\0\0[", None),
    ("to_json(try_parse_json(x))", "STRING", '"\0', None),
    ("to_json(try_parse_json(x))", "STRING", "\ufeff1", None),
    ("to_json(try_parse_json(x))", "STRING", "0.1234567890123456789e1", None),
    ("to_json(try_parse_json(x))", "STRING", "9" * 38, "9" * 38),
    ("to_json(try_parse_json(x))", "STRING", "1" + "0" * 38, "1.0E38"),
    ("to_json(try_parse_json(x))", "STRING", "9" * 39, None),
    ("to_json(try_parse_json(x))", "STRING", "1e400", None),
    ("is_variant_null(try_parse_json(x))", "STRING", "null", True),
    ("is_variant_null(try_parse_json(x))", "STRING", "0", False),
    ("is_variant_null(try_parse_json(x))", "STRING", "", False),
    (
        "is_variant_null(try_variant_get(try_parse_json(x), '$.a', 'VARIANT'))",
        "STRING",
        '{"a": null}',
        True,
    ),
    (
        "is_variant_null(try_variant_get(try_parse_json(x), '$.a', 'VARIANT'))",
        "STRING",
        "{}",
        False,
    ),
    ("to_json(coalesce(try_parse_json(x), try_parse_json('[]')))", "STRING", "{", "[]"),
    ("to_json(coalesce(try_parse_json(x), try_parse_json('[]')))", "STRING", "null", "null"),
    (
        "try_cast(try_variant_get(try_parse_json(x), '$', 'STRING') AS DATE)",
        "STRING",
        '"2023-11-14"',
        date(2023, 11, 14),
    ),
    (
        "try_cast(try_variant_get(try_parse_json(x), '$', 'STRING') AS TIMESTAMP)",
        "STRING",
        '"22:13"',
        None,
    ),
]


def test_an_expression_gives_what_is_expected_of_each_text(spark: SparkSession) -> None:
    found = [(*value[:3], it) for value, it in zip(VARIANTS, given(spark, VARIANTS), strict=True)]
    assert found == VARIANTS


NAMES = ["a", "b", "a.b", "ü", "", "A", "x y", "*"]


def drawn_json(pick: random.Random, depth: int = 0) -> Any:
    """A JSON value. It has no number with an exponent: each library writes another text of one."""
    kind = pick.randrange(10 if depth < 4 else 6)
    if kind > 7:
        return [drawn_json(pick, depth + 1) for _ in range(pick.randrange(4))]
    if kind > 5:
        return {name: drawn_json(pick, depth + 1) for name in pick.sample(NAMES, pick.randrange(6))}
    return [None, True, False, 'a\0"é🙂', "12", pick.randrange(-(10**20), 10**20)][kind]


def below(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def as_text(value: Any) -> Any:
    """The text that Spark has of a value, with its JSON in Python's form."""
    return value if isinstance(value, str | None) else json.dumps(value, sort_keys=True)


def test_an_expression_finds_what_python_finds_in_the_text(spark: SparkSession) -> None:
    pick = random.Random(3)
    values = [{name: drawn_json(pick) for name in ("a", "a.b")} for _ in range(300)]
    values += [drawn_json(pick) for _ in range(100)]
    texts = {
        "whole": "to_json(try_parse_json(x))",
        "element": "to_json(try_variant_get(try_parse_json(x), \"$['a.b'][1]\", 'VARIANT'))",
        "text": "try_variant_get(try_parse_json(x), '$.a', 'STRING')",
        "number": "try_variant_get(try_parse_json(x), '$.a', 'DECIMAL(38,0)')",
    }
    columns = parse_columns("x STRING")
    rows = spark.createDataFrame([(json.dumps(each),) for each in values], struct_type(columns))
    found = [F.expr(each.sql).alias(each.name) for each in derived_columns(texts, columns)]
    kept = rows.select(*found).collect()
    for value, row in zip(values, kept, strict=True):
        assert json.loads(row.whole) == value
        items, one = below(value, "a.b"), below(value, "a")
        second = items[1:2] if isinstance(items, list) else []
        assert ([] if row.element is None else [json.loads(row.element)]) == second
        said = row.text if isinstance(one, str | None) else as_text(json.loads(row.text))
        assert said == as_text(one)
        assert row.number == (int(one) if isinstance(one, int) or one == "12" else None)
    for name in texts:
        assert sum(row[name] is not None for row in kept) > 20
