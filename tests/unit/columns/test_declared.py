"""Declared fields: which can be columns, and the words for those that cannot."""

from __future__ import annotations

from sluice.columns.columns import Array, Column, Primitive, Struct, parse_columns
from sluice.columns.declared import Declared, Note, path_of, possible, told

TEXT = Primitive("STRING")


def test_a_field_that_no_column_can_have_leaves_the_others() -> None:
    found = possible([Column(each, TEXT) for each in ("id", "a b", "ID", "_offset", "a.b")])
    assert found.columns == parse_columns("id STRING, `a.b` STRING")
    assert [each.place for each in found.unread] == [("a b",), ("ID",), ("_offset",)]


def test_only_the_record_itself_has_columns_of_sluices_own() -> None:
    inner = Column("s", Struct((Column("_offset", TEXT),)))
    assert possible([inner]) == Declared((inner,), fields=(inner,))


def test_a_struct_of_which_no_field_can_be_is_text() -> None:
    lines = Column("lines", Array(Struct((Column("a b", TEXT),))))
    assert possible([lines]) == Declared(parse_columns("lines ARRAY<STRING>"), fields=(lines,))


def test_fields_of_one_reason_share_a_line() -> None:
    unread = (Note(("a b",), "why"), Note(("s", "c d"), "why"), Note(("x",), "else"))
    assert list(told(Declared((), unread, (Note(("t", None), "both"),)))) == [
        "no column holds $['a b'], $.s['c d']: why",
        "no column holds $.x: else",
        "JSON text is what the column holds of $.t[*]: both",
    ]


def test_a_line_of_a_name_says_what_to_do() -> None:
    (line,) = told(possible([Column(each, TEXT) for each in ("id", "a b")]))
    assert line.endswith("any of ,;{}()=, nor NUL. `columns` takes such a field under another name")


def test_a_place_is_written_as_a_path() -> None:
    assert path_of(["user", "http.status", None, "it's", "a\\b"]) == (
        r"$.user['http.status'][*]['it\'s']['a\\b']"
    )
