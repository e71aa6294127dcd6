"""Which topics get a pipeline: by pattern, allowed names, one name each, and a limit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.topic_choice import choose
from sluice.spec_file.topic_template import (
    TemplateKeys,
    TopicTemplate,
    example_keys,
    limits_of,
    name_of,
)

from tests.unit.spec_file.test_topic_template import KEYS


def template(**keys: Any) -> TopicTemplate:
    given = {**KEYS, **keys}
    spec = PipelineSpec.model_validate(example_keys(given))
    return TopicTemplate(given, TemplateKeys.model_validate(limits_of(given)), spec)


def test_new_topics_of_the_pattern_get_a_pipeline_and_others_none() -> None:
    seen = ["orders.us", "weather", "orders.eu", "orders.test", "__consumer_offsets"]
    found = choose(template(except_topics=["orders.test"]), ["orders.us"], seen)
    assert (found.kept, found.new) == (("orders.us",), ("orders.eu",))
    assert (found.refused, found.left_out, found.given_up) == ((), (), ())


def test_a_topic_that_vanished_keeps_its_pipeline() -> None:
    assert choose(template(), ["orders.eu"], []).kept == ("orders.eu",)


def test_a_topic_that_the_template_leaves_out_by_now_has_none_any_more() -> None:
    found = choose(template(except_topics=["orders.eu"]), ["orders.eu", "orders.us"], ["orders.eu"])
    assert (found.kept, found.given_up, found.new) == (("orders.us",), ("orders.eu",), ())


def test_topics_that_are_not_allowed_are_told_and_refuse_nothing() -> None:
    found = choose(template(topics_allowed=["orders.eu"]), [], ["orders.us", "orders.eu"])
    assert (found.new, found.not_allowed) == (("orders.eu",), ("orders.us",))
    assert (found.refused, found.left_out) == ((), ("orders.us",))


def test_of_new_topics_that_give_one_name_none_gets_it_and_both_are_named() -> None:
    found = choose(template(), [], ["orders.eu", "orders.a-b", "orders.a.b"])
    assert found.new == ("orders.eu",)
    assert found.left_out == ("orders.a-b", "orders.a.b")
    assert found.refused == (
        "topics orders.a-b, orders.a.b: found one name for all of them, 'orders_a_b', so that none"
        " has a pipeline; name all but one in except_topics, and give what is wanted a spec file of"
        " its own",
    )


def test_a_topic_that_has_the_name_keeps_it() -> None:
    found = choose(template(), ["orders.a.b"], ["orders.a-b", "orders.a.b"])
    assert (found.kept, found.new) == (("orders.a.b",), ())
    (told,) = found.refused
    assert told.startswith(
        "topic orders.a-b: found the name 'orders_a_b', which the topic orders.a.b already has;"
        " name it in except_topics"
    )


def test_a_name_stays_with_a_topic_that_is_left_out_by_now_as_its_rows_are_in_the_table() -> None:
    asked = template(except_topics=["orders.a.b"])
    found = choose(asked, ["orders.a.b"], ["orders.a-b", "orders.a.b"])
    assert (found.kept, found.new, found.given_up) == ((), (), ("orders.a.b",))
    assert "which the topic orders.a.b already has" in found.refused[0]


def test_capitals_give_one_name_too() -> None:
    assert len(choose(template(), [], ["orders.EU", "orders.eu"]).refused) == 1


def test_beyond_the_limit_no_topic_gets_one_and_those_that_have_one_keep_it() -> None:
    seen = [f"orders.{each}" for each in "cabd"]
    found = choose(template(most_pipelines=3), ["orders.d"], seen)
    assert (found.kept, found.new) == (("orders.d",), ("orders.a", "orders.b"))
    assert found.refused == (
        "most_pipelines: expected at most 3, found 4 topics; without a pipeline: topic orders.c;"
        " raise it, or name topics in except_topics",
    )


def test_a_limit_that_was_lowered_stops_nothing_and_is_told() -> None:
    found = choose(template(most_pipelines=1), ["orders.a", "orders.b"], [])
    assert found.kept == ("orders.a", "orders.b")
    assert found.refused == (
        "most_pipelines: expected at most 1, found 2 topics, which keep their pipelines; raise it,"
        " or name topics in except_topics",
    )


@pytest.mark.parametrize(
    ("keys", "topic", "told"),
    [
        (
            {"topic_pattern": ".*"},
            "9x",
            "topic 9x: pipeline: found '9x'; expected a lower-case letter, then at most 63 of a-z,"
            " 0-9 and _; put other letters around {topic}, or name it in except_topics",
        ),
        ({"topic_pattern": ".*"}, "o" * 65, "expected a lower-case letter, then at most 63 of"),
        ({"topic_pattern": ".*"}, "a__offsets", "names that end in __quarantine, __offsets or"),
        (
            {"topic_pattern": ".*", "pipeline": "sluice_{topic}"},
            "topics",
            "pipeline: found 'sluice_topics'; expected another name: Sluice has its own DAG",
        ),
    ],
    ids=str,
)
def test_a_topic_whose_name_does_not_fit_takes_no_place(
    keys: dict[str, Any], topic: str, told: str
) -> None:
    found = choose(template(**keys, most_pipelines=1), [], [topic, "x"])
    assert found.new == ("x",)
    (line,) = found.refused
    assert told in line


def test_of_very_many_topics_the_first_are_named_and_the_others_counted() -> None:
    found = choose(template(most_pipelines=1), [], [f"orders.{each:04}" for each in range(3000)])
    (told,) = found.refused
    assert "topics orders.0001, " in told
    assert "orders.0010 and 2,989 others; raise it" in told


def test_of_very_many_findings_the_first_are_told_and_the_others_counted() -> None:
    found = choose(template(topic_pattern=".*"), [], [f"9{each:03}" for each in range(900)])
    assert len(found.refused) == 21
    assert found.refused[-1] == "and 880 further findings"


NAMES = st.sets(st.sampled_from([f"orders.{a}{s}{b}" for a in "aA" for s in ".-_" for b in "xyz"]))


@given(NAMES, NAMES, NAMES, st.integers(1, 12))
def test_looks_in_any_order_never_take_a_name_twice_nor_a_pipeline_away(
    first: set[str], second: set[str], third: set[str], most: int
) -> None:
    known: list[str] = []
    asked = template(most_pipelines=most)
    for seen in (first, second, third):
        found = choose(asked, known, seen)
        assert list(found.kept) == sorted(known)
        assert {*found.new, *found.left_out} | {*found.kept} >= seen
        known = [*found.kept, *found.new]
        names = [name_of(each) for each in known]
        assert len(names) == len({*names}) <= most
        for each in found.left_out:
            assert any(each in line or "most_pipelines" in line for line in found.refused)
