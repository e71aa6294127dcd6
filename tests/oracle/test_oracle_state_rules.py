"""What the oracle takes for the state of a log: order, keys, deletions, placeholders."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracle import StateRules, Unjudgeable
from tests.oracle.state import NoOrder, Row, State, expected_state
from tests.oracle.state_values import equal, plain, rank, unchanged
from tests.oracle.state_world import record
from tests.oracle.topic_ids import TopicIds

IDS = TopicIds.in_turn({"t": "AB"})
KEY = ("_key_id",)
BY_OFFSET = StateRules(KEY)
BY_PRICE = StateRules(KEY, order_by=("price", "name"))


def offsets(state: State) -> dict[Any, int]:
    """Key → the offset of its row."""
    return {key[0]: row["_offset"] for key, row in state.items()}


def newest(rules: StateRules, *rows: Row, ids: TopicIds = IDS) -> dict[Any, int]:
    return offsets(expected_state(rows, rules, ids))


def test_the_greatest_offset_of_a_partition_counts() -> None:
    rows = [record(1, (0, 7)), record(1, (0, 9)), record(1, (0, 8)), record(2, (1, 3))]
    assert newest(BY_OFFSET, *rows) == {1: 9, 2: 3}


def test_a_later_topic_id_comes_after_all_offsets_of_an_earlier_one() -> None:
    rows = [record(1, (0, 0), _topic_id="B"), record(1, (1, 9))]
    assert newest(BY_OFFSET, *rows) == {1: 0}


def test_declared_columns_come_first_one_after_the_other() -> None:
    rows = [
        record(1, (0, 9), price=1.0, name="z"),
        record(1, (1, 5), price=2.0, name="a"),
        record(1, (0, 1), price=2.0, name="b", _topic_id="A"),
        record(1, (0, 0), price=2.0, name=None, _topic_id="B"),
    ]
    assert newest(BY_PRICE, *rows) == {1: 1}


def test_of_equal_declared_columns_rank_offset_and_partition_decide() -> None:
    rows = [record(1, (0, 9)), record(1, (1, 9)), record(1, (2, 8))]
    state = expected_state(rows, BY_PRICE, IDS)
    assert state[(1,)]["_partition"] == 1
    assert newest(BY_PRICE, *rows, record(1, (0, 0), _topic_id="B")) == {1: 0}


def test_null_is_the_smallest_and_nan_the_greatest() -> None:
    values = [None, -math.inf, -1.0, -0.0, 1.0, math.inf, math.nan]
    ranks = [rank(value) for value in values]
    assert ranks == sorted(ranks)
    assert len({*ranks}) == len(values)
    assert rank(0.0) == rank(-0.0)
    assert rank([None, 2]) < rank([1]) < rank([1, None]) < rank([1, 0])
    assert rank({"a": None, "b": 9}) < rank({"a": 1, "b": None})
    assert rank(b"\x7f") < rank(b"\x80")
    assert rank("\uffff") < rank("\U00010000"), "by code point, as bytes of UTF-8 sort"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (math.nan, float("nan")),
        (0.0, -0.0),
        ([math.nan, None], [float("nan"), None]),
        ({"a": -0.0}, {"a": 0.0}),
        (Decimal("1.0"), Decimal("1.00")),
    ],
)
def test_values_that_are_one_key(one: Any, other: Any) -> None:
    assert equal(one, other)
    rows = [record(None, (0, 0), price=one), record(None, (0, 1), price=other)]
    state = expected_state(rows, StateRules(("price",)), IDS)
    assert [row["_offset"] for row in state.values()] == [1]
    assert state[(plain(one),)] is state[(plain(other),)]


@pytest.mark.parametrize(
    ("one", "other"),
    [(b"a", b"b"), ("a", "A"), ([], [None]), ({"a": None}, {"a": 0}), (0.0, 5e-324)],
)
def test_values_that_are_two_keys(one: Any, other: Any) -> None:
    assert not equal(one, other)
    rows = [record(None, (0, 0), price=one), record(None, (0, 1), price=other)]
    assert len(expected_state(rows, StateRules(("price",)), IDS)) == 2


def test_a_copy_keeps_the_sign_of_a_zero_and_nan_is_nan() -> None:
    assert unchanged([math.nan, {"a": b"x"}], [float("nan"), {"a": b"x"}])
    assert not unchanged(0.0, -0.0)
    assert not unchanged([0.0], [-0.0])
    assert not unchanged("1", 1)


def test_a_key_of_two_columns_without_one_of_them_is_none() -> None:
    rules = StateRules(("_key_id", "name"))
    rows = [record(1, (0, 0), name="a"), record(1, (0, 1), name="b"), record(1, (0, 2))]
    assert {*expected_state(rows, rules, IDS)} == {(1, "a"), (1, "b")}
    assert rules.unkeyed_in(rows) == [rows[2]]


@pytest.mark.parametrize(
    ("rules", "other"),
    [
        (BY_OFFSET, {"_partition": 1}),
        (BY_OFFSET, {"_topic": "u", "_topic_id": "B"}),
    ],
    ids=["partitions", "topics"],
)
def test_a_key_without_order_is_told_with_both_places(
    rules: StateRules, other: dict[str, Any]
) -> None:
    rows = [record(1, (0, 4)), record(1, (0, 4), **other), record(2, (1, 4))]
    with pytest.raises(NoOrder, match=r"key 1 has no order between \w\[\d\] 4 .* and \w") as none:
        expected_state(rows, rules, TopicIds.in_turn({"t": "AB", "u": ["A2", "B"]}))
    assert none.value.key == (1,)
    assert none.value.first != none.value.second


@pytest.mark.parametrize(
    ("rows", "is_known"),
    [
        ([("A", 4), ("B", 9)], True),
        ([("A", 5), ("B", 9)], False),
        ([("B", 9), ("A", 7)], False),
        ([("A", 4), ("A", 7)], True),
        ([("A", 7), ("C", 0)], True),
        ([("B", 9), ("C", 0)], True),
        ([("C", 0), ("A", 8)], False),
        ([("B", 9), ("A", 8)], False),
    ],
)
def test_what_a_topic_got_while_others_were_read_has_no_order_among_their_rows(
    rows: list[tuple[str, int]], is_known: bool
) -> None:
    read = [("A", 5), ("B", 10), ("A", 8), ("C", 1), ("A", 9)]
    ids = TopicIds.named_by([(at, "t", 0, *each, 10) for at, each in enumerate(read)])
    log = [record(1, (0, offset), _topic_id=topic_id) for topic_id, offset in rows]
    if is_known:
        assert newest(BY_OFFSET, *log, ids=ids) == {1: rows[1][1]}
    else:
        with pytest.raises(NoOrder):
            newest(BY_OFFSET, *log, ids=ids)
    assert len(newest(BY_PRICE, *log, ids=ids)) == 1


def test_what_a_copy_of_a_topic_lacked_when_it_was_read_again_is_not_what_it_held_before() -> None:
    read = [("A", 7, 7), ("B", 5, 5), ("A", 4, 4), ("A", 9, 9)]
    plans = [(min(at, 2), "t", 0, *each) for at, each in enumerate(read)]
    log = [record(1, (0, offset), _topic_id=topic_id) for topic_id, offset in (("A", 4), ("B", 1))]
    with pytest.raises(NoOrder):
        newest(BY_OFFSET, *log, ids=TopicIds.named_by(plans))
    log[0] = record(1, (0, 3))
    assert newest(BY_OFFSET, *log, ids=TopicIds.named_by(plans)) == {1: 1}


def test_with_an_order_topics_at_the_same_place_go_by_their_names() -> None:
    rows = [record(1, (0, 4)), record(1, (0, 4), _topic="u", _topic_id="A2")]
    found = expected_state(rows, BY_PRICE, TopicIds.in_turn({"t": "AB", "u": ["A2", "B"]}))
    assert [row["_topic"] for row in found.values()] == ["u"]


def test_a_key_that_moved_with_a_later_topic_id_has_an_order() -> None:
    assert newest(BY_OFFSET, record(1, (0, 4)), record(1, (1, 2), _topic_id="B")) == {1: 2}


def test_a_tombstone_deletes_and_so_does_what_the_rules_say() -> None:
    rules = StateRules(KEY, deletes=lambda row: row["_op"] == "d")
    rows = [
        record(1, (0, 0)),
        record(2, (0, 1), _tombstone=True),
        record(3, (0, 2), _op="d"),
        record(4, (0, 3), _op="d"),
        record(4, (0, 4), _op="c"),
    ]
    state = expected_state(rows, rules, IDS)
    assert [row["_deleted"] for row in state.values()] == [False, True, True, False]


def test_a_truncation_deletes_the_keys_below_it() -> None:
    rules = StateRules(KEY, ("price",), truncates=lambda row: row["_op"] == "t")
    rows = [
        record(1, (0, 0), price=1.0),
        record(None, (0, 1), price=2.0, _op="t"),
        record(2, (1, 0), price=3.0),
    ]
    state = expected_state(rows, rules, IDS)
    assert {key: row["_deleted"] for key, row in state.items()} == {(1,): True, (2,): False}
    assert rules.unkeyed_in(rows) == []
    with pytest.raises(NoOrder):
        expected_state(rows, StateRules(KEY, truncates=rules.truncates), IDS)


def test_a_message_is_no_row_of_any_key_with_a_key_or_without() -> None:
    rules = StateRules(KEY, messages=lambda row: row["_op"] == "m")
    rows = [record(1, (0, 0)), record(1, (0, 1), _op="m"), record(None, (0, 2), _op="m")]
    assert newest(rules, *rows) == {1: 0}
    assert rules.unkeyed_in(rows) == []
    assert len(StateRules(KEY).unkeyed_in(rows)) == 1


def test_a_placeholder_takes_the_next_older_value() -> None:
    rules = StateRules(KEY, unavailable="?")
    rows = [
        record(1, (0, 0), name="old", photo=b"old", tags=["old"]),
        record(1, (0, 1), name="new", photo=None, tags=["?", "?"]),
        record(1, (0, 2), name="?", photo=b"?", tags=["?"]),
        record(1, (0, 3), name="?", photo=b"?", tags=["?"]),
    ]
    row = expected_state(rows, rules, IDS)[(1,)]
    assert (row["_offset"], row["name"], row["photo"]) == (3, "new", None)
    assert row["tags"] == ["?", "?"]
    first = expected_state(rows[3:], rules, IDS)[(1,)]
    assert (first["name"], first["photo"], first["tags"]) == (None, None, None)
    assert expected_state(rows, BY_OFFSET, IDS)[(1,)]["name"] == "?"


def test_a_key_that_reads_like_the_placeholder_stays() -> None:
    rules = StateRules(("name",), unavailable="?")
    state = expected_state([record(1, (0, 0), name="?")], rules, IDS)
    assert {key: row["name"] for key, row in state.items()} == {("?",): "?"}


def test_a_topic_id_without_a_plan_is_not_judged() -> None:
    with pytest.raises(Unjudgeable, match="no plan names its topic id"):
        expected_state([record(1, (0, 0), _topic_id="C")], BY_OFFSET, IDS)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"key": ()}, "at least one column"),
        ({"key": ["a"]}, "a tuple"),
        ({"key": ("a", "a")}, "different columns"),
        ({"order_by": ["a"]}, "a tuple"),
        ({"unkeyed": "drop"}, "stop or ignore"),
    ],
)
def test_wrong_rules_are_refused(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        StateRules(**{"key": KEY, **wrong})


FLOATS = st.sampled_from([None, -1.0, -0.0, 0.0, 2.0, math.nan])


@st.composite
def logs(draw: st.DrawFn) -> list[Row]:
    """Rows of few keys in two partitions and two topic ids, each place once."""
    places = draw(st.lists(st.tuples(st.sampled_from("AB"), st.integers(0, 1)), max_size=25))
    names = st.sampled_from([None, "a", "b", "?"])
    return [
        record(
            draw(st.sampled_from([None, 1, 2, 3])),
            (partition, offset),
            _topic_id=topic_id,
            price=draw(FLOATS),
            name=draw(names),
            _tombstone=draw(st.booleans()),
        )
        for offset, (topic_id, partition) in enumerate(places)
    ]


ORDERED = StateRules(("_key_id",), order_by=("price",), unavailable="?")
PLAIN = StateRules(("_key_id",), order_by=("price",))
DOUBLE_KEY = StateRules(("price",), order_by=("name",))


def same(one: State, other: State) -> bool:
    return {key: plain(row) for key, row in one.items()} == {
        key: plain(row) for key, row in other.items()
    }


@given(logs(), st.randoms(use_true_random=False), st.sampled_from([ORDERED, PLAIN, DOUBLE_KEY]))
def test_the_order_in_which_rows_lie_does_not_matter(
    log: list[Row], random: Any, rules: StateRules
) -> None:
    shuffled = random.sample(log, len(log))
    assert same(expected_state(log, rules, IDS), expected_state(shuffled, rules, IDS))


@given(logs(), st.integers(0, 25), st.sampled_from([PLAIN, DOUBLE_KEY]))
def test_a_log_in_two_spans_has_the_state_of_the_whole(
    log: list[Row], cut: int, rules: StateRules
) -> None:
    first = expected_state(log[:cut], rules, IDS)
    second = expected_state([*first.values(), *log[cut:]], rules, IDS)
    assert same(second, expected_state(log, rules, IDS))


@given(logs(), st.integers(0, 25))
def test_with_placeholders_so_has_a_log_that_is_cut_in_its_order(log: list[Row], cut: int) -> None:
    log = [{**row, "_topic_id": "A", "price": None} for row in log]
    first = expected_state(log[:cut], ORDERED, IDS)
    second = expected_state([*first.values(), *log[cut:]], ORDERED, IDS)
    assert same(second, expected_state(log, ORDERED, IDS))


def test_a_late_row_may_be_what_a_placeholder_stands_for() -> None:
    """So a state that only goes forward must look into the log where both are in use."""
    log = [record(1, (0, 0), price=2.0, name="?"), record(1, (0, 1), price=1.0, name="late")]
    assert expected_state(log, ORDERED, IDS)[(1,)]["name"] == "late"
    first = expected_state(log[:1], ORDERED, IDS)
    assert first[(1,)]["name"] is None
    assert not same(
        expected_state([*first.values(), log[1]], ORDERED, IDS),
        expected_state(log, ORDERED, IDS),
    )
