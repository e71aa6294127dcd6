"""Ownership: the table property that names the pipeline a table belongs to."""

from __future__ import annotations

from deltalake import DeltaTable

from sluice.errors import TableRefused
from sluice.moves import Advice, Move, Part, advice

OWNER = "sluice.pipeline"


def require_owner(uri: str, table: DeltaTable, pipeline: str, may_be: Part = "") -> None:
    """Raises TableRefused unless the table is this pipeline's.

    `may_be` says what to do with a table without an owner, if it is this pipeline's.
    """
    owner = owner_of(table)
    if owner == pipeline:
        return
    expected = f"{uri}: expected property {OWNER} = {pipeline!r}, found"
    if owner:
        raise TableRefused(
            f"{expected} {owner!r}, whose table it is. Choose another `table` in the spec."
        )
    raise TableRefused(
        f"{expected} none: Sluice did not create it. Move it away, or choose another `table` in the"
        " spec.",
        may_be,
    )


def if_a_copy(uri: str, pipeline: str) -> Advice:
    """What leads on from a data table that has a pipeline's rows, and does not say so."""
    return advice(
        f" If it is a copy of this pipeline's rows, say so: {told_to_be(uri, pipeline)}; then ",
        Move("recover", (pipeline,)),
        " goes on with it.",
    )


def told_to_be(uri: str, pipeline: str) -> str:
    """The SQL that says of a copy whose table it is: a copy has the rows, not the properties."""
    return f"ALTER TABLE delta.`{uri}` SET TBLPROPERTIES ('{OWNER}' = '{pipeline}')"


def owner_of(table: DeltaTable) -> str | None:
    """The pipeline that the table was created for; None for one that Sluice did not create."""
    return table.metadata().configuration.get(OWNER)
