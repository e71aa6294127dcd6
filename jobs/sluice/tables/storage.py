"""Storage: files and folders beside the tables, at a path or an object-store URI."""

from __future__ import annotations

import contextlib
import os
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path

from deltalake.exceptions import DeltaError
from pyarrow.fs import FileSelector

from sluice.errors import CommitConflict, SettingsError
from sluice.tables.table_files import files_in
from sluice.tables.warehouse import as_aws_has_it

# What registries have said stays where it is: it is true of any offsets table at that place.
KEPT = "_schemas"
_ALL = FileSelector("", allow_not_found=True)


class Folder:
    """A folder, read with the same credentials as the tables."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        try:
            self._files = files_in(uri)
        except (DeltaError, OSError) as problem:
            raise SettingsError(
                f"{uri}: expected a folder that can be read, found none: {problem}."
                " Correct the path, or the credentials for it."
            ) from problem

    def __str__(self) -> str:
        return self._uri

    def names(self, inside: str) -> list[str]:
        """The names of the files in a subfolder; none where there is no such subfolder."""
        found = self._files.get_file_info(FileSelector(inside, allow_not_found=True))
        return [each.base_name for each in found if each.is_file]

    def text(self, path: str) -> str:
        """The content of a file. Raises SettingsError when it is missing or not text."""
        try:
            with self._files.open_input_stream(path) as stream:
                return str(stream.read().decode())
        except (OSError, ValueError) as problem:
            raise SettingsError(
                f"{self._uri}/{path}: expected a text file, which could not be read: {problem}."
                " Bring the file back, or choose another `start`."
            ) from problem


def set_aside(uri: str, at: datetime) -> str:
    """Rename a table's folder; returns where it is now. KEPT in it stays.

    Raises SettingsError on an object store, which cannot rename, CommitConflict if it is gone.
    """
    to = f"{uri}__{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    if "://" in uri:
        raise SettingsError(
            f"{uri}: expected a folder that can be renamed, found an object store. Move it, then"
            f" give the same command again: aws s3 mv --recursive --exclude '{KEPT}/*'"
            f" {as_aws_has_it(uri)}/ {as_aws_has_it(to)}/"
        )
    try:
        Path(uri).rename(to)
    except FileNotFoundError as problem:
        raise CommitConflict(f"{uri}: another process has renamed it") from problem
    except OSError:
        if not Path(to).exists():
            raise
        # Another one of this second.
        return set_aside(uri, at + timedelta(seconds=1))
    bring_back_kept(uri)
    return to


def bring_back_kept(uri: str) -> None:
    """Give a table's place what stays of it: a process may have died after the renaming."""
    place = Path(uri, KEPT)
    if "://" in uri or place.exists():
        return
    aside = sorted(place.parent.parent.glob(f"{place.parent.name}__2*Z/{KEPT}"))
    if aside:
        place.parent.mkdir(exist_ok=True)
        # Another process may do the same.
        with contextlib.suppress(FileNotFoundError):
            aside[-1].rename(place)


def was_set_aside(uri: str) -> bool:
    """Whether a table of that name lies beside it, set aside, or moved there by an operator.

    Raises StoreUnavailable where an object store does not answer.
    """
    folder, _, name = uri.rpartition("/")
    aside = f"{name}__2*Z"
    if "://" not in uri:
        return any(Path(folder).glob(aside))
    return any(fnmatch(each.base_name, aside) for each in files_in(folder).get_file_info(_ALL))


def clear_leftovers(uri: str) -> None:
    """Remove the empty folders at a local path, and files that a dead log store left half written.

    Spark takes any non-empty folder for the table and would never create it. Nothing that belongs
    to a table is removed; a process that is just creating one tries again. An object store has no
    folders.
    """
    if "://" in uri:
        return
    for unfinished in Path(uri).glob("_delta_log/.*.tmp*"):
        unfinished.unlink(missing_ok=True)
    for folder, _, _ in os.walk(uri, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(folder)
