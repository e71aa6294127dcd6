"""A template: where `{topic}` may stand, the names made of a topic, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from sluice.errors import SpecError
from sluice.spec_file.topic_template import is_template, name_of
from sluice.spec_folder import load_spec, read_specs

KEYS: dict[str, Any] = {
    "version": 1,
    "pipeline": "{topic}",
    "table": "{topic}",
    "topic_pattern": r"orders\..*",
    "format": {"type": "raw"},
}


def refused(folder: Path, **keys: Any) -> list[str]:
    """The lines that a folder with this template says are wrong."""
    file = folder / "orders.yaml"
    given = {key: value for key, value in {**KEYS, **keys}.items() if value is not ...}
    file.write_text(yaml.safe_dump(given), encoding="utf-8")
    problems = read_specs(folder).refused
    return [
        line.removeprefix(f"{file}: ")
        for each in problems.values()
        for line in str(each).splitlines()
    ]


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("orders.eu", "orders_eu"),
        ("orders-eu", "orders_eu"),
        ("Orders.EU-west_1", "orders_eu_west_1"),
        ("9x", "9x"),
    ],
)
def test_a_name_has_an_underscore_for_each_dot_and_dash_and_no_capitals(
    topic: str, name: str
) -> None:
    assert name_of(topic) == name


def test_a_pattern_without_the_word_topic_stays_one_pipeline_for_all() -> None:
    one = {**KEYS, "pipeline": "orders", "table": "orders"}
    assert not is_template(one)
    assert is_template(KEYS)
    assert is_template({**one, "table": "all_{topic}"})
    assert not is_template({**one, "table": ["{topic}"]})


def test_a_template_is_valid_before_any_topic_is_found(tmp_path: Path) -> None:
    assert refused(tmp_path) == []
    found = read_specs(tmp_path)
    assert found.accepted == {}
    (template,) = found.templates.values()
    assert template.choice.kept == ()
    assert template.template.limits.most_pipelines == 50


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"pipeline": "orders"}, "pipeline: found 'orders'; expected {topic} in it, as in table"),
        ({"table": "orders"}, "table: found 'orders'; expected {topic} in it, as in pipeline"),
        ({"topic_pattern": ...}, "topic_pattern: missing; {topic} in pipeline and table needs it"),
        (
            {"format": {"type": "json", "schema_file": "{topic}.json"}},
            "format: found {topic} in it; expected it in pipeline, table, consumer_group,"
            " description only",
        ),
        (
            {"pipeline": "orders", "table": "orders", "most_pipelines": 3},
            "most_pipelines: it goes with {topic} in pipeline and table",
        ),
        ({"most_pipelines": 0}, "most_pipelines: found 0; expected at least 1"),
        ({"most_pipelines": 501}, "most_pipelines: found 501; expected at most 500"),
        ({"topics_allowed": []}, "topics_allowed: found []; expected at least 1 entry"),
        (
            {"topics_allowed": ["orders.eu", "weather"]},
            "topics_allowed: found 'weather'; expected topics that topic_pattern matches and"
            " except_topics does not have",
        ),
        (
            {"start": "latest"},
            "start: expected earliest, {timestamp: …} or {group: …}: topics that appear later would"
            " begin elsewhere than at their first record",
        ),
        (
            {"pipeline": "Orders_{topic}"},
            "pipeline: found 'Orders_topic'; expected a lower-case letter, then at most 63 of a-z,"
            " 0-9 and _",
        ),
        (
            {"table": "{topic}__offsets"},
            "table: found 'topic__offsets'; names that end in __quarantine, __offsets or __state"
            " are Sluice's own",
        ),
        ({"topics": ["orders.eu"]}, "expected exactly one of the keys topics and topic_pattern"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_told_by_file_key_found_and_expected(
    keys: dict[str, Any], told: str, tmp_path: Path
) -> None:
    assert refused(tmp_path, **keys) == [told]


def test_a_mistyped_key_of_a_template_leads_to_the_right_one(tmp_path: Path) -> None:
    (line,) = refused(tmp_path, most_pipeline=3)
    assert line.startswith("most_pipeline: unknown key (did you mean most_pipelines?); allowed: ")


def test_a_single_spec_cannot_be_read_from_a_template(tmp_path: Path) -> None:
    refused(tmp_path)
    with pytest.raises(SpecError, match=r"pipeline: found '{topic}'; expected a lower-case"):
        load_spec(tmp_path / "orders.yaml")
