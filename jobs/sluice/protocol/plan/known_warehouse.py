"""Known warehouses: a pipeline begins only in the warehouse that the deployment means.

An empty mount knows nothing, so what tells it from a new warehouse is the deployment's own setting:
the name that the marker in the root has to say (decision 36).
"""

from __future__ import annotations

from sluice.errors import SettingsError
from sluice.moves import Move
from sluice.tables.warehouse import Warehouse
from sluice.tables.warehouse_marker import WarehouseMarker

MARKS = Move("check", ("--mark-warehouse",))


def require_known_warehouse(tables: Warehouse) -> None:
    """Raises SettingsError unless the warehouse is the one that the settings name.

    A warehouse with tables and no marker yet is accepted: it is not an empty mount.
    """
    if tables.name is None:
        return
    marker = WarehouseMarker(tables)
    found = marker.name()
    if found == tables.name or (found is None and marker.has_tables()):
        return
    expected = f"SLUICE_WAREHOUSE_NAME: expected the marker {marker.uri} of {tables.name!r}"
    asked = "Is this the right warehouse, and is it mounted? Nothing was written."
    if found is not None:
        raise SettingsError(
            f"{expected}, found that of {found!r}. {asked} Correct SLUICE_WAREHOUSE, or the name."
        )
    raise SettingsError(
        f"{expected}, found none, and no tables. {asked} Mount it, or correct SLUICE_WAREHOUSE. A"
        " warehouse that is new is marked once by ",
        MARKS,
        ".",
    )


def mark_warehouse(tables: Warehouse) -> str:
    """Write the marker of the warehouse that the settings name, unless it is there; what was done.

    Raises SettingsError without a name, or where the marker says another one.
    """
    if tables.name is None:
        raise SettingsError(
            "SLUICE_WAREHOUSE_NAME: expected a name for the warehouse, found none. Set it for all"
            " that runs pipelines, then mark the warehouse."
        )
    marker = WarehouseMarker(tables)
    written = marker.write(tables.name)
    require_known_warehouse(tables)
    return f"{marker.uri}: {'marked' if written else 'it is marked'} as {tables.name}"
