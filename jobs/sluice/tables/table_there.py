"""A table, if it is there."""

from __future__ import annotations

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError

from sluice.tables.error_text import first_line
from sluice.tables.refusals import unreadable_log
from sluice.tables.table_files import open_table
from sluice.tables.warehouse import is_on_s3


def table_there(uri: str) -> DeltaTable | None:
    """The table as it is now; None where there is none. Raises CommitUnknown for a broken log."""
    try:
        return open_table(uri) if is_on_s3(uri) else DeltaTable(uri)
    except TableNotFoundError:
        return None
    except (DeltaError, OSError) as problem:
        raise unreadable_log(uri, first_line(problem)) from problem
