"""Ownership: the table property that names the pipeline a table belongs to."""

from __future__ import annotations

from deltalake import DeltaTable

from sluice.errors import TableRefused

OWNER = "sluice.pipeline"


def require_owner(uri: str, table: DeltaTable, pipeline: str) -> None:
    """Raises TableRefused unless the table is this pipeline's."""
    owner = table.metadata().configuration.get(OWNER)
    if owner == pipeline:
        return
    found = f"{owner!r}" if owner else "none: Sluice did not create it"
    raise TableRefused(
        f"{uri}: expected property {OWNER} = {pipeline!r}, found {found}. Move it away, or choose a"
        " new `table` in the spec."
    )
