"""The schema text of a spec becomes columns, or a message that says what is wrong with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.columns.columns import (
    PRIMITIVES,
    Array,
    Column,
    ColumnType,
    Decimal,
    Map,
    Primitive,
    Struct,
    parse_columns,
)
from sluice.columns.names import NOT_IN_NAMES, as_compared, quoted

INT, STRING = Primitive("INT"), Primitive("STRING")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("STRING", STRING),
        ("string", STRING),
        ("Integer", INT),
        ("BYTE", Primitive("TINYINT")),
        ("SHORT", Primitive("SMALLINT")),
        ("LONG", Primitive("BIGINT")),
        ("REAL", Primitive("FLOAT")),
        ("variant", Primitive("VARIANT")),
        ("TIMESTAMP", Primitive("TIMESTAMP")),
        ("DECIMAL", Decimal(10, 0)),
        ("DECIMAL(12)", Decimal(12, 0)),
        ("dec ( 38 , 38 )", Decimal(38, 38)),
        ("NUMERIC(5,2)", Decimal(5, 2)),
        ("ARRAY<INT>", Array(INT)),
        ("ARRAY<ARRAY<INT>>", Array(Array(INT))),
        ("map<string,int>", Map(INT)),
        ("MAP<STRING, ARRAY<DECIMAL(5,2)>>", Map(Array(Decimal(5, 2)))),
        ("STRUCT<a: INT>", Struct((Column("a", INT),))),
        ("STRUCT<a INT, `b`:STRING>", Struct((Column("a", INT), Column("b", STRING)))),
        ("STRUCT<a: STRUCT<a: INT>>", Struct((Column("a", Struct((Column("a", INT),))),))),
    ],
)
def test_a_type_is_read(text: str, expected: ColumnType) -> None:
    assert parse_columns(f"x {text}") == (Column("x", expected),)


def test_columns_keep_their_order_and_the_case_of_their_names() -> None:
    found = parse_columns("\n  carrier STRING,\tDepDelay INT  ,`time-hour`   TIMESTAMP\n")
    assert [each.name for each in found] == ["carrier", "DepDelay", "time-hour"]


@pytest.mark.parametrize(
    "name", ["int", "array", "été", "日付", "a-b", "1st", "`", "a`b``", "a.b", '"', "$"]
)
def test_a_quoted_name_may_be_any_text(name: str) -> None:
    assert parse_columns(f"{quoted(name)} INT") == (Column(name, INT),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a column name, found .*the end"),
        ("   ", "expected a column name"),
        ("a", "a: found type 'nothing'"),
        ("a INT,", "expected a column name"),
        (", a INT", "expected a column name, found ','"),
        ("a INT b INT", "after a: expected ',', found 'b'"),
        ("a INT NOT NULL", "after a: expected ',', found 'NOT'"),
        ("a: INT", "a: found type ':'"),
        ("a INTT", "a: found type 'INTT'; allowed: STRING, .*DECIMAL.*ARRAY, MAP, STRUCT"),
        ("a INT, A STRING", "A: declared twice"),
        ("a STRUCT<b: INT, B: INT>", "a: B: declared twice"),
        ("i INT, `\u0131` INT", "\u0131: declared twice"),
        ("`\u03c3` INT, `\u03c2` INT", "\u03c2: declared twice"),
        ("i INT, `İ` INT", "İ: declared twice"),
        ("a ARRAY", "a: expected '<', found .*the end"),
        ("a ARRAY<INT", "a: expected '>', found .*the end"),
        ("a ARRAY<>", "a: found type '>'"),
        ("a ARRAY<INT>>", "after a: expected ',', found '>'"),
        ("a MAP<INT, INT>", "a: the keys of a JSON object are STRING, found MAP<INT"),
        ("a MAP<STRING>", "a: expected ','"),
        ("a STRUCT<>", "a: expected a column name, found '>'"),
        ("a STRUCT<b>", "a: b: found type '>'"),
        ("a STRUCT<b: INTT>", "a: b: found type 'INTT'"),
        ("a DECIMAL(39, 0)", r"DECIMAL\(39,0\): expected 1 <= precision <= 38"),
        ("a DECIMAL(0)", "expected 1 <= precision"),
        ("a DECIMAL(3,4)", "0 <= scale <= precision"),
        ("a DECIMAL(3,-1)", "found '-'"),
        ("a DECIMAL()", r"expected DECIMAL\(precision,scale\)"),
        ("a DECIMAL(3", "expected '\\)', found .*the end"),
        ("1a INT", "expected a column name, found '1'"),
        ("`a INT", "expected a column name"),
        ("`a b` INT", "'a b': a column name must not hold spaces"),
        ("`a=b` INT", "must not hold spaces, line ends or any of"),
        ("``` INT", "expected a column name"),
        ("a INT; b INT", "after a: expected ',', found ';'"),
    ],
)
def test_what_is_no_schema_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_columns(text)


@pytest.mark.parametrize("text", ["a INT `,` b INT", "a `INT`", "a STRUCT<b `:` INT>"])
def test_a_quoted_word_is_a_name_and_nothing_else(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|found"):
        parse_columns(text)


def test_a_type_nested_without_end_is_refused_like_any_other() -> None:
    with pytest.raises(ValueError, match="nest"):
        parse_columns("a " + "ARRAY<" * 2000 + "INT" + ">" * 2000)


def column_lists(
    types: st.SearchStrategy[ColumnType], least: int
) -> st.SearchStrategy[list[Column]]:
    allowed = st.characters(exclude_characters=NOT_IN_NAMES, exclude_categories=["Cs"])
    names = st.text(allowed, min_size=1, max_size=8)
    columns = st.builds(Column, names, types)
    return st.lists(
        columns, min_size=least, max_size=4, unique_by=lambda each: as_compared(each.name)
    )


decimals = st.integers(1, 38).flatmap(
    lambda precision: st.builds(Decimal, st.just(precision), st.integers(0, precision))
)
primitives = st.sampled_from(sorted(set(PRIMITIVES.values()))).map(Primitive)
types: st.SearchStrategy[ColumnType] = st.recursive(
    primitives | decimals,
    lambda inner: (
        st.builds(Array, inner)
        | st.builds(Map, inner)
        | st.builds(Struct, column_lists(inner, 1).map(tuple))
    ),
    max_leaves=8,
)


@given(column_lists(types, 1))
def test_every_schema_is_read_back_as_it_was_written(columns: list[Column]) -> None:
    text = ", ".join(f"{quoted(each.name)} {each.type}" for each in columns)
    assert parse_columns(text) == tuple(columns)


@given(column_lists(types, 1))
def test_neither_case_nor_white_space_around_types_matters(columns: list[Column]) -> None:
    plain = [Column(f"c{at}", each.type) for at, each in enumerate(columns)]
    plain = [each for each in plain if "`" not in str(each.type)]
    if plain:
        text = " ,\n".join(f"{each.name}\t {str(each.type).lower()} " for each in plain)
        assert parse_columns(text) == tuple(plain)


@given(st.text(st.sampled_from("aAB1_ ,<>():`\n"), max_size=30) | st.text(max_size=20))
def test_whatever_the_text_is_the_answer_is_columns_or_a_value_error(text: str) -> None:
    try:
        columns = parse_columns(text)
    except ValueError:
        return
    assert columns
