"""The trigger form of a reset: typed and bounded parameters, and which of them go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from airflow.sdk import Param

from sluice.errors import SettingsError
from sluice.scheduling.run_params import MOMENT, require_known_params

if TYPE_CHECKING:
    from sluice.offsets.notation import Positions
    from sluice.operations.reset.targets import Target

_SKIP, _TO_OFFSETS = "skip", "to-offsets"
# Each target with the parameter that has its value.
_VALUES = {
    "to-earliest": None,
    "to-latest": None,
    "to-table": None,
    "to-datetime": "moment",
    "by-duration": "duration",
    "shift-by": "shift",
    _TO_OFFSETS: "positions",
    "to-group": "group",
    _SKIP: "records",
}
_NAME = "[A-Za-z0-9._-]{1,249}"
_PLACE = rf"^{_NAME}\[\d{{1,9}}\]"
_TEXT = {"type": ["null", "string"], "section": "Where to"}
_LINES = {"type": ["null", "array"], "maxItems": 1000, "section": "Where to"}

_FORM: Mapping[str, Mapping[str, Any]] = {
    "moment": {
        **_TEXT,
        **MOMENT,
        "title": "to-datetime",
        "description": "The first record at or after this moment.",
    },
    "duration": {
        **_TEXT,
        "pattern": r"^P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$",
        "maxLength": 32,
        "title": "by-duration",
        "description": "The first record of so long ago: `PT1H`, `P1DT12H`.",
    },
    "shift": {
        "type": ["null", "integer"],
        "section": "Where to",
        "minimum": -(10**15),
        "maximum": 10**15,
        "title": "shift-by",
        "description": "So many offsets forward; back with a minus.",
    },
    "positions": {
        **_LINES,
        "items": {"type": "string", "pattern": rf"{_PLACE}=\d{{1,18}}$"},
        "title": "to-offsets",
        "description": "A position a line: `flights[0]=120`.",
    },
    "group": {
        **_TEXT,
        "minLength": 1,
        "maxLength": 255,
        "title": "to-group",
        "description": "Where this consumer group stands.",
    },
    "records": {
        **_LINES,
        "items": {"type": "string", "pattern": rf"{_PLACE}@\d{{1,18}}$"},
        "title": "skip",
        "description": "A record a line that is never to be read: `flights[0]@120`.",
    },
    "topics": {
        **_LINES,
        "items": {"type": "string", "pattern": rf"^{_NAME}(:\d{{1,9}}(,\d{{1,9}})*)?$"},
        "title": "Only these topics or partitions",
        "description": "One a line: `flights`, or `flights:0,2`. None: all of the pipeline.",
    },
    "reason": {
        "default": "",
        "type": "string",
        "maxLength": 1000,
        "title": "Reason",
        "description": "Why, for the record. Needed to execute.",
    },
    "execute": {
        "default": False,
        "type": "boolean",
        "title": "Execute",
        "description": "Make it so. Otherwise the log of `preview` shows what would be done.",
    },
    "as_previewed": {
        "type": ["null", "string"],
        "maxLength": 64,
        "pattern": r"^\d+-\d+-[0-9a-f]{8}$",
        "title": "As previewed",
        "description": "The id that an earlier run's preview showed: refuse to do anything else.",
    },
}


def reset_params(pipelines: Iterable[str]) -> dict[str, Param]:
    """What the form offers, with help texts."""
    names = sorted(pipelines)
    return {
        # These two have no default: a name that was mistyped must not move another cursor.
        "pipeline": Param(type="string", enum=names, title="Pipeline", description="Whose cursor."),
        "target": Param(
            type="string",
            enum=list(_VALUES),
            title="Target",
            description="Where the next run goes on. Offsets that are read again replace their"
            " rows; what is passed over is recorded. `skip` passes over single records only.",
        ),
        # Made anew each time: a Param keeps the value that it was given.
        **{name: Param(**{"default": None, **form}) for name, form in _FORM.items()},
    }


def where_to(params: Mapping[str, Any]) -> Target | Positions:
    """A target, or the positions to skip.

    Raises SettingsError for what does not go together, and for parameters that nobody knows.
    """
    require_known_params(params, ("pipeline", "target", *_FORM))
    name = params["target"]
    needed = _VALUES[name]
    given = {each for each in filter(None, _VALUES.values()) if params[each] is not None}
    if given != {needed} - {None}:
        raise SettingsError(
            f"target {name}: expected {needed or 'no value'} to be filled in, found"
            f" {', '.join(sorted(given)) or 'nothing'}."
        )
    try:
        return _read(name, params[needed] if needed else "", params["topics"] or ())
    except ValueError as problem:
        raise SettingsError(f"{needed or 'topics'}: {problem}") from None


def _read(name: str, value: Any, topics: Iterable[str]) -> Target | Positions:
    from sluice.offsets.notation import parse_positions, parse_scope
    from sluice.operations.reset.targets import named_target

    scopes = [parse_scope(each) for each in topics]
    if name != _SKIP:
        return named_target(name, " ".join(value) if name == _TO_OFFSETS else str(value), scopes)
    if scopes:
        raise ValueError("skip says itself which partitions it is about: leave the topic out")
    return parse_positions(value, "@")
