"""Empty commits: transaction ids and nothing else, also for tables whose features delta-rs lacks.

Such a commit adds and removes no file, so it needs none of the features that say how files are
written (Delta's PROTOCOL.md, Writer Requirements): `features.FREE_OF_FILES` lists them. It is
put-if-absent as any other, by the library that delta-rs itself commits with.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime

import obstore
from deltalake import CommitProperties, DeltaTable, Transaction
from obstore.exceptions import AlreadyExistsError, BaseError
from obstore.store import LocalStore, ObjectStore, from_url

from sluice.errors import CommitConflict, CommitFailed
from sluice.tables.error_text import first_line
from sluice.tables.features import unwritable_features
from sluice.tables.predecessor import require_predecessor
from sluice.tables.refusals import committing, storing
from sluice.tables.warehouse import as_aws_has_it, is_on_s3


def commit_only_ids(
    table: DeltaTable, ids: Sequence[Transaction], now: datetime, told: str | None = None
) -> None:
    """Commit transaction ids, based on the table's version; `told` is the `userMetadata`.

    Raises CommitConflict where a commit with one of them has landed since (in a table with features
    that delta-rs does not write, where any other has); otherwise as `committing`.
    """
    if unwritable_features(table):
        commit_transactions(table, ids, now, told)
        return
    metadata = None if told is None else {"userMetadata": told}
    with committing(table, [each.app_id for each in ids]):
        table.create_write_transaction(
            [],
            "append",
            table.schema(),
            commit_properties=CommitProperties(
                custom_metadata=metadata, app_transactions=list(ids)
            ),
        )


def commit_transactions(
    table: DeltaTable, ids: Iterable[Transaction], now: datetime, told: str | None = None
) -> None:
    """Commit transaction ids as the version after the table's, as `commit_only_ids`.

    Raises CommitConflict where another commit has that version, or the table's own is gone;
    CommitFailed where the store refuses; SettingsError as `storing`.
    """
    uri = table.table_uri
    name = f"_delta_log/{table.version() + 1:020d}.json"
    with storing(uri):
        require_predecessor(table)
        try:
            obstore.put(_store(uri), name, _text(ids, now, told).encode(), mode="create")
        except AlreadyExistsError:
            raise CommitConflict(f"{uri}: {name} is another commit's") from None
        except BaseError as problem:
            raise CommitFailed(f"{uri}: {first_line(problem)}. Run again.") from problem


def _store(uri: str) -> ObjectStore:
    if is_on_s3(uri):
        return from_url(as_aws_has_it(uri))
    return LocalStore(uri.removeprefix("file://").rstrip("/"))


def _text(ids: Iterable[Transaction], now: datetime, told: str | None) -> str:
    info = {
        "timestamp": int(now.timestamp() * 1000),
        "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": "[]"},
        "isBlindAppend": True,
        "engineInfo": "Sluice",
        **({} if told is None else {"userMetadata": told}),
    }
    named = [
        {"txn": {"appId": each.app_id, "version": each.version, "lastUpdated": each.last_updated}}
        for each in ids
    ]
    return "".join(f"{json.dumps(each)}\n" for each in ({"commitInfo": info}, *named))
