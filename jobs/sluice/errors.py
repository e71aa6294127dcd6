"""What can go wrong, by the reader's next move.

SluiceError
├── SpecError            fix the spec file
├── SettingsError        fix a setting, a connection or a parameter
├── BrokerUnavailable    retry: the broker did not answer
├── CommitFailed         retry: the commit did not land, nothing was written
├── CommitUnknown        retry: whether the commit landed could not be read; the next one does
├── SparkFailed          read the cause: Spark stopped before its commit
├── DataLost             decide about lost data (`on_data_loss`)
├── GapUnexplained       decide about a hole in the log
├── TooManyQuarantined     fix the schema or raise `quarantine.max_ratio`
├── BackfillClosed       ask again: a reset came before all was read again
├── PreviewOutdated      look again: what would be done now is not what was shown
├── ResetNeeded          the log is not the one that was read; ask for a reset
└── TableRefused         the table is not as Sluice left it; restore it or ask for a reset
"""

from __future__ import annotations

from collections.abc import Iterable


class SluiceError(Exception):
    """Anything that Sluice refuses or fails to do; the text ends with the next move."""

    retryable = False


class SpecError(SluiceError):
    """A pipeline's file is not a spec: names file, key path, found and allowed."""


class SettingsError(SluiceError):
    """A setting, a connection or a parameter is missing or not usable."""


class BrokerUnavailable(SluiceError):
    """The broker did not answer in time; nothing was changed."""

    retryable = True


class CommitFailed(SluiceError):
    """The commit did not land: the table's log was read after it and does not hold it."""

    retryable = True


class CommitUnknown(SluiceError):
    """The commit's outcome could not be read; the next attempt reads it and goes on from there."""

    retryable = True


class SparkFailed(SluiceError):
    """Spark stopped before the commit; the batch stays planned, the next attempt adopts it."""

    retryable = True


class DataLost(SluiceError):
    """Records that were not read yet are gone from Kafka."""


class GapUnexplained(SluiceError):
    """Offsets of a batch have no row, and the log does not say why."""


class TooManyQuarantined(SluiceError):
    """More records were undecodable than the spec allows."""


class BackfillClosed(SluiceError):
    """A reset has closed the lane before all was read again that was asked for."""


class PreviewOutdated(SluiceError):
    """What was asked for as previewed would do something else by now; nothing was changed."""


class ResetNeeded(SluiceError):
    """The topic is not the log that the cursor belongs to."""


class TableRefused(SluiceError):
    """The table's log contradicts what Sluice recorded about it."""


class CommitConflict(Exception):
    """Another commit landed since the snapshot that this one was decided on; nothing was written.

    Caught inside: what it was about is read again and decided again.
    """


def as_lines(findings: Iterable[str]) -> str:
    """Several findings as one text, a line each."""
    return "\n".join(findings)
