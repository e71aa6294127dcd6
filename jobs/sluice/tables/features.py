"""Table features: which of them delta-rs commits with, and which an empty commit needs not know."""

from __future__ import annotations

from deltalake import DeltaTable

# Its own list is in Rust, out of Python's reach (crates/core/src/kernel/transaction/protocol.rs of
# delta-rs 1.6).
_WRITTEN = frozenset(
    {
        "appendOnly",
        "changeDataFeed",
        "checkConstraints",
        "columnMapping",
        "deletionVectors",
        "generatedColumns",
        "invariants",
        "timestampNtz",
        "v2Checkpoint",
        "variantType",
        "variantType-preview",
    }
)
# What these ask of a writer concerns files that it adds, metadata that it changes, or checkpoints
# and log cleanup (Delta's PROTOCOL.md). In-commit timestamps, for example, are not among them: each
# commit must have one.
FREE_OF_FILES = frozenset(
    {
        "allowColumnDefaults",
        "checkpointProtection",
        "clustering",
        "domainMetadata",
        "rowTracking",
        "typeWidening",
        "typeWidening-preview",
    }
)


def unwritable_features(table: DeltaTable) -> list[str]:
    """The table's features that keep delta-rs from committing to it."""
    return sorted({*(table.protocol().writer_features or [])} - _WRITTEN)


def unfenceable_features(table: DeltaTable) -> list[str]:
    """The table's features that an empty commit cannot be made with."""
    return sorted({*unwritable_features(table)} - FREE_OF_FILES)
