"""The warehouse's marker: a file in its root that names it, so that an empty mount is known."""

from __future__ import annotations

import json

from sluice.errors import SettingsError
from sluice.tables.warehouse import Warehouse
from sluice.tables.write_once import WriteOnceFiles, versioned_json

FORMAT_VERSION = 1
_FOLDER, _FILE = "_sluice", "warehouse.json"
_OFFSETS = "__offsets"


class WarehouseMarker:
    """The file `_sluice/warehouse.json`, written once.

    Every method raises StoreUnavailable or CommitUnknown where the root cannot be asked.
    """

    def __init__(self, tables: Warehouse) -> None:
        self._files = WriteOnceFiles(tables.place, _FOLDER)
        self._root = WriteOnceFiles(tables.place)
        self.uri = f"{tables.place}/{_FOLDER}/{_FILE}"

    def name(self) -> str | None:
        """The name that it says; None where there is no marker. Raises NewerFormat."""
        text = self._files.text(_FILE)
        if text is None:
            return None
        found = versioned_json(self.uri, text, FORMAT_VERSION)
        name = found.get("name") if found is not None else None
        if not isinstance(name, str):
            raise SettingsError(
                f"{self.uri}: expected the marker of a warehouse, found something else. Bring the"
                " file back from a backup, or remove it."
            )
        return name

    def write(self, name: str) -> bool:
        """Mark the warehouse; False where it is marked already."""
        content = {"format_version": FORMAT_VERSION, "name": name}
        return self._files.put(_FILE, json.dumps(content))

    def has_tables(self) -> bool:
        """Whether a pipeline has an offsets table here."""
        return any(each.endswith(_OFFSETS) for each in self._root.folders())
