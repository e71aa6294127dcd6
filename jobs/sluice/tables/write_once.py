"""Write-once files: small texts in a table's folder, each written whole, and never again.

On a local path a file is a hard link from a finished draft, in a bucket a conditional PUT: as a
commit is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from sluice.errors import NewerFormat
from sluice.tables.put_if_absent import require_put_if_absent
from sluice.tables.table_files import not_answered
from sluice.tables.warehouse import as_aws_has_it, is_on_s3

_AT_ONCE = 16


class WriteOnceFiles:
    """The texts below a folder of a table, by their paths in it.

    The folder's name begins with `_`: VACUUM leaves it alone. Every method raises StoreUnavailable
    where a bucket does not answer, CommitUnknown for a disk.
    """

    def __init__(self, table: str, folder: str = "") -> None:
        self._table = table
        self._uri = f"{table}/{folder}".rstrip("/")

    def put(self, path: str, text: str) -> bool:
        """Write a file, unless it is there: then it is left alone, and the answer is False.

        Raises SettingsError for a bucket where a file could overwrite another.
        """
        require_put_if_absent(self._table)
        with self._answered():
            try:
                obstore.put(self._store(), path, text.encode(), mode="create")
            except AlreadyExistsError:
                return False
        return True

    def text(self, path: str) -> str | None:
        """What a file holds; None where there is none."""
        if not self._is_there():
            return None
        with self._answered():
            try:
                found = bytes(obstore.get(self._store(), path).bytes())
            except FileNotFoundError:
                return None
        return found.decode()

    def texts(self, folder: str) -> dict[str, str]:
        """What the files of a folder hold, by their names."""
        names = self.names(folder)
        with ThreadPoolExecutor(_AT_ONCE) as several:
            found = several.map(lambda name: self.text(f"{folder}/{name}"), names)
            return {name: text for name, text in zip(names, found, strict=True) if text is not None}

    def names(self, folder: str) -> list[str]:
        """The names of the files in a folder; none where there is no such folder."""
        if not self._is_there():
            return []
        with self._answered():
            found = obstore.list_with_delimiter(self._store(), prefix=folder)
        return sorted(each["path"].rpartition("/")[2] for each in found["objects"])

    def folders(self) -> list[str]:
        """The names of the folders in it."""
        if not self._is_there():
            return []
        with self._answered():
            found = obstore.list_with_delimiter(self._store())
        return sorted(each.rstrip("/").rpartition("/")[2] for each in found["common_prefixes"])

    def _is_there(self) -> bool:
        """Whether there can be files: reading creates no folder."""
        return is_on_s3(self._uri) or Path(self._uri).is_dir()

    def _store(self) -> ObjectStore:
        if is_on_s3(self._uri):
            return from_url(as_aws_has_it(self._uri))
        return LocalStore(self._uri, mkdir=True)

    @contextmanager
    def _answered(self) -> Iterator[None]:
        try:
            yield
        except (BaseError, OSError) as problem:
            raise not_answered(self._uri, problem) from problem


def versioned_json(uri: str, text: str, version: int) -> dict[str, Any] | None:
    """The JSON object in a text, which says its `format_version`; None for anything else.

    Raises NewerFormat for a version above this one.
    """
    try:
        found = json.loads(text)
    except ValueError:
        return None
    stated = found.get("format_version") if isinstance(found, dict) else None
    if isinstance(stated, int) and stated > version:
        raise NewerFormat(
            f"{uri}: expected format_version {version}, found {stated}: a newer Sluice wrote it."
            " Use that one."
        )
    return found if stated == version else None
