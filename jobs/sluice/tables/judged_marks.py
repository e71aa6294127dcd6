"""Marks: up to which commit of a table others' commits were judged, kept beside the offsets.

A mark is two transaction ids in an empty commit of the offsets table: the version, and a digest of
the commit there, so that it stands for this one log and for no copy that has grown anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from deltalake import DeltaTable

from sluice.tables.table_files import files_of_table


@dataclass(frozen=True)
class Mark:
    """A commit of a table up to which all were judged: its version, and what it is known by."""

    table_id: str
    version: int
    digest: int

    def numbers(self, pipeline: str) -> dict[str, int]:
        """What is kept: versions of transaction ids."""
        return dict(
            zip(mark_ids(pipeline, self.table_id), (self.version, self.digest), strict=True)
        )


def mark_ids(pipeline: str, table_id: str) -> tuple[str, str]:
    """The transaction ids that hold the version and the digest of a table's mark."""
    judged = f"sluice:{pipeline}:judged:{table_id}"
    return judged, f"{judged}:commit"


def digest_of(table: DeltaTable, version: int, known: str) -> int | None:
    """What a commit is known by, beside what else is known; None where the log has lost it."""
    try:
        files = files_of_table(table.table_uri)
        with files.open_input_stream(f"_delta_log/{version:020d}.json") as stream:
            content = stream.read()
    except FileNotFoundError:
        return None
    return _number(f"{known}\n".encode() + content)


def number_of(table_id: str) -> int:
    """A table's Delta id as the version of a transaction id."""
    return _number(table_id.encode())


def _number(content: bytes) -> int:
    # The versions of transaction ids are 64 bits with a sign (PROTOCOL.md).
    return int.from_bytes(sha256(content).digest()[:8], "big") >> 1
