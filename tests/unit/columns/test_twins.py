"""Fields whose names differ only in case."""

from __future__ import annotations

from sluice.columns.columns import Array, Column, Map, Primitive, Struct
from sluice.columns.declared import possible
from sluice.columns.twins import kept_first, kept_twins

TEXT, WHOLE = Primitive("STRING"), Primitive("BIGINT")
OLD = (Column("id", WHOLE), Column("city", TEXT))
BOTH = (Column("ID", TEXT), *OLD, Column("City", TEXT))


def test_the_field_that_had_the_column_before_keeps_it() -> None:
    kept = set(kept_twins(BOTH, OLD))
    assert kept == {("id",), ("city",)}
    assert possible(kept_first(BOTH, kept)).columns == OLD
    assert [str(x.place) for x in possible(kept_first(BOTH, kept)).unread] == [
        "('ID',)",
        "('City',)",
    ]


def test_within_other_fields_too() -> None:
    for around in (lambda x: x, Array, Map):
        now, before = ((Column("s", around(Struct(each))),) for each in (BOTH, OLD))
        assert possible(kept_first(now, set(kept_twins(now, before)))).columns == before


def test_fields_without_twins_stay_in_their_order() -> None:
    assert list(kept_twins((Column("z", TEXT), *OLD), OLD)) == []
    assert kept_first((Column("z", TEXT), *OLD), ()) == (Column("z", TEXT), *OLD)
