"""Table features: which of them delta-rs commits with."""

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


def unwritable_features(table: DeltaTable) -> list[str]:
    """The table's features that keep delta-rs from committing to it."""
    return sorted({*(table.protocol().writer_features or [])} - _WRITTEN)
