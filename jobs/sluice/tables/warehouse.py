"""The warehouse: the only place where a table's path is built."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sluice.settings import S3_SCHEME


@dataclass(frozen=True)
class Warehouse:
    """The root below which all tables live: a local path, or `s3a://bucket/…`.

    `name` is what its marker has to say, before a pipeline begins in it; None where it needs none.
    """

    root: str
    name: str | None = None

    def data(self, table: str) -> str:
        """Where the data table is."""
        return self._below(table)

    def quarantine(self, table: str) -> str:
        """Where the table's quarantined records are."""
        return self._below(f"{table}__quarantine")

    def offsets(self, table: str) -> str:
        """Where the table's planned and committed offset ranges are."""
        return self._below(f"{table}__offsets")

    def state(self, table: str) -> str:
        """Where the newest row of each of the table's keys is."""
        return self._below(f"{table}__state")

    @property
    def offsets_version_1(self) -> str:
        """Where version 1 had one offsets table for all pipelines."""
        return self._below("_sluice/offsets")

    @property
    def place(self) -> str:
        """The root, if it is a path an absolute one."""
        return self.root if self.on_s3 else str(Path(self.root).resolve())

    @property
    def on_s3(self) -> bool:
        """Whether the tables are on an object store."""
        return is_on_s3(self.root)

    def _below(self, name: str) -> str:
        # Spark resolves a relative path in its own working directory: return only absolute ones.
        return f"{self.place.rstrip('/')}/{name}"


def is_on_s3(uri: str) -> bool:
    """Whether a table's URI is in an S3 bucket."""
    return uri.startswith(f"{S3_SCHEME}://")


def as_aws_has_it(uri: str) -> str:
    """A URI in a bucket as AWS' own tools write it: `s3://bucket/…`."""
    return uri.replace(f"{S3_SCHEME}:", "s3:", 1)
