"""Topic choice: which topics get a pipeline of a template, and why others get none. Pure.

A topic that has a pipeline keeps it, whatever appears later. New topics that would give one name
all get none: which of them was meant is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from sluice.spec_file.findings import finding
from sluice.spec_file.topic_template import Names, TopicTemplate, name_of

_SHOWN = 10
_LINES = 20
_LEAVE_OUT = "name {} in except_topics, and give what is wanted a spec file of its own"


@dataclass(frozen=True)
class TopicChoice:
    """The topics that have a pipeline, those that get one, and all others that were seen.

    `refused` says why topics get none. `not_allowed` are topics of the pattern that
    `topics_allowed` leaves out; `given_up` had a pipeline, and are left out by the template now.
    """

    kept: tuple[str, ...]
    new: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    not_allowed: tuple[str, ...] = ()
    given_up: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def choose(template: TopicTemplate, known: Iterable[str], seen: Iterable[str]) -> TopicChoice:
    """Which of the topics that were seen get a pipeline, beside those that are known to have one.

    At most `most_pipelines` have one, by name; a name that does not fit takes no place.
    """
    recorded = sorted({*known})
    kept = [each for each in recorded if template.spec.selects(each) and template.allows(each)]
    others = sorted(each for each in {*seen} - {*kept} if template.spec.selects(each))
    allowed = [each for each in others if template.allows(each)]
    # Also those that are left out by now: their rows are in the tables of these names.
    twins = _twins(recorded, allowed)
    misnamed = {e: why for e in allowed if e not in twins if (why := _misnamed(template, e))}
    fit = [each for each in allowed if each not in twins and each not in misnamed]
    free = max(0, template.limits.most_pipelines - len(kept))
    new = fit[:free]
    over = _over(template.limits.most_pipelines, len(kept) + len(new), fit[free:])
    return TopicChoice(
        kept=tuple(kept),
        new=tuple(new),
        refused=_shortened([*over, *dict.fromkeys(twins.values()), *misnamed.values()]),
        not_allowed=tuple(each for each in others if each not in allowed),
        given_up=tuple(each for each in recorded if each not in kept),
        left_out=tuple(each for each in others if each not in new),
    )


def _twins(recorded: Iterable[str], others: Iterable[str]) -> Mapping[str, str]:
    """The others whose name another topic gives, too: each with why it gets none."""
    holders = {name_of(each): each for each in recorded}
    by_name: dict[str, list[str]] = {}
    for each in others:
        by_name.setdefault(name_of(each), []).append(each)
    found: dict[str, str] = {}
    for name, topics in by_name.items():
        listed = listed_topics(topics)
        if holder := holders.get(name):
            why = f"{listed}: found the name {name!r}, which the topic {holder} already has; "
            found |= dict.fromkeys(
                topics, why + _LEAVE_OUT.format("it" if len(topics) == 1 else "them")
            )
        elif len(topics) > 1:
            why = (
                f"{listed}: found one name for all of them, {name!r}, so that none has a pipeline; "
            )
            found |= dict.fromkeys(topics, why + _LEAVE_OUT.format("all but one"))
    return found


def _misnamed(template: TopicTemplate, topic: str) -> str:
    """Why no pipeline or table can have the topic's name; nothing if they can."""
    try:
        Names.model_validate(template.names(topic))
    except ValidationError as problem:
        first = finding(f"topic {topic}", problem.errors()[0])
        return f"{first}; put other letters around {{topic}}, or " + _LEAVE_OUT.format("it")
    return ""


def _over(most: int, there: int, over: list[str]) -> list[str]:
    if not over and there <= most:
        return []
    left = (
        f"; without a pipeline: {listed_topics(over)}" if over else ", which keep their pipelines"
    )
    return [
        f"most_pipelines: expected at most {most}, found {there + len(over)} topics{left};"
        " raise it, or name topics in except_topics"
    ]


def _shortened(lines: list[str]) -> tuple[str, ...]:
    """The first of very many lines, and how many others there are."""
    further = len(lines) - _LINES
    return (*lines[:_LINES], *([f"and {further:,} further findings"] if further > 0 else []))


def listed_topics(topics: Iterable[str]) -> str:
    """`topic a`, `topics a, b`, or the first of many, and how many others there are."""
    found = [*topics]
    shown = ", ".join(found[:_SHOWN])
    more = f" and {len(found) - _SHOWN:,} others" if len(found) > _SHOWN else ""
    return f"{'topic' if len(found) == 1 else 'topics'} {shown}{more}"
