"""Table properties: those of Delta that a spec may set, within bounds. Pure.

Each was judged: what could remove rows, forget committed batches or keep a reset from its fence is
not among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from sluice.columns.names import as_compared
from sluice.errors import did_you_mean
from sluice.spec_file.intervals import read_interval

WIDENS_TYPES = "delta.enableTypeWidening"
CHANGE_FEED = "delta.enableChangeDataFeed"
# Delta's CDCReader.scala: it refuses the first three, and reads wrong types for the last.
_OF_CHANGE_FEED = {"_change_type", "_commit_version", "_commit_timestamp", "__is_cdc"}
_WEEK = timedelta(days=7)


def _lasts(least: timedelta) -> tuple[str, Callable[[str], bool]]:
    def fits(value: str) -> bool:
        found = read_interval(value)
        return found is not None and found >= least

    return f"an interval of at least {least.days} days, such as 'interval 30 days'", fits


def _between(least: int, most: int) -> tuple[str, Callable[[str], bool]]:
    return (
        f"a whole number from {least} to {most}",
        lambda value: value.isdecimal() and len(value) < 9 and least <= int(value) <= most,
    )


ALLOWED: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "delta.checkpointInterval": _between(1, 1000),
    # VACUUM must not delete what a run has just written (tables.retention).
    "delta.deletedFileRetentionDuration": _lasts(_WEEK),
    CHANGE_FEED: ("true or false", ("true", "false").__contains__),
    # Who writes to the table besides, and where each batch landed, is read from the log.
    "delta.logRetentionDuration": _lasts(_WEEK),
}
# For editors: in YAML a value may also be a number, or true.
SCHEMA = {
    "type": "object",
    "properties": {key: {"type": ["string", "boolean", "integer"]} for key in ALLOWED},
    "additionalProperties": False,
    "default": {},
}
_WHY_NOT: Mapping[str, str] = {
    "delta.appendOnly": "a batch that is read again replaces its old rows",
    "delta.setTransactionRetentionDuration": "it makes Delta forget which batches are committed",
    "delta.dataSkippingStatsColumns": "Sluice chooses them (docs/tables.md)",
    "delta.dataSkippingNumIndexedCols": "Sluice chooses the columns (docs/tables.md)",
    "delta.targetFileSize": "Delta for Spark does not know it: write `target_file_size: 128m`",
    "delta.autoOptimize.optimizeWrite": "it is on with `partition_by` or"
    " `target_file_size`; `spark: {spark.databricks.delta.optimizeWrite.enabled: …}` sets it",
    "delta.autoOptimize.autoCompact": "`sluice maintain` compacts",
}


def as_property(value: object) -> str:
    """A value of YAML as a property's text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def wanted_properties(evolution: str, properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of a spec, and the one that its `evolution: widen` needs."""
    widening = {WIDENS_TYPES: "true"} if evolution == "widen" else {}
    return {**widening, **properties}


def require_free_of_change_feed(properties: Mapping[str, str], names: Iterable[str]) -> None:
    """Raises ValueError for a column's name that a table with a change data feed cannot have."""
    if properties.get(CHANGE_FEED) != "true":
        return
    for name in names:
        if as_compared(name) in _OF_CHANGE_FEED:
            raise ValueError(
                f"{name}: a table with {CHANGE_FEED} cannot have a column of this name, which is"
                f" one of the feed's own; leave the property out, or the column with `exclude:"
                f" [{name}]`, and give it another name in `derived`"
            )


def require_allowed(properties: Mapping[str, str]) -> None:
    """Raises ValueError with the property, what was found and what is allowed."""
    for key, value in properties.items():
        if key not in ALLOWED:
            why = f": {_WHY_NOT[key]}" if key in _WHY_NOT else did_you_mean(key, ALLOWED)
            raise ValueError(f"found {key}{why}; allowed: {', '.join(ALLOWED)}")
        expected, fits = ALLOWED[key]
        if not fits(value):
            raise ValueError(f"{key}: found {value!r}; expected {expected}")
