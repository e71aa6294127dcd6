"""Tables of kafka-delta-ingest: the last offset written, by partition, from their transactions.

Each partition has its own transaction id, `<app id>-<partition>` (its `txn_app_id_for_partition`),
whose version is the offset of the last record written. It does not name the topic.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sluice.errors import SettingsError

_ID = re.compile(r"(.+)-(0|[1-9][0-9]{0,8})")


def last_written(
    table: str, transactions: Mapping[str, int], app_id: str | None
) -> Mapping[int, int]:
    """The offset of the last record written, by partition.

    Raises SettingsError when the app id has none, or when none is given and there are several.
    """
    found: dict[str, dict[int, int]] = {}
    for name, version in transactions.items():
        if written := _ID.fullmatch(name):
            found.setdefault(written[1], {})[int(written[2])] = version
    asked = app_id if app_id is not None or len(found) != 1 else next(iter(found))
    if asked is None or asked not in found:
        expected = "one app id" if app_id is None else f"transactions of app id {app_id!r}"
        raise SettingsError(
            f"{table}: expected {expected}, found those of"
            f" {', '.join(map(repr, sorted(found))) or 'none'}. Name the `app_id` that"
            " kafka-delta-ingest was started with under `start.delta_ingest`."
        )
    return found[asked]
