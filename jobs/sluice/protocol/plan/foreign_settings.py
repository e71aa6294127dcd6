"""Foreign settings: what others set on the data table; what stops a batch, what is reported."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sluice.errors import TableRefused
from sluice.offsets.batches import Batch
from sluice.spec_file.pipeline_spec import PipelineSpec
from sluice.spec_file.table_properties import ALLOWED, WIDENS_TYPES
from sluice.spec_file.table_rules import CONSTRAINT, TableRule, rules_of
from sluice.tables.delta_snapshot import DeltaSnapshot

_APPEND_ONLY = "delta.appendOnly"
# What Sluice and Delta themselves set, and what has no effect on what lands.
_FINE = {
    *ALLOWED,
    *(_APPEND_ONLY, WIDENS_TYPES),
    *("delta.dataSkippingStatsColumns", "delta.dataSkippingNumIndexedCols"),
    *("delta.enableDeletionVectors", "delta.enableRowTracking", "delta.checkpointPolicy"),
    *("delta.autoOptimize.autoCompact", "delta.autoOptimize.optimizeWrite"),
    *("delta.minReaderVersion", "delta.minWriterVersion"),
    *("delta.targetFileSize", "delta.tuneFileSizesForRewrites"),
    "delta.writePartitionColumnsToParquet",
}
_FINE_BEGINNINGS = (
    *("delta.columnMapping.", "delta.rowTracking.", "delta.feature.", "delta.clustering."),
    CONSTRAINT,
)


def rules_for(spec: PipelineSpec, data: DeltaSnapshot) -> tuple[TableRule, ...]:
    """The rules that others gave the table, over the columns of the spec."""
    if spec.formats.awaits_reader or data.version is None:
        return ()
    return rules_of(data.settings, (*spec.shape.columns, *spec.formats.our_columns))


def require_usable_settings(spec: PipelineSpec, data: DeltaSnapshot) -> None:
    """Raises TableRefused for a rule that rows cannot be judged by, and for computed columns."""
    for rule in rules_for(spec, data):
        if rule.why_not:
            raise TableRefused(
                f"{data.uri}: {rule.words}{_by(data, rule.name)}: expected a rule that Sluice can"
                f" evaluate for each record, found one that it cannot: {rule.why_not}. Delta would"
                f" refuse the whole batch. ALTER TABLE delta.`{data.uri}` {rule.ends_with}, and run"
                " again."
            )
    for name, how in data.settings.computed.items():
        raise TableRefused(
            f"{data.uri}: column {name} is {how}{_by(data, name)}: expected columns that take the"
            " values of records, or none. RESTORE the table to the version before, and run again."
        )


def require_replaceable(data: DeltaSnapshot, batches: Sequence[Batch]) -> None:
    """Raises TableRefused where a batch is to replace rows, and the table lets none go."""
    again = [each for each in batches if each.mode == "replace"]
    if again and data.settings.properties.get(_APPEND_ONLY) == "true":
        raise TableRefused(
            f"{again[0]}: it replaces the rows of records that are read again, but {data.uri} has"
            f" {_APPEND_ONLY} = 'true'{_by(data, _APPEND_ONLY)}: no row may be removed. ALTER TABLE"
            f" delta.`{data.uri}` SET TBLPROPERTIES ('{_APPEND_ONLY}' = 'false'), and run again."
        )


def foreign_settings(spec: PipelineSpec, data: DeltaSnapshot) -> Iterator[str]:
    """A line for each thing that others set and that has, or may have, an effect on what lands."""
    for rule in rules_for(spec, data):
        by = _by(data, rule.name)
        yield f"the table's {rule.words}{by}: records that break it go to quarantine"
    properties = data.settings.properties
    if properties.get(_APPEND_ONLY) == "true":
        by = _by(data, _APPEND_ONLY)
        yield f"the table's {_APPEND_ONLY} = 'true'{by}: nothing can be read again"
    for key in sorted(properties.keys() - _FINE - spec.properties.keys()):
        if key.startswith("delta.") and not key.startswith(_FINE_BEGINNINGS):
            told = f"the table's property {key} = '{properties[key]}'{_by(data, key)}"
            yield f"{told}: not one that Sluice knows"


def _by(data: DeltaSnapshot, named: str) -> str:
    """Which commit set it, in words."""
    found = data.log.commit_naming(named)
    return f", set by version {found[0]} ({found[1]})" if found else ", which others set"
