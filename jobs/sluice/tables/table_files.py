"""Table files: what lies in a table's folder, and the table itself, opened.

A file that is gone and a store that does not answer are two things: FileNotFoundError is the one,
StoreUnavailable (on a disk CommitUnknown) the other. delta-rs raises an OSError for both, and for a
checkpoint a DeltaError, as for damage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from deltalake.fs import DeltaStorageHandler
from pyarrow.fs import FileInfo, FileSelector, PyFileSystem

from sluice.errors import CommitUnknown, SluiceError, StoreUnavailable
from sluice.tables.error_text import first_line
from sluice.tables.warehouse import is_on_s3

# What the library below delta-rs says of any answer but "not found", or of none.
_NO_ANSWER = re.compile(r"Generic S3 error|The operation lacked")


def files_in(uri: str, sizes: Mapping[str, int] | None = None) -> PyFileSystem:
    """The files of a table, or below another folder. They are asked for as `answered` says.

    A store is not asked for known sizes, in bytes. Raises OSError or DeltaError if it is not a
    folder.
    """
    return PyFileSystem(_Files(uri, sizes))


def files_of_table(uri: str) -> PyFileSystem:
    """The files of a table that was there a moment ago. Raises CommitUnknown where it is gone.

    The next look at it decides what that means.
    """
    try:
        return files_in(uri)
    except TableNotFoundError as gone:
        raise CommitUnknown(
            f"{uri}: it was dropped or moved away while it was read. Run again."
        ) from gone


def open_table(uri: str, version: int | None = None) -> DeltaTable:
    """A table, now or at a version. Raises what `answered` does, or delta-rs' own DeltaError."""
    with answered(uri):
        return DeltaTable(uri, version=version)


class _Files(DeltaStorageHandler):
    """delta-rs' files; an object store that does not answer is named."""

    def __init__(self, uri: str, sizes: Mapping[str, int] | None) -> None:
        super().__init__(uri, known_sizes=None if sizes is None else dict(sizes))
        self._uri = uri

    def get_file_info(self, paths: list[str]) -> list[FileInfo]:
        """As of any Arrow file system."""
        with answered(self._uri):
            return super().get_file_info(paths)

    def get_file_info_selector(self, selector: FileSelector) -> list[FileInfo]:
        """As of any Arrow file system."""
        with answered(self._uri):
            return super().get_file_info_selector(selector)

    def open_input_file(self, path: str) -> pa.PythonFile:
        """As of any Arrow file system."""
        with answered(self._uri):
            return pa.PythonFile(_Content(self._uri, self._handler.open_input_file(path)))

    open_input_stream = open_input_file


class _Content:
    """The content of a file, which is asked for while it is read."""

    def __init__(self, uri: str, content: Any) -> None:
        self._uri = uri
        self._content = content

    def read(self, *count: int) -> bytes:
        """The next bytes."""
        with answered(self._uri):
            found: bytes = self._content.read(*count)
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._content, name)


@contextmanager
def answered(uri: str) -> Iterator[None]:
    """Ask for something of a table. Raises StoreUnavailable, or CommitUnknown on a disk."""
    try:
        yield
    except (DeltaError, OSError) as problem:
        if not is_unanswered(problem):
            raise
        raise not_answered(uri, problem) from problem


def is_unanswered(problem: Exception) -> bool:
    """Whether a store could not be asked, so that nothing is known of what it holds."""
    if isinstance(problem, OSError):
        return not isinstance(problem, FileNotFoundError)
    return bool(_NO_ANSWER.search(str(problem)))


def not_answered(uri: str, problem: Exception) -> SluiceError:
    """What it means that a table cannot be asked: never that something of it is gone."""
    said = f"{uri}: its files cannot be read: {first_line(problem)}"
    if is_on_s3(uri):
        return StoreUnavailable(
            f"{said}. Correct the connection sluice_warehouse if that is the cause, or run again"
            " when the store answers."
        )
    return CommitUnknown(f"{said}. Run again when its disk answers.")
