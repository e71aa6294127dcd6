"""A list of columns in SQL says the same as the columns, in characters that Delta can count."""

from __future__ import annotations

import re

from hypothesis import given
from sluice.columns.columns import Column, Primitive, Struct, parse_columns
from sluice.lake.column_list import column_list, comment

from tests.unit.columns.test_names import NAMES


def as_spark_reads(text: str) -> str:
    """With each IDENTIFIER('…') as the name that it is."""

    def name(found: re.Match[str]) -> str:
        signs = re.sub(r"\\U([0-9A-F]{8})", lambda sign: chr(int(sign[1], 16)), found[1])
        return re.sub(r"\\(.)", r"\1", signs)

    return re.sub(r"IDENTIFIER\('((?:[^'\\]|\\.)*)'\)", name, text)


@given(NAMES, NAMES)
def test_whatever_a_name_holds_it_is_in_the_list(outer: str, inner: str) -> None:
    column = Column(outer, Struct((Column(inner, Primitive("INT")),)))
    text = column_list([column], {})
    assert all(each <= "\uffff" for each in text)
    assert parse_columns(as_spark_reads(text)) == (column,)


def test_a_comment_is_escaped_alike() -> None:
    assert comment("it's 😀") == " COMMENT 'it\\'s \\U0001F600'"
    assert comment(None) == comment("") == ""
