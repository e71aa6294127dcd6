"""Put-if-absent: whether an object store refuses to write where something is, as each commit needs.

Asked with the library that delta-rs itself commits with.
"""

from __future__ import annotations

import uuid
from functools import cache

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import ObjectStore, from_url

from sluice.errors import SettingsError, StoreUnavailable
from sluice.tables.error_text import first_line
from sluice.tables.warehouse import as_aws_has_it, is_on_s3

_FOLDER = "_sluice/put_if_absent"


def require_put_if_absent(uri: str) -> None:
    """Raises SettingsError for a table on a store where a commit could overwrite another.

    Raises StoreUnavailable where the store does not answer, or refuses to be written to.
    """
    if is_on_s3(uri):
        _require_by_trying(uri.rstrip("/").rpartition("/")[0])


@cache
def _require_by_trying(root: str) -> None:
    """Write the same object twice, on the condition that it is not there; once a process."""
    name = f"{_FOLDER}/{uuid.uuid4().hex}"
    try:
        overwrites = _overwrites(from_url(as_aws_has_it(root)), name)
    except (BaseError, OSError) as problem:
        raise StoreUnavailable(
            f"{root}: expected an object store that can be written to: {first_line(problem)}."
            " Correct the connection sluice_warehouse, or run again when the store answers."
        ) from problem
    if overwrites:
        raise SettingsError(
            f"{root}: expected a store that honours `If-None-Match: *`, found one that overwrites:"
            " commits would be lost. Choose another store for SLUICE_WAREHOUSE."
        )


def _overwrites(store: ObjectStore, name: str) -> bool:
    obstore.put(store, name, b"", mode="create")
    try:
        obstore.put(store, name, b"", mode="create")
    except AlreadyExistsError:
        return False
    finally:
        obstore.delete(store, name)
    return True
