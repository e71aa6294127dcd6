"""Ownership: the table property that names the pipeline a table belongs to."""

from __future__ import annotations

from deltalake import DeltaTable

from sluice.errors import TableRefused

OWNER = "sluice.pipeline"


def require_owner(uri: str, table: DeltaTable, pipeline: str) -> None:
    """Raises TableRefused unless the table is this pipeline's."""
    owner = owner_of(table)
    if owner == pipeline:
        return
    found = (
        f"{owner!r}, whose table it is. Choose another `table` in the spec."
        if owner
        else "none: Sluice did not create it. Move it away, or choose another `table` in the spec."
    )
    raise TableRefused(f"{uri}: expected property {OWNER} = {pipeline!r}, found {found}")


def owner_of(table: DeltaTable) -> str | None:
    """The pipeline that the table was created for; None for one that Sluice did not create."""
    return table.metadata().configuration.get(OWNER)
