"""State rules: their columns, and the short name that changes when what they make changes."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest
from sluice.columns.columns import parse_columns
from sluice.state_table.rules import StateRules

COLUMNS = parse_columns("id BIGINT, name STRING, _offset BIGINT, _deleted BOOLEAN")
RULES = StateRules(("id",), ("_offset",), "name = 'x'", "name = 'x'", "?")


def test_rules_without_a_key_are_refused() -> None:
    with pytest.raises(ValueError, match="key: expected at least one column"):
        StateRules(())


def test_the_columns_are_those_of_the_log_but_two_in_any_case_and_the_mark() -> None:
    log = parse_columns("id BIGINT, _Batch STRING, _headers STRING, _op STRING")
    names = [each.name for each in RULES.columns(log)]
    assert names == ["id", "_op", "_deleted"]


def test_only_declared_columns_are_an_order() -> None:
    assert RULES.is_ordered
    assert not StateRules(("id",)).is_ordered


def test_the_digest_is_the_same_in_whatever_order_the_columns_are() -> None:
    assert len({RULES.digest(each) for each in permutations(COLUMNS)}) == 1


def test_the_digest_of_rules_without_change_events_stays_as_it_was() -> None:
    assert RULES.digest(COLUMNS) == "7c36ec359d7e"


@pytest.mark.parametrize(
    "changed",
    [
        {"key": ("name",)},
        {"order_by": ()},
        {"order_by": ("_offset", "name")},
        {"deleted_when": "name = 'y'"},
        {"unavailable": None},
        {"of_events": True},
    ],
)
def test_the_digest_tells_what_makes_another_table(changed: dict[str, Any]) -> None:
    assert replace(RULES, **changed).digest(COLUMNS) != RULES.digest(COLUMNS)


def test_the_digest_tells_another_type_and_another_column() -> None:
    digests = {
        RULES.digest(COLUMNS),
        RULES.digest(COLUMNS[1:]),
        RULES.digest((*parse_columns("id INT"), *COLUMNS[1:])),
    }
    assert len(digests) == 3


@pytest.mark.parametrize(
    "changed", [{"ignores_unkeyed": True}, {"deleted": "coalesce(name = 'x', false)"}]
)
def test_the_digest_does_not_tell_what_makes_the_same_table(changed: dict[str, Any]) -> None:
    assert replace(RULES, **changed).digest(COLUMNS) == RULES.digest(COLUMNS)
