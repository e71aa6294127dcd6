"""Taking: which columns become of a record when a spec takes some of its fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.columns.columns import Column, ColumnType, Primitive, Struct, parse_columns
from sluice.columns.declared import Declared, Note, path_of, possible
from sluice.columns.names import TAKEN
from sluice.columns.taking import Field, Reading, Taken, parse_path, taking

DECLARED = "id BIGINT, a STRUCT<x: INT, y: STRUCT<z: STRING>>, t STRING, l ARRAY<STRUCT<q: INT>>"


def taken(column: str, *path: str, type: str | None = None, **more: Any) -> Taken:
    kind = parse_columns(f"value {type}")[0].type if type else None
    return Taken(column, path, kind, **more)


def read(*columns: Taken, of: str = DECLARED, opens: bool = True) -> Reading:
    return taking(possible(parse_columns(of)), columns, opens)


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("id", ("id",)),
        ("a.b", ("a.b",)),
        ("$.a.b", ("a", "b")),
        ("$['a.b'].c", ("a.b", "c")),
        (r"$['it\'s']['a\\b']", ("it's", "a\\b")),
        ("$.@timestamp", ("@timestamp",)),
        ("$.request-id", ("request-id",)),
    ],
)
def test_a_path_leads_to_a_field(text: str, path: tuple[str, ...]) -> None:
    assert parse_path(text) == path


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_each_place_can_be_written_as_a_path(place: list[str]) -> None:
    assert parse_path(path_of(place)) == tuple(place)


@pytest.mark.parametrize("text", ["", "$", "$.a[0]", "$.a[*].b", "$a", "$.", "$['a'"])
def test_what_leads_to_no_field_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a"):
        parse_path(text)


def test_a_field_is_in_one_column() -> None:
    found = read(taken("status", "http.status", type="INT"), taken("x", "a", "x"), taken("n", "id"))
    assert found.declared.columns == parse_columns(
        "a STRUCT<y: STRUCT<z: STRING>>, t STRING, l ARRAY<STRUCT<q: INT>>,"
        " status INT, x INT, n BIGINT"
    )


def test_a_struct_of_which_all_is_taken_is_none() -> None:
    found = read(taken("x", "a", "x"), taken("z", "a", "y", "z"))
    assert [each.name for each in found.declared.columns] == ["id", "t", "l", "x", "z"]


def test_names_that_no_column_can_have_are_told_unless_they_are_taken() -> None:
    of = possible([Column(each, Primitive("INT")) for each in ("id", "ID", "a b", "_offset")])
    found = taking(of, [taken("a_b", "a b"), taken("upper", "ID")], False)
    assert found.declared.columns == parse_columns("id INT, a_b INT, upper INT")
    assert [each.place for each in found.declared.unread] == [("_offset",)]


def test_of_twins_that_one_has_the_name_which_is_left() -> None:
    of = possible([Column(each, Primitive("INT")) for each in ("id", "ID")])
    found = taking(of, [taken("lower", "id")], False)
    assert found.declared.columns == parse_columns("ID INT, lower INT")
    assert not found.declared.unread


def test_notes_of_other_fields_stay() -> None:
    notes = (Note(("a",), "more"), Note(("t", "u"), "why"))
    of = possible(parse_columns(DECLARED))
    of = type(of)(of.columns, (*of.unread, *notes), (Note(("t",), "text"),), of.fields)
    found = taking(of, [taken("u", "t")], True)
    assert (found.declared.unread, found.declared.as_text) == (notes[:1], ())


@pytest.mark.parametrize(
    ("columns", "opens", "told"),
    [
        ([taken("s", "status")], True, r"columns.s: \$.status: expected type, as no schema says"),
        (
            [taken("s", "status")],
            False,
            r"\$.status: expected a field of \$, found none",
        ),
        ([taken("s", "idd")], False, r"found none \(did you mean id\?\)|did you mean id"),
        (
            [taken("s", "t", "u", type="INT")],
            True,
            r"\$.t.u: \$.t is STRING: read it in",
        ),
        ([taken("s", "l", "q")], True, r"\$.l is ARRAY<STRUCT<`q`: INT>>: only fields of a STRUCT"),
        (
            [taken("s", "id", type="INT")],
            False,
            "found type INT; expected BIGINT, as in",
        ),
        ([taken("s", "t", type="TIMESTAMP", unit="ms")], False, "unit goes with whole numbers"),
        ([taken("s", "id", type="BINARY", encoding="base64")], False, "base64 goes with STRING"),
        ([taken("s", "t", type="VARIANT")], False, "found type VARIANT; expected STRING, as in"),
        ([taken("s", "id"), taken("S", "t")], True, "columns.S: declared twice"),
        ([taken("_key", "id")], True, "columns._key: Sluice has its own column"),
        ([taken("a b", "id")], True, "columns.'a b': a column name must not hold"),
        (
            [taken("s", "a"), taken("u", "a", "x")],
            True,
            r"columns.s takes \$.a: derive one",
        ),
        ([taken("s", "id"), taken("u", "id")], True, "expected each field in one column"),
    ],
    ids=str,
)
def test_what_cannot_be_taken_is_refused_by_the_key(
    columns: list[Taken], opens: bool, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        read(*columns, opens=opens)


@pytest.mark.parametrize("opens", [False, True])
def test_a_field_whose_name_is_taken_has_no_column(opens: bool) -> None:
    found = read(taken("T", "id"), taken("a", "a", "x"), opens=opens)
    assert found.declared.columns == parse_columns("l ARRAY<STRUCT<q: INT>>, T BIGINT, a INT")
    assert [str(each) for each in found.declared.unread] == [f"$.a: {TAKEN}", f"$.t: {TAKEN}"]
    assert [each.name for each in found.fields] == ["l", "id", "a"]


def test_what_is_json_text_becomes_a_variant() -> None:
    of = possible(parse_columns(DECLARED))
    of = Declared(of.columns, as_text=(Note(("t",), "within itself"),), fields=of.fields)
    found = taking(of, [taken("v", "t", type="VARIANT")], False)
    assert found.declared.columns[-1] == parse_columns("v VARIANT")[0]
    assert [each.type for each in found.fields if each.taken] == [Primitive("STRING")]
    assert found.declared.as_text == ()
    with pytest.raises(ValueError, match="found type INT; expected STRING"):
        taking(of, [taken("v", "t", type="INT")], False)


def test_any_type_may_be_read_where_records_name_their_fields() -> None:
    found = read(taken("n", "id", type="DECIMAL(38,2)"))
    assert found.declared.columns[-1] == parse_columns("n DECIMAL(38,2)")[0]


NAMES = st.sampled_from(["id", "ID", "a b", "_key", "x", "y.z", "x`"])
LEAVES = st.sampled_from([Primitive("INT"), Primitive("STRING")])


def structs(fields: st.SearchStrategy[ColumnType]) -> st.SearchStrategy[ColumnType]:
    named = st.dictionaries(NAMES, fields, min_size=1, max_size=4)
    return named.map(lambda found: Struct(tuple(Column(*each) for each in found.items())))


RECORDS = structs(st.recursive(LEAVES, structs, max_leaves=8))


def places(fields: tuple[Column, ...]) -> Iterator[tuple[str, ...]]:
    for each in fields:
        yield (each.name,)
        if isinstance(each.type, Struct):
            yield from ((each.name, *below) for below in places(each.type.fields))


def leaves(fields: tuple[Field, ...]) -> Iterator[tuple[str, ...]]:
    for each in fields:
        if each.within:
            yield from ((each.name, *below) for below in leaves(each.within))
        elif isinstance(each.type, Struct):
            yield from ((each.name, *below) for below in places(each.type.fields))
        else:
            yield (each.name,)


@given(RECORDS, st.data())
def test_every_field_is_kept_or_taken_or_told(record: Struct, data: st.DataObject) -> None:
    all_places = list(places(record.fields))
    paths = data.draw(st.lists(st.sampled_from(all_places), max_size=3, unique=True))
    apart = [p for p in paths if not any(p != o and p[: len(o)] == o for o in paths)]
    names = data.draw(st.permutations(["c0", "Id", "x"]))
    columns = [taken(name, *path) for name, path in zip(names, apart, strict=False)]
    found = taking(possible(record.fields), columns, False)
    assert {each.column for each in columns} <= {each.name for each in found.declared.columns}
    told = [each.place for each in found.declared.unread]
    read_as = set(leaves(found.fields))
    for place in all_places:
        held = any(place[: len(each)] == each for each in (*told, *apart))
        as_whole = any(each[: len(place)] == place for each in (*read_as, *apart, *told))
        below_text = any(place[: len(each)] == each for each in read_as)
        assert held or as_whole or below_text, place
