"""Unreadable tables: whatever keeps a table from being read becomes an error with a next move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa
from deltalake.exceptions import DeltaError

from sluice.errors import CommitUnknown


@contextmanager
def reading(uri: str) -> Iterator[None]:
    """Raises CommitUnknown, naming the table, where its log or one of its files is unreadable."""
    try:
        yield
    except (DeltaError, OSError, pa.ArrowException) as problem:
        raise CommitUnknown(
            f"{uri.rstrip('/')}: cannot be read: {problem}. Nothing was changed. Run again; if"
            " a file is missing for good, bring the table back as it was."
        ) from problem
