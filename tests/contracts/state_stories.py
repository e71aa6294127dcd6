"""State stories: what happens to a log and its state, so that two lakes can be compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from deltalake import DeltaTable
from sluice.state_table.topic_ranks import Stint, TopicRanks

from tests.contracts.state_stage import StateStage
from tests.worlds.altered_tables import clean_the_log

SCHEMA = "id BIGINT, v STRING, n INT, x DOUBLE, raw BINARY, gone BOOLEAN"
GONE = "__gone"
# Behind all ids that a broker gives.
LATER, LAST = "~later", "~~last"
Story = Callable[[StateStage], None]
STORIES: dict[str, tuple[dict[str, Any], Story]] = {}


def story(key: list[str] | None = None, **state: Any) -> Callable[[Story], Story]:
    """Add what happens on a stage, with these keys of `state`, to those that are compared."""
    spec = {
        "format": {"type": "json", "schema": SCHEMA},
        "state": {"key": key or ["id"], **state},
    }

    def add(found: Story) -> Story:
        STORIES[found.__name__] = spec, found
        return found

    return add


@story()
def a_log_without_rows(stage: StateStage) -> None:
    stage.run()
    stage.refresh()
    stage.follow({"id": 1, "v": "a"})
    stage.refresh()


@story(["_key"])
def upserts_and_deletes(stage: StateStage) -> None:
    stage.put({"v": "a"}, {"v": "b"}, key=b"1")
    stage.put({"v": "c"}, key=b"2")
    stage.follow(None, key=b"3")
    stage.put({"v": "d"}, None, {"v": "e"}, None, key=b"1")
    stage.put({"v": "f"}, key=b"3")
    stage.follow({"v": "g"}, key=b"4")
    stage.follow({"v": "h"}, key=b"1")


@story(order_by=["n", "x"])
def late_events(stage: StateStage) -> None:
    stage.follow({"id": 1, "n": 5, "x": 0.5}, {"id": 2, "n": 5}, {"id": 3}, {"id": 4, "n": 2})
    stage.put({"id": 1, "n": 4, "v": "older"}, {"id": 1, "n": 5, "x": -1, "v": "older"})
    stage.put({"id": 2, "n": 5, "v": "of the same order"}, {"id": 3, "n": 1, "v": "newer"})
    stage.follow({"id": 4, "n": 3}, {"id": 4, "n": 9, "v": "newest"}, {"id": 4, "n": 1})
    stage.put({"id": 4, "n": 9, "v": "elsewhere"}, partition=1)
    stage.follow({"id": 3, "v": "of no order"}, {"id": 1, "n": 1})


@story(["id", "v", "raw"])
def keys_of_several_columns(stage: StateStage) -> None:
    one, other = {"id": 1, "v": "a", "raw": "AAE="}, {"id": 1, "v": "a", "raw": "AAI="}
    stage.follow({**one, "n": 1}, {**other, "n": 2}, {**one, "v": "A", "n": 3})
    stage.follow({**other, "n": 4}, {**one, "v": "", "n": 5}, {**one, "id": 2, "n": 6})


@story(["x"])
def keys_that_are_numbers_of_two_spellings(stage: StateStage) -> None:
    stage.follow({"x": 0.0, "v": "zero"}, {"x": 1.5}, {"x": -0.0, "v": "minus zero"})
    stage.others_add(x=float("nan"), v="no number")
    stage.refresh()
    stage.others_add(x=float("nan"), v="no number again")
    stage.follow({"x": 0, "v": "zero again"})
    stage.follow({"x": -0.0, "v": "minus zero again"})


@story()
def rows_without_a_key_stop(stage: StateStage) -> None:
    stage.follow({"id": 1}, {"v": "x"}, {"v": "y"})
    stage.refresh()


@story(["id", "n"])
def a_row_without_a_key_stops_later(stage: StateStage) -> None:
    stage.follow({"id": 1, "n": 1})
    stage.follow({"id": 1, "n": 2}, {"id": 1})
    stage.refresh()


@story(["id", "n"], unkeyed="ignore")
def rows_without_a_key_are_left_out(stage: StateStage) -> None:
    stage.follow({"id": 1, "n": 1}, {"v": "x"}, {"n": 1}, {"id": 1})
    stage.follow({"id": 1}, {"id": 2})
    stage.follow({"id": 1}, {"id": 2, "n": 2}, {"id": 2, "n": 2, "v": "z"})
    DeltaTable(stage.data).update(updates={"n": "NULL"}, predicate="id = 2")
    stage.refresh()


@story()
def a_key_in_two_partitions(stage: StateStage) -> None:
    stage.follow({"id": 1}, {"id": 2})
    stage.put({"id": 3}, partition=1)
    stage.follow({"id": 2, "v": "elsewhere"}, partition=1)
    stage.refresh()


@story()
def a_key_in_two_partitions_at_once(stage: StateStage) -> None:
    stage.put({"id": 2}, {"id": 2}, partition=1)
    stage.follow({"id": 1}, {"id": 2}, {"id": 2})


@story(order_by=["_timestamp"])
def a_key_in_two_partitions_with_an_order(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    stage.follow({"id": 2, "v": "newer"}, partition=1)
    stage.follow({"id": 1, "v": "older"}, partition=1, at=0)
    stage.put({"id": 3, "v": "x"}, {"id": 3, "v": "y"}, at=50)
    stage.follow({"id": 3, "v": "z"}, at=50, partition=1)


def follows_a_later_topic(stage: StateStage) -> tuple[str, TopicRanks, TopicRanks]:
    """The topic's id, and the order of it and a later one of its name: known, and come back.

    It was left at offset 5. No broker gives an id again, so rows are added.
    """
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"}, {"id": 3, "v": "c"})
    first = stage.topic_id
    once = Stint(first, {0: 5}), Stint(LATER, {0: 9})
    stage.others_add(id=1, _topic_id=LATER, _offset=0, v="later")
    stage.refresh_by(TopicRanks({stage.topic: once}))
    again = (*once, Stint(first, {0: 9}))
    return first, TopicRanks({stage.topic: once}), TopicRanks({stage.topic: again})


@story()
def a_topic_that_comes_back(stage: StateStage) -> None:
    first, once, again = follows_a_later_topic(stage)
    stage.others_add(id=2, _topic_id=first, _offset=5, v="of one topic")
    stage.refresh_by(again)
    stage.others_add(id=1, _topic_id=first, _offset=4, v="from before it was left")
    stage.refresh_by(again)
    stage.others_add(id=1, _topic_id=first, _offset=6, v="newer or older")
    stage.refresh_by(again)
    stage.refresh_by(once)


@story()
def a_later_topic_behind_one_that_came_back(stage: StateStage) -> None:
    first, _, again = follows_a_later_topic(stage)
    stage.others_add(id=3, _topic_id=first, _offset=5, v="of one topic")
    stage.refresh_by(again)
    last = (*again.stints[stage.topic], Stint(LAST, {0: 1}))
    stage.others_add(id=3, _topic_id=LAST, _offset=0, v="newer than both")
    stage.refresh_by(TopicRanks({stage.topic: last}))
    stage.others_add(id=3, _topic_id=LATER, _offset=1, v="newer or older")
    stage.refresh_by(again)
    DeltaTable(stage.data).update(updates={"v": "'mended'"}, predicate="id = 3")
    stage.refresh_by(TopicRanks({stage.topic: last}))


@story()
def topics_whose_plans_are_gone(stage: StateStage) -> None:
    first, once, _ = follows_a_later_topic(stage)
    later = (Stint(LATER, {0: 9}),)
    stage.others_add(id=2, _topic_id=LATER, _offset=1, v="of a known plan")
    stage.refresh_by(TopicRanks({stage.topic: later}))
    stage.refresh_by(TopicRanks(once.stints, is_whole=False))
    stage.refresh_by(TopicRanks())
    for ranks in (TopicRanks(), TopicRanks(once.stints, is_whole=False), once):
        stage.compare(9, ranks)
    stage.others_add(id=3, _topic_id=first, _offset=7, v="of one topic")
    stage.refresh_by(TopicRanks({stage.topic: later}))
    stage.refresh_by(once)


@story(order_by=["n"])
def topics_that_come_back_with_an_order(stage: StateStage) -> None:
    first, once, again = follows_a_later_topic(stage)
    stage.others_add(id=1, _topic_id=first, _offset=7, n=1, v="newer")
    stage.refresh_by(again)
    stage.others_add(id=1, _topic_id=LATER, _offset=1, n=1, v="of the same order")
    stage.refresh_by(again)
    stage.others_add(id=1, _topic_id=LATER, _offset=2, n=1, v="of the same order, later")
    stage.refresh_by(TopicRanks(once.stints, is_whole=False))


@story()
def rows_that_others_change(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"}, {"id": 1, "v": "c"}, {"id": 3})
    DeltaTable(stage.data).delete("v = 'c' OR id = 3")
    stage.refresh()
    DeltaTable(stage.data).update(updates={"v": "'mended'"}, predicate="id = 2")
    stage.refresh()
    DeltaTable(stage.data).update(updates={"v": "'mended again'"}, predicate="id = 7")
    DeltaTable(stage.data).update(updates={"id": "7"}, predicate="id = 1")
    stage.follow({"id": 3, "v": "again"})
    stage.others_add(id=8, v="of others")
    stage.refresh()
    DeltaTable(stage.data).delete()
    stage.refresh()


@story()
def files_that_are_moved(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    stage.follow({"id": 1, "v": "c"})
    DeltaTable(stage.data).optimize.compact()
    stage.refresh()
    stage.put({"id": 2, "v": "d"})
    stage.run()
    stage.put({"id": 3, "v": "e"})
    stage.run()
    DeltaTable(stage.data).optimize.compact()
    stage.refresh()
    DeltaTable(stage.data).alter.set_table_properties({"note": "x"}, raise_if_not_exists=False)
    stage.refresh()


@story()
def a_log_that_is_put_back(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    stage.follow({"id": 1, "v": "c"}, {"id": 3, "v": "d"}, None)
    stage.refresh()
    DeltaTable(stage.data).restore(1)
    stage.refresh()


@story()
def columns_that_come_later(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    grown = {"type": "json", "schema": f"{SCHEMA}, late STRING"}
    stage.trips.write_spec(format=grown)
    stage.follow({"id": 1, "v": "c", "late": "x"}, {"id": 3, "late": "y"})
    stage.follow({"id": 2, "v": "d"})


@story()
def a_column_that_comes_without_rows(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"})
    add_column(stage)
    stage.refresh()
    stage.follow({"id": 1, "v": "b"})


@story()
def a_column_that_comes_with_changed_rows(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    add_column(stage)
    DeltaTable(stage.data).update(updates={"late": "'x'"}, predicate="id = 2")
    stage.refresh()


def add_column(stage: StateStage) -> None:
    from deltalake import Field
    from deltalake.schema import PrimitiveType

    DeltaTable(stage.data).alter.add_columns([Field("late", PrimitiveType("string"))])


@story(["_key"], unavailable=GONE, order_by=["n"])
def values_that_are_unavailable(stage: StateStage) -> None:
    stage.put({"n": 1, "v": "a", "raw": "AAE="}, {"n": 2, "v": GONE, "raw": None}, key=b"1")
    stage.put({"n": 5, "v": GONE}, key=b"2")
    stage.follow({"n": 1, "v": GONE}, {"n": 2, "v": None}, {"n": 3, "v": GONE}, key=b"3")
    stage.follow({"n": 6, "v": GONE}, key=b"1")
    stage.put({"n": 7, "v": "b"}, {"n": 8, "v": GONE}, key=b"1")
    stage.follow({"n": 6, "v": GONE}, {"n": 7, "v": GONE}, key=b"2")


@story(["_key"], unavailable=GONE, order_by=["n"])
def late_values_that_were_unavailable(stage: StateStage) -> None:
    stage.put({"n": 5, "v": GONE}, key=b"1")
    stage.put({"n": 1, "v": "a"}, {"n": 5, "v": GONE}, key=b"2")
    stage.follow({"n": 5, "v": "b"}, key=b"3")
    stage.follow({"n": 3, "v": "late"}, key=b"1")
    stage.put({"n": 4, "v": "late"}, {"n": 6, "v": GONE}, key=b"2")
    stage.follow({"n": 4, "v": "too late"}, key=b"3")
    stage.follow({"n": 0, "v": "too late"}, key=b"1")


@story(["_key"], unavailable=GONE)
def unavailable_values_of_changed_rows(stage: StateStage) -> None:
    stage.put({"n": 1, "v": "a"}, {"n": 2, "v": "b"}, {"n": 3, "v": GONE}, key=b"1")
    stage.follow({"n": 1, "v": "c"}, {"n": 2, "v": GONE}, None, {"n": 4, "v": GONE}, key=b"2")
    DeltaTable(stage.data).delete("n = 2")
    stage.refresh()


@story(deleted_when="gone")
def keys_that_a_column_deletes(stage: StateStage) -> None:
    stage.follow({"id": 1, "gone": True}, {"id": 2, "gone": False}, {"id": 3})
    stage.follow({"id": 2, "gone": True}, {"id": 1}, {"id": 3, "gone": None})


@story(deleted_when="v = 'd'")
def keys_that_a_word_deletes(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "d"}, {"id": 2, "v": "D"}, {"id": 3})


@story(deleted_when="n = 0")
def keys_that_a_number_deletes(stage: StateStage) -> None:
    stage.follow({"id": 1, "n": 0}, {"id": 2, "n": 1}, {"id": 3})


@story(deleted_when="x IS NULL")
def keys_that_a_null_deletes(stage: StateStage) -> None:
    stage.follow({"id": 1, "x": 0}, {"id": 2})


@story()
def a_log_that_was_cleaned(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"})
    stage.put({"id": 1, "v": "c"}, {"id": 3, "v": "d"})
    stage.run()
    DeltaTable(stage.data).delete("id = 2")
    clean_the_log(stage.landing)
    stage.refresh()
    stage.follow({"id": 3, "v": "e"})


@story()
def keys_that_differ(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"}, {"id": 2, "v": "b"}, {"id": 3, "v": "c"})
    stage.put({"id": 1, "v": "d"}, {"id": 4, "v": "e"}, {"id": 3, "v": "f"})
    stage.run()
    DeltaTable(stage.data).delete("id = 2")
    stage.compare(2)
    stage.compare(9)


@story()
def rules_that_change(stage: StateStage) -> None:
    stage.follow({"id": 1, "v": "a"})
    stage.trips.write_spec(state={"key": ["id"], "order_by": ["n"]})
    stage.refresh()
