"""JSON texts: the types of what is read from them, and what cannot be read."""

from __future__ import annotations

import pytest
from sluice.columns.columns import Column, Primitive
from sluice.derived.derived_columns import derived_columns

COLUMNS = (Column("t", Primitive("STRING")), Column("n", Primitive("INT")))


def type_of(text: str) -> str:
    (found,) = derived_columns({"x": text}, COLUMNS)
    return str(found.type)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("from_json(t, 'a INT, b STRING')", "STRUCT<a: INT, b: STRING>"),
        ("from_json(t, 'array< bigint >')", "ARRAY<BIGINT>"),
        ("from_json(t, 'STRUCT<`a.b`: ARRAY<STRUCT<c: INT>>>').`a.b`", "ARRAY<STRUCT<c: INT>>"),
        ("get(from_json(t, 'ARRAY<STRUCT<b: BOOLEAN>>'), 0).b", "BOOLEAN"),
        ("try_cast(from_json(t, 'at STRING').at AS TIMESTAMP)", "TIMESTAMP"),
        ("filter(from_json(t, 'ARRAY<STRING>'), x -> x LIKE 'a%')", "ARRAY<STRING>"),
        ("from_json(get_json_object(t, '$.a'), 'ARRAY<STRING>')", "ARRAY<STRING>"),
    ],
)
def test_what_is_read_has_the_types_that_are_written(text: str, kind: str) -> None:
    assert type_of(text).replace("`", "") == kind.replace("`", "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("from_json(t)", r"found from_json\(STRING\); expected a STRING, and written columns"),
        ("from_json(n, 'a INT')", r"found from_json\(INT, STRING\); expected a STRING"),
        ("from_json(t, t)", r"found from_json\(STRING, STRING\); expected"),
        ("from_json(t, 'a INT', 'b')", "expected a STRING"),
        ("from_json(t, 'a TIMESTAMP')", r"'a TIMESTAMP'\); a: TIMESTAMP is not allowed there"),
        ("from_json(t, 'a STRUCT<b: ARRAY<DATE>>')", r"; a.b\[\]: DATE is not allowed there"),
        ("from_json(t, 'a DECIMAL(10,2)')", r"a: DECIMAL\(10,2\) is not allowed there.*try_cast"),
        ("from_json(t, 'ARRAY<BINARY>')", r"\[\]: BINARY is not allowed there.*unbase64"),
        ("from_json(t, 'm MAP<STRING, INT>')", r"m: MAP<STRING, INT> is not allowed there"),
        ("from_json(t, 'a VARIANT')", r"found from_json\(…, 'a VARIANT'\); "),
        ("from_json(t, 'a INT, A INT')", "A: declared twice"),
        ("from_json(t, '_corrupt_record STRING')", "_corrupt_record: Spark has its own column"),
        ("from_json(t, '')", "found from_json"),
        ("from_json(t, 'ARRAY<INT>, b INT')", "expected one type, or names before the types"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_can(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=f"^derived.x: .*(?:{told})"):
        type_of(text)
