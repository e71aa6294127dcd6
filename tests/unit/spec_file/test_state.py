"""The key `state` of a spec: the rules that it makes, and every refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from sluice.errors import SpecError
from sluice.spec_folder import load_spec
from sluice.state_table.rules import StateRules

SPEC = """
version: 1
pipeline: trips
topics: [trips]
table: trips
"""
PLAIN = 'format: {type: json, schema: "id BIGINT, v STRING, tags ARRAY<STRING>"}'
EVENTS = 'format: {type: json, envelope: debezium, schema: "id BIGINT, v STRING"}'
KEYED = 'key_format: {type: json, schema: "id BIGINT, region STRING"}'


def rules(folder: Path, *lines: str) -> StateRules:
    path = folder / "trips.yaml"
    path.write_text(SPEC + "\n".join(lines))
    found = load_spec(path).state_rules
    assert found is not None
    return found


def test_without_the_key_there_is_no_state_table(tmp_path: Path) -> None:
    path = tmp_path / "trips.yaml"
    path.write_text(SPEC + PLAIN)
    assert load_spec(path).state_rules is None


def test_a_key_is_all_that_must_be_said(tmp_path: Path) -> None:
    assert rules(tmp_path, PLAIN, "state: {key: [id]}") == StateRules(("id",))


@pytest.mark.parametrize("key", ["_key", "_timestamp", "_key_region", "day"])
def test_columns_of_all_kinds_are_a_key(tmp_path: Path, key: str) -> None:
    derived = "derived: {day: 'CAST(_timestamp AS DATE)'}"
    assert rules(tmp_path, PLAIN, KEYED, derived, f"state: {{key: [{key}]}}").key == (key,)


def test_of_change_events_the_key_and_the_deletes_are_known(tmp_path: Path) -> None:
    found = rules(tmp_path, EVENTS, KEYED, "state: {}")
    assert found.key == ("_key_id", "_key_region")
    assert found.deleted_when == "_op = 'd'"
    assert found.of_events


def test_of_change_events_all_of_it_may_be_said(tmp_path: Path) -> None:
    said = "state: {key: [id], deleted_when: \"v = 'x'\"}"
    found = rules(tmp_path, EVENTS, said)
    assert (found.key, found.deleted_when) == (("id",), "v = 'x'")


def test_no_placeholder_is_known_unless_it_is_written(tmp_path: Path) -> None:
    assert rules(tmp_path, EVENTS, KEYED, "state: {}").unavailable is None
    written = "state: {unavailable: __debezium_unavailable_value}"
    assert rules(tmp_path, EVENTS, KEYED, written).unavailable == "__debezium_unavailable_value"


def test_rows_of_unwrapped_events_tell_their_deletes_by_a_condition(tmp_path: Path) -> None:
    unwrapped = 'format: {type: json, schema: "id BIGINT, __deleted STRING"}'
    said = "state: {key: [id], deleted_when: \"__deleted = 'true'\", unkeyed: ignore}"
    found = rules(tmp_path, unwrapped, said)
    assert found.deleted_when == "__deleted = 'true'"
    assert found.ignores_unkeyed
    assert not found.of_events


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ((PLAIN, "state: {}"), r"state.key: expected the columns of the key, found none"),
        ((EVENTS, "state: {}"), r"of the key \(decoded by `key_format`\), found none"),
        ((PLAIN, "state: {key: [ids]}"), r"state.key: found 'ids'.*allowed: id, v"),
        ((PLAIN, "state: {key: [tags]}"), r"found tags, a ARRAY<STRING>, whose values cannot"),
        ((PLAIN, "state: {key: [id], order_by: [tags]}"), r"state.order_by: found tags"),
        ((PLAIN, "state: {key: [id, id]}"), r"state.key: a column is named twice"),
        ((PLAIN, "state: {key: [id], order_by: [v, v]}"), r"state.order_by: a column is named"),
        ((PLAIN, "state: {key: [id], deleted_when: 'ids = 1'}"), r"state.deleted_when: .*ids"),
        ((PLAIN, "state: {key: [id], deleted_when: ''}"), r"deleted_when"),
        ((PLAIN, "state: {key: [id], unkeyed: drop}"), r"unkeyed"),
        ((PLAIN, "state: {key: [id], keys: [id]}"), r"keys"),
        (
            (PLAIN, "derived: {_Deleted: 'id = 1'}", "state: {key: [id]}"),
            r"found a column _Deleted, and the state table has its own",
        ),
        (
            (EVENTS, KEYED, "exclude: [_op]", "state: {deleted_when: \"v = 'x'\"}"),
            r"expected the column _op, which tells what an event does to its key, found none",
        ),
    ],
)
def test_what_makes_no_state_is_refused(tmp_path: Path, lines: tuple[str, ...], told: str) -> None:
    with pytest.raises(SpecError, match=told):
        rules(tmp_path, *lines)


@pytest.mark.parametrize(
    "form",
    [
        PLAIN.replace("v STRING", "v STRING COLLATE UTF8_LCASE"),
        PLAIN + '\nderived: {k: "lower(v) COLLATE UTF8_LCASE"}',
    ],
)
def test_no_column_of_a_key_has_a_collation(tmp_path: Path, form: str) -> None:
    with pytest.raises(SpecError, match="COLLATE"):
        rules(tmp_path, form, "state: {key: [v]}")
