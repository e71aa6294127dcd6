"""Topic template: a spec that gives each topic a pipeline and a table of its own. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from sluice.spec_file.pipeline_names import Name, TableName, TopicName, default_group
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.starts import StartEarliest, StartGroup, StartTimestamp
from sluice.strict_model import Model

TOPIC = "{topic}"
"""Stands for the topic; in the names of pipeline and table, for the name made of it."""

NAME_OF_TEMPLATE = r"^[a-z0-9_]*\{topic\}[a-z0-9_{topic}]*$"
"""How a template writes the names of pipeline and table, for editors."""

_NAMED = ("pipeline", "table")
_TOLD = ("consumer_group", "description")
_STARTS = (StartEarliest, StartTimestamp, StartGroup)
_EXAMPLE = "topic"


class TemplateKeys(Model):
    """The keys that only a template has: which topics may get a pipeline, and how many."""

    topics_allowed: list[TopicName] | None = Field(default=None, min_length=1)
    most_pipelines: int = Field(default=50, ge=1, le=500)


class Names(Model):
    """What the pipeline of a topic and its table are called."""

    pipeline: Name
    table: TableName


def name_of(topic: str) -> str:
    """The name that stands for a topic: lower case, `_` for each dot and dash."""
    return topic.lower().replace(".", "_").replace("-", "_")


def is_template(keys: Mapping[str, Any]) -> bool:
    """Whether these keys of a file are a template's: a name in them has `{topic}`."""
    return any(TOPIC in each for key in _NAMED if isinstance(each := keys.get(key), str))


def misplaced(keys: Mapping[str, Any]) -> list[str]:
    """What is wrong with where a file has `{topic}`, or a template's keys: key, found, expected."""
    if not is_template(keys):
        own = [key for key in TemplateKeys.model_fields if key in keys]
        return [f"{key}: it goes with {TOPIC} in pipeline and table" for key in own]
    found = [
        f"{key}: found {keys.get(key)!r}; expected {TOPIC} in it, as in"
        f" {' and '.join(other for other in _NAMED if other != key)}"
        for key in _NAMED
        if TOPIC not in str(keys.get(key))
    ]
    if keys.get("topic_pattern") is None:
        found.append(f"topic_pattern: missing; {TOPIC} in pipeline and table needs it")
    may_have = (*_NAMED, *_TOLD)
    others = [key for key, value in keys.items() if key not in may_have and _has_topic(value)]
    found += [
        f"{key}: found {TOPIC} in it; expected it in {', '.join(may_have)} only" for key in others
    ]
    return found


def _has_topic(value: object) -> bool:
    if isinstance(value, Mapping):
        return any(_has_topic(each) for each in (*value, *value.values()))
    if isinstance(value, list):
        return any(map(_has_topic, value))
    return isinstance(value, str) and TOPIC in value


@dataclass(frozen=True)
class TopicTemplate:
    """A template: the keys that all its pipelines share, and which topics may get one.

    `spec` is how the whole pattern would be read: it selects the topics, by Kafka's connection.
    """

    keys: Mapping[str, Any]
    limits: TemplateKeys
    spec: PipelineSpec

    def allows(self, topic: str) -> bool:
        """Whether a topic of the pattern may get a pipeline."""
        allowed = self.limits.topics_allowed
        return allowed is None or topic in allowed

    def names(self, topic: str) -> dict[str, str]:
        """What the pipeline of a topic and its table would be called."""
        return {key: self.keys[key].replace(TOPIC, name_of(topic)) for key in _NAMED}

    def made(self, topic: str) -> PipelineSpec:
        """The spec of a topic's pipeline, as a file of its own would have it.

        Its names have to be valid `Names`. Everything else has been checked with the template, and
        is not checked again for each topic: a schema takes its time.
        """
        names = self.names(topic)
        told = {"consumer_group": default_group(names["pipeline"]), **_told(self.keys, topic)}
        if self.spec.consumer_group is None:
            del told["consumer_group"]
        own = {"topics": [topic], "topic_pattern": None, "except_topics": []}
        return self.spec.model_copy(update={**own, **told, **names})

    def findings(self) -> Iterator[str]:
        """What is wrong with the template as a whole: key, found, expected."""
        if not isinstance(self.spec.start, _STARTS):
            yield (
                "start: expected earliest, {timestamp: …} or {group: …}: topics that appear later"
                " would begin elsewhere than at their first record"
            )
        for topic in self.limits.topics_allowed or ():
            if not self.spec.selects(topic):
                yield (
                    f"topics_allowed: found {topic!r}; expected topics that topic_pattern matches"
                    " and except_topics does not have"
                )


def example_keys(keys: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of a template as the spec of its whole pattern."""
    own = {key: value for key, value in keys.items() if key not in TemplateKeys.model_fields}
    named = {key: own[key].replace(TOPIC, _EXAMPLE) for key in _NAMED}
    return {**own, **_told(own, _EXAMPLE), **named}


def limits_of(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the keys that only a template has."""
    return {key: value for key, value in keys.items() if key in TemplateKeys.model_fields}


def _told(keys: Mapping[str, Any], topic: str) -> dict[str, str]:
    found = {key: keys.get(key) for key in _TOLD}
    return {k: v.replace(TOPIC, topic) for k, v in found.items() if isinstance(v, str)}
