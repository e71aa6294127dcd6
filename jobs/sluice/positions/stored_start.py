"""The stored start: how the first plan's rows record where a pipeline began. Pure.

Stored texts stay for ever: never change one here, or old pipelines no longer parse as what they
were. Messages have their own wording.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from datetime import UTC, datetime

from sluice.positions.policies import (
    AtCheckpoint,
    AtGroup,
    AtMoment,
    AtOffsets,
    BehindDeltaIngest,
    Earliest,
    Latest,
)


@dataclass(frozen=True)
class UnknownStart:
    """A stored text of an unknown form."""

    text: str


KnownStart = Earliest | Latest | AtMoment | AtOffsets | AtGroup | AtCheckpoint | BehindDeltaIngest

_MOMENT = re.compile(r"\d{1,4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_DELTA_INGEST = re.compile(r"(.+?)(?:, app id (.+?))?(?:, topic (.+))?", re.DOTALL)
_STORED = re.compile(r"start: (\w+)(?: (.+))?", re.DOTALL)


def format_start(start: KnownStart | UnknownStart) -> str:
    """The stored text; the same start always gives the same text."""
    match start:
        case Earliest():
            return "start: earliest"
        case Latest():
            return "start: latest"
        case AtMoment(moment):
            return f"start: timestamp {moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        case AtOffsets(offsets):
            by_topic: dict[str, dict[int, int]] = {}
            for each, offset in sorted(offsets.items()):
                by_topic.setdefault(each.topic, {})[each.partition] = offset
            return f"start: offsets {by_topic}"
        case AtGroup(group):
            return f"start: group {group}"
        case AtCheckpoint(folder):
            return f"start: checkpoint {folder}"
        case BehindDeltaIngest(table, app_id, topic):
            app_id = f", app id {app_id}" if app_id else ""
            topic = f", topic {topic}" if topic else ""
            return f"start: delta_ingest {table}{app_id}{topic}"
        case UnknownStart(text):
            return text


def parse_start(text: str) -> KnownStart | UnknownStart:
    """Parse a stored text; UnknownStart keeps any other text as it is."""
    found = _STORED.fullmatch(text)
    match (found[1], found[2]) if found else (None, None):
        case "earliest", None:
            return Earliest()
        case "latest", None:
            return Latest()
        case "group", str(group):
            return AtGroup(group)
        case "checkpoint", str(folder):
            return AtCheckpoint(folder)
        case "timestamp", str(moment):
            return _moment(moment) or UnknownStart(text)
        case "offsets", str(offsets):
            return _offsets(offsets) or UnknownStart(text)
        case "delta_ingest", str(asked) if written := _DELTA_INGEST.fullmatch(asked):
            return BehindDeltaIngest(*written.groups())
    return UnknownStart(text)


def _moment(text: str) -> AtMoment | None:
    if not _MOMENT.fullmatch(text):
        return None
    try:
        # A year below 1000 is written with fewer digits.
        return AtMoment(datetime.fromisoformat(text.zfill(27)))
    except ValueError:
        return None


def _offsets(text: str) -> AtOffsets | None:
    # Loading it takes longer than all the rest here, and few pipelines begin at offsets.
    from pydantic import NonNegativeInt, TypeAdapter

    by_topic = TypeAdapter(dict[str, dict[NonNegativeInt, NonNegativeInt]])
    try:
        found = by_topic.validate_python(ast.literal_eval(text), strict=True)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None
    return AtOffsets.of(found)
