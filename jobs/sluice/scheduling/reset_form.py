"""The trigger form of a reset: typed, bounded parameters, and which of them can be combined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airflow.sdk import Param

from sluice.errors import SettingsError
from sluice.offsets import notation
from sluice.positions.names import SKIP, TARGETS
from sluice.scheduling.run_params import (
    BRING_BACK_ERASED,
    LINES,
    MOMENT,
    SWITCH,
    bring_back_erased,
    require_known_params,
)

if TYPE_CHECKING:
    from sluice.offsets.notation import Positions
    from sluice.operations.reset.targets import Target

_RARELY = "Rarely needed"
_TEXT = {"type": ["null", "string"]}
# What a target's value may be, by parameter.
_BOUNDS: Mapping[str, Mapping[str, Any]] = {
    "moment": MOMENT,
    "duration": {**_TEXT, "maxLength": 32},
    "shift": {"type": ["null", "integer"], "minimum": -(10**15), "maximum": 10**15},
    "positions": LINES,
    "group": {**_TEXT, "minLength": 1, "maxLength": 255},
    "records": LINES,
}
_VALUES = {each.parameter: each for each in TARGETS.values() if each.parameter}

# In the order of the form: each target's value right below the target.
_FORM: Mapping[str, Mapping[str, Any]] = {
    **{
        parameter: {
            **_BOUNDS[parameter],
            "title": f"{each.title} (for {each.target})",
            "description": each.description,
        }
        for parameter, each in _VALUES.items()
    },
    "topics": {
        **LINES,
        "title": "Only these topics or partitions",
        "description": "One per line: `{topic}`, or `{topic}:0,2`. None: all of the pipeline.",
    },
    "reason": {
        **_TEXT,
        "maxLength": 1000,
        "title": "Reason",
        "description": "Why, for the record. Needed to execute, not to preview.",
    },
    "execute": {
        **SWITCH,
        "default": False,
        "title": "Execute",
        "description": "Do it. Otherwise the log of `preview` shows what would be done.",
    },
    "as_previewed": {
        **_TEXT,
        "maxLength": 64,
        "title": "As previewed",
        "description": "The id from an earlier run's preview: do exactly that, or refuse.",
    },
    "new_cluster": {
        **SWITCH,
        "default": False,
        "section": _RARELY,
        "title": "New cluster",
        "description": "The connection leads to another Kafka cluster, which has taken the place"
        " of the one before: go on with it, in all partitions.",
    },
}


def reset_params(pipelines: Iterable[str], topic: str) -> dict[str, Param]:
    """The form's fields, with help texts; `topic` is one of theirs, for examples."""
    names = sorted(pipelines)
    return {
        # These two have no default: a mistyped name must not move another cursor.
        "pipeline": Param(
            type="string", enum=names, title="Pipeline", description="The pipeline to reset."
        ),
        "target": Param(
            type="string",
            enum=list(TARGETS),
            title="Target",
            description="Where the next run continues. Offsets that are read again replace their"
            " rows; skipped ones are recorded. `skip` passes over single records only.",
        ),
        # Made anew each time: a Param keeps the value that was set.
        **{name: _field(form, topic) for name, form in _FORM.items()},
        BRING_BACK_ERASED: bring_back_erased(_RARELY),
    }


def _field(form: Mapping[str, Any], topic: str) -> Param:
    description = form["description"].format(topic=topic)
    return Param(**{"default": None, **form, "description": description})


def where_to(params: Mapping[str, Any]) -> Target | Positions:
    """A target, or the positions to skip.

    Raises SettingsError for fields that cannot be combined, and for unknown parameters.
    """
    require_known_params(params, ("pipeline", "target", *_FORM, BRING_BACK_ERASED))
    name = params["target"]
    needed = TARGETS[name].parameter
    given = {each for each in _VALUES if params[each] is not None}
    if given != {needed} - {""}:
        raise SettingsError(
            f"target {name}: expected {needed or 'no value'} to be filled in, found"
            f" {', '.join(sorted(given)) or 'nothing'}."
        )
    try:
        value = params[needed] if needed else ""
        return _read(name, value, params["topics"] or (), bool(params["new_cluster"]))
    except ValueError as problem:
        raise SettingsError(f"{needed or 'topics'}: {problem}") from None


def _read(name: str, value: Any, topics: Iterable[str], new_cluster: bool) -> Target | Positions:
    from sluice.operations.reset.targets import named_target

    scopes = [notation.parse_scope(each) for each in topics]
    if name != SKIP or new_cluster:
        text = " ".join(value) if TARGETS[name].repeatable else str(value)
        return named_target(name, text, scopes, new_cluster)
    if scopes:
        raise ValueError("skip already names its partitions: leave the topic out")
    return notation.parse_positions(value, "@")
