"""What a batch's commit is based on: the version of the table's log at which its write was begun.

A run that is at work while another table is put in the place of its own would otherwise land its
batch in that, where it may be already. Spark's log stores refuse it: jobs/jvm/commit/BasedOn.scala.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class BasedOn:
    """A version of a table's log, and the digest of the commit there, which no other log has."""

    version: int
    digest: int

    def as_dict(self) -> Mapping[str, int]:
        """As the commit says it."""
        return {"version": self.version, "digest": self.digest}
