"""Findings: what is wrong with a spec, a line each, in the words of the spec."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sluice.errors import did_you_mean
from sluice.offsets import notation
from sluice.spec_file.alerts import Alerts
from sluice.spec_file.column_sources import ColumnSource
from sluice.spec_file.formats import CONNECTION, FORMATS, RECORD
from sluice.spec_file.key_formats import KEY_FORMATS, SCALARS
from sluice.spec_file.only import Only
from sluice.spec_file.pipeline_names import PIPELINE, TABLE
from sluice.spec_file.pipeline_spec import FILE_SIZE, PipelineSpec, Quarantine
from sluice.spec_file.places import INSTEAD
from sluice.spec_file.starts import (
    DeltaIngest,
    StartCheckpoint,
    StartDeltaIngest,
    StartGroup,
    StartOffsets,
    StartTimestamp,
)
from sluice.spec_file.topic_template import TemplateKeys
from sluice.strict_model import Model

_PARTS: Mapping[tuple[str, ...], type[Model]] = {
    ("quarantine",): Quarantine,
    ("only",): Only,
    ("alerts",): Alerts,
    **{("format", name): model for name, model in FORMATS.items()},
    **{("key_format", name): model for name, model in KEY_FORMATS.items()},
    ("start", "timestamp"): StartTimestamp,
    ("start", "offsets"): StartOffsets,
    ("start", "group"): StartGroup,
    ("start", "checkpoint"): StartCheckpoint,
    ("start", "delta_ingest"): StartDeltaIngest,
    ("start", "delta_ingest", "delta_ingest"): DeltaIngest,
}
_INSTEAD: Mapping[tuple[str, ...], str] = {
    (*above, key): why
    for key, why in INSTEAD.items()
    for above in ((), ("format",), ("key_format",))
}
# What pydantic calls a kind of error, as what was expected; a field's limits go into the braces.
_EXPECTED: Mapping[str, str] = {
    "string_type": "text",
    "string_too_short": "at least {min_length} character",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "list_type": "a list",
    "tuple_type": "a list",
    "too_short": "at least {min_length} entry",
    "too_long": "at most {max_length} entries",
    "dict_type": "keys with values",
    "model_type": "keys with values",
    "model_attributes_type": "keys with values",
    "literal_error": "{expected}",
    "datetime_type": "a moment such as 2026-01-31T06:00:00Z",
}
_OF_PATTERN: Mapping[str, str] = {
    PIPELINE: "a lower-case letter, then at most 63 of a-z, 0-9 and _",
    TABLE: "a lower-case letter, then at most 127 of a-z, 0-9 and _",
    FILE_SIZE: "a size such as 128m or 1g",
    CONNECTION: "a connection id: letters, digits and _, no digit first",
    RECORD: "a full name such as com.example.Order",
    notation.TOPIC: "a topic: at most 249 letters, digits, dots, _ and -",
}


def finding(place: Path | str, error: Mapping[str, Any]) -> str:
    """One of pydantic's errors as file, key path, what was found and what was expected."""
    location = [str(part) for part in error["loc"]]
    # For these keys, the second part names the chosen kind, which is not a key of the file.
    of_a_kind = location[:1] in (["format"], ["key_format"], ["start"])
    key = location[:1] + location[2:] if of_a_kind else location
    if error["type"] == "invalid_key":
        key = [*location[:-1], repr(error["input"])]
    where = f"{place}: {'.'.join(key)}".removesuffix(": ")
    if error["type"] in ("extra_forbidden", "invalid_key"):
        if instead := _INSTEAD.get(tuple(key)):
            return f"{where}: unknown key: {instead}"
        model = _model_of(tuple(location[:-1]))
        allowed = [field.alias or name for name, field in model.model_fields.items()]
        allowed += [*TemplateKeys.model_fields] if model is PipelineSpec else []
        meant = did_you_mean(str(location[-1]), allowed)
        return f"{where}: unknown key{meant}; allowed: {', '.join(allowed)}"
    if error["type"] == "missing":
        return f"{where}: missing"
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return f"{where}.type: {_wrong_type(error['input'], location[0])}"
    # Spark's configuration may hold secrets. What is wrong with a format as a whole names its keys.
    whole = error["type"] == "value_error" and location[:-1] in (["format"], ["key_format"])
    shown = bool(location) and location[0] != "spark" and not whole
    found = f"found {_as_written(error['input'])}; " if shown else ""
    return f"{where}: {found}{_expected(error)}"


def _model_of(part: tuple[str, ...]) -> type[Model]:
    """The keys that a part of the spec may have."""
    # Below `columns`, the second part is the name of a column.
    if part[:1] == ("columns",) and len(part) == 2:
        return ColumnSource
    return _PARTS.get(part, PipelineSpec)


def _wrong_type(form: Mapping[str, Any], key: str) -> str:
    """The invalid type of a format, as it is written, and what it may be."""
    allowed = KEY_FORMATS if key == "key_format" else FORMATS
    listed = f"allowed: {', '.join(allowed)}"
    if "type" not in form:
        return f"missing; {listed}"
    found = form["type"]
    if found in SCALARS:
        return f"found {_as_written(found)}; it is for keys: write key_format: {found}; {listed}"
    meant = did_you_mean(str(found).lower(), allowed)
    return f"found {_as_written(found)}{meant}; {listed}"


def _expected(error: Mapping[str, Any]) -> str:
    given = error.get("ctx", {})
    text = _OF_PATTERN.get(given.get("pattern", "")) or _EXPECTED.get(error["type"])
    if text is not None:
        return f"expected {text.format(**given)}"
    message: str = error["msg"].removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]}"


def _as_written(value: object) -> str:
    """A value as a reader of YAML knows it."""
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else repr(value)
