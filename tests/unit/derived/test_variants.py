"""Variants: what an expression has of a JSON value of any shape, and what it is told to write."""

from __future__ import annotations

import pytest
from sluice.columns.columns import parse_columns
from sluice.derived.derived_columns import derived_columns, read_condition
from sluice.derived.kinds import VARIANT_PATH
from sluice.derived.written_values import text_of

COLUMNS = parse_columns("v VARIANT, w VARIANT, t STRING, n INT, ok BOOLEAN, va ARRAY<VARIANT>")


def type_of(text: str) -> str:
    (found,) = derived_columns({"x": text}, COLUMNS)
    return str(found.type)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("v", "VARIANT"),
        ("try_parse_json(t)", "VARIANT"),
        ("TRY_PARSE_JSON(decode(_key, 'UTF-8'))", "VARIANT"),
        ("try_variant_get(v, '$.a', 'STRING')", "STRING"),
        ("try_variant_get(try_parse_json(t), '$[0].a', 'long')", "BIGINT"),
        ("try_variant_get(v, \"$['log.level']\", 'decimal(12, 2)')", "DECIMAL(12,2)"),
        ("try_variant_get(v, '$', 'variant')", "VARIANT"),
        ("try_variant_get(v, '$', 'array< struct<`a.b`: float>>')", "ARRAY<STRUCT<`a.b`: FLOAT>>"),
        ("try_variant_get(v, '$.m', 'MAP<STRING, VARIANT>')", "MAP<STRING, VARIANT>"),
        ("try_element_at(try_variant_get(v, '$', 'MAP<STRING, TINYINT>'), 'a')", "TINYINT"),
        ("try_variant_get(v, '$', 'STRUCT<a: ARRAY<BOOLEAN>>').a", "ARRAY<BOOLEAN>"),
        ("try_cast(try_variant_get(v, '$.at', 'STRING') AS TIMESTAMP)", "TIMESTAMP"),
        ("is_variant_null(v)", "BOOLEAN"),
        ("to_json(v)", "STRING"),
        ("coalesce(v, NULL, w)", "VARIANT"),
        ("nvl(v, try_parse_json(t))", "VARIANT"),
        ("nvl2(v, w, NULL)", "VARIANT"),
        ("if(ok, v, w)", "VARIANT"),
        ("CASE WHEN v IS NULL THEN w END", "VARIANT"),
        ("get(va, 0)", "VARIANT"),
        ("filter(va, each -> NOT is_variant_null(each))", "ARRAY<VARIANT>"),
    ],
)
def test_what_may_be_written_has_a_type(text: str, kind: str) -> None:
    assert type_of(text) == kind


def test_a_condition_may_look_into_one() -> None:
    written = "try_variant_get(v, '$.kind', 'string') = 'order' AND NOT is_variant_null(v)"
    assert read_condition(written, COLUMNS) == (
        "((try_variant_get(`v`, '$.kind', 'STRING') = 'order') AND (NOT is_variant_null(`v`)))"
    )


INSTEAD = r"write try_variant_get\(…, '\$\.a', 'STRING'\) or with another type"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("parse_json(t)", r"found parse_json\(…\); write try_parse_json\(…\)$"),
        ("variant_get(v, '$.a', 'INT')", r"; write try_variant_get\(…, '\$\.a', 'STRING'\)$"),
        ("schema_of_variant(v)", r"; write to_json\(…\): it takes seconds for a record"),
        ("try_parse_json(v)", rf"expected as argument 1 STRING: {INSTEAD}"),
        ("try_variant_get(t, '$.a', 'INT')", r"a VARIANT, such as try_parse_json\(text\)"),
        ("to_json(t)", r"argument 1 a VARIANT, such as try_parse_json\(text\)"),
        ("is_variant_null(n)", "argument 1 a VARIANT"),
        ("try_variant_get(v, '$.a')", "expected 3 arguments"),
        ("try_variant_get(v, '$.a', 'INT', 1)", "expected 3 arguments"),
        ("try_variant_get(v, t, 'INT')", "argument 2 a path such as"),
        ("try_variant_get(v, '$.a[*]', 'INT')", r"argument 2 a path .* \[\*\] and \.\* do not"),
        ("try_variant_get(v, '$.a', t)", "argument 3 a written type such as 'BIGINT'"),
        ("try_variant_get(v, '$.a', 5)", "argument 3 a written type such as 'BIGINT'"),
        ("try_variant_get(v, '$.a', 'NUMBER')", r"'\$\.a', 'NUMBER'\); .*found type 'NUMBER'"),
        ("try_variant_get(v, '$.a', 'INT, b INT')", "expected one type, found 'INT, b INT'"),
        ("try_variant_get(v, '$.a', '')", "found type 'nothing'"),
        (
            "try_variant_get(v, '$.a', 'TIMESTAMP')",
            r"'TIMESTAMP'\); TIMESTAMP is not .*: write STRING, then try_cast\(… AS TIMESTAMP\)$",
        ),
        ("try_variant_get(v, '$.a', 'DATE')", r"then try_cast\(… AS DATE\)$"),
        ("try_variant_get(v, '$.a', 'ARRAY<BINARY>')", r"\[\]: BINARY is .* then unbase64$"),
        ("try_variant_get(v, '$', 'STRUCT<a: ARRAY<DATE>>')", r"; a\[\]: DATE is not allowed"),
        ("try_variant_get(v, '$', 'MAP<STRING, STRUCT<a: DATE>>')", r"; \[\]\.a: DATE is not"),
        ("CAST(t AS VARIANT)", r"found CAST\(… AS VARIANT\); write try_parse_json\(text\)"),
        ("CAST(v AS STRING)", rf"found CAST\(VARIANT AS STRING\); {INSTEAD}"),
        ("try_cast(v AS INT)", rf"found try_cast\(VARIANT AS INT\); {INSTEAD}"),
        ("v.a", rf"found field a of a VARIANT; {INSTEAD}"),
        ("v = w", rf"found VARIANT = VARIANT; expected values of one simple type: {INSTEAD}"),
        ("v = 1", INSTEAD),
        ("v IN (w)", INSTEAD),
        ("v BETWEEN w AND w", INSTEAD),
        ("CASE v WHEN w THEN 1 END", INSTEAD),
        ("greatest(v, w)", rf"expected as argument 1 a value without parts: {INSTEAD}"),
        ("nullif(v, w)", INSTEAD),
        ("xxhash64(n, v)", rf"expected as argument 2 a value without parts: {INSTEAD}"),
        ("hash(v)", INSTEAD),
        ("array_contains(va, v)", INSTEAD),
        ("lower(v)", INSTEAD),
        ("coalesce(v, t)", "expected arguments of one type"),
        ("from_json(t, 'a ARRAY<VARIANT>')", r"a\[\]: VARIANT is .*try_parse_json\(text\), '\$\.a"),
    ],
)
def test_what_may_not_be_written_is_refused_with_what_may(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"^derived.x: .*(?:{told})"):
        type_of(text)


@pytest.mark.parametrize(
    "path",
    [
        *("$", "$.a", "$.a.b", "$[0]", "$[0][12]", "$.a[0].b", "$['log.level']", "$.event-type"),
        *("$.@type", "$.x y", "$. x", "$[' x']", "$.ü", "$.a*", "$['*']", "$['a[0]']", "$.a]"),
        *("$.a'b", '$.a"b', '$["a"]', '$["it\'s"]', "$['q\"d']", "$['']", "$.0", "$.a\nb", "$[00]"),
    ],
)
def test_a_path_that_leads_to_one_value_fits(path: str) -> None:
    assert VARIANT_PATH.fits(text_of(path))


@pytest.mark.parametrize(
    "path",
    [
        *("", "a", "$a", "$.", "$..a", "$.*", "$[*]", "$.a[*]", "$[-1]", "$[ 0]", "$[1234567890]"),
        *("$[a]", "$[", "$[0", "$['a", "$['a\"]", "$['a']b", "$[0]b", " $", "$ ", "$.a.", "$[0:2]"),
    ],
)
def test_another_path_does_not_fit(path: str) -> None:
    assert not VARIANT_PATH.fits(text_of(path))
