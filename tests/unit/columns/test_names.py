"""Names: any text without what Delta refuses is a column, wherever a spec may name one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.columns.columns import Column, Primitive, parse_columns
from sluice.columns.names import (
    BAD_NAME,
    NO_TEXT,
    NOT_IN_NAMES,
    TWIN,
    is_ours,
    quoted,
    unfit,
    written,
)
from sluice.derived.derived_columns import derived_columns
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.statistics_columns import statistics_columns

from tests.unit.builders import spec_keys

_ALLOWED = st.characters(exclude_characters=NOT_IN_NAMES, exclude_categories=["Cs"])
NAMES = st.text(_ALLOWED, min_size=1, max_size=20).filter(lambda name: not is_ours(name))
STRING = Primitive("STRING")


@given(NAMES)
def test_a_name_is_read_back_as_it_was_quoted(name: str) -> None:
    assert parse_columns(f"{quoted(name)} STRING") == (Column(name, STRING),)
    assert parse_columns(f"{written(name)} STRING") == (Column(name, STRING),)
    (struct,) = parse_columns(f"s STRUCT<{quoted(name)}: MAP<STRING, STRING>>")
    assert parse_columns(f"s {struct.type}") == (struct,)


@given(NAMES, st.sampled_from(["partition_by", "exclude", "include"]))
def test_a_spec_may_name_a_column_of_any_name(name: str, key: str) -> None:
    form = {"type": "json", "schema": f"{quoted(name)} STRING"}
    other = {} if key == "exclude" else {"comments": {name: "its comment"}}
    spec = PipelineSpec.model_validate(spec_keys(format=form, **{key: [name]}, **other))
    assert (name in [each.name for each in spec.shape.columns]) == (key != "exclude")
    kept = [name] if key == "include" else []
    assert [e for e in statistics_columns(spec.shape) if e == name] == kept


@given(NAMES)
def test_a_table_is_clustered_by_names_in_which_delta_counts_right(name: str) -> None:
    form = {"type": "json", "schema": f"{quoted(name)} STRING"}
    keys = spec_keys(format=form, cluster_by=[name])
    if max(name) <= "\uffff":
        assert name in statistics_columns(PipelineSpec.model_validate(keys).shape)
        return
    with pytest.raises(ValueError, match=r"cluster_by: found .*beyond U\+FFFF"):
        PipelineSpec.model_validate(keys)


@given(NAMES.filter(lambda name: "\\" not in name), NAMES)
def test_a_column_of_any_name_is_derived_from_one(name: str, other: str) -> None:
    columns = parse_columns(f"{quoted(name)} STRUCT<{quoted(other)}: STRING>")
    if "\\" not in other:
        (found,) = derived_columns({"x": f"{quoted(name)}.{quoted(other)}"}, columns)
        assert (found.sql, found.type) == (f"{quoted(name)}.{quoted(other)}", STRING)
    form = {"type": "json", "schema": f"{quoted(name)} STRING"}
    keys = {"derived": {other: f"lower({quoted(name)})"}, "exclude": [name]}
    spec = PipelineSpec.model_validate(spec_keys(format=form, **keys))
    assert [(each.name, each.sql) for each in spec.shape.added] == [
        (other, f"lower({quoted(name)})")
    ]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        *((f"a{each}b", BAD_NAME) for each in NOT_IN_NAMES),
        *(("", BAD_NAME), ("USERID", TWIN), ("user\u0131d", TWIN), ("userId.", ""), ("_id", "")),
        *(("\ud800", NO_TEXT), ("a\udfffb", NO_TEXT)),
    ],
)
def test_a_name_is_unfit_for_a_reason(name: str, why: str) -> None:
    assert unfit(name, {"userid"}) == why


def test_a_plain_name_is_written_without_quotes() -> None:
    assert [written(each) for each in ("_a1", "1a", "a-b", "a`b")] == [
        *("_a1", "`1a`", "`a-b`", "`a``b`")
    ]
