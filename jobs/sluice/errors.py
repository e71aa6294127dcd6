"""What can go wrong, by the reader's next move.

SluiceError
├── SpecError            fix the spec file
├── SettingsError        fix a setting, a connection or a parameter
├── BrokerUnavailable    retry: the broker did not answer
├── StoreUnavailable     retry: the object store did not answer, or refused to
├── RegistryUnavailable  retry: the schema registry did not answer
├── CommitFailed         retry: the commit did not land, nothing was written
├── CommitUnknown        retry: the commit's outcome could not be read; the next attempt reads it
├── SparkFailed          read the cause: Spark stopped before its commit
├── DataLost             decide about lost data (`on_data_loss`)
├── GapUnexplained       decide about a hole in the log
├── BatchInDoubt         decide about a batch that may hold records of another topic
├── RowsErased           decide about rows that others deleted or changed (`--bring-back-erased`)
├── UnknownSchema        register the schema, or correct the producer
├── SchemaChanged        restore the registry, or give the new one a connection with another id
├── TooManyQuarantined   fix the schema or raise a limit of `quarantine`
├── BackfillClosed       request the backfill again: a reset closed it before it was complete
├── PreviewOutdated      preview again: the plan is no longer the one shown
├── ResetNeeded          request a reset: the topic is not the log that was read
├── NewerFormat          use the newer Sluice: it has written to the tables
├── StateStopped         name the key, or its order, in the spec's `state`
├── StateRefused         rebuild the state table: it is not as Sluice left it
├── OffsetsDamaged       restore the offsets table or recover it: rows of it are missing
└── TableRefused         restore the table or request a reset: it is not as Sluice left it
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from sluice.moves import Advice, Move, Part, advice


class SluiceError(Exception):
    """Anything that Sluice refuses or fails to do; its text ends with the next move.

    The text is made of all parts; `moves` are the commands that it names, in that order.
    """

    retryable = False
    moves: tuple[Move, ...]

    def __init__(self, *parts: Part) -> None:
        told = advice(*parts)
        super().__init__(told.text)
        self.moves = told.moves


class SpecError(SluiceError):
    """A pipeline's file is not a valid spec; names the file, key path, found and allowed."""


class SettingsError(SluiceError):
    """A setting, a connection or a parameter is missing or unusable."""


class BrokerUnavailable(SluiceError):
    """The broker did not answer in time; nothing was changed."""

    retryable = True


class CommitFailed(SluiceError):
    """The commit did not land: the table's log, read afterwards, does not contain it."""

    retryable = True


class StoreUnavailable(SluiceError):
    """An object store did not answer, or refused to; what it holds is as it was."""

    retryable = True


class RegistryUnavailable(SluiceError):
    """The schema registry did not answer in time; nothing was changed."""

    retryable = True


class CommitUnknown(SluiceError):
    """The commit's outcome could not be read; the next attempt reads it and continues."""

    retryable = True


class SparkFailed(SluiceError):
    """Spark stopped before the commit; the batch stays planned, the next attempt adopts it."""

    retryable = True


class DataLost(SluiceError):
    """Kafka no longer holds records that were never read."""


class GapUnexplained(SluiceError):
    """Offsets of a batch have no row, and the log does not explain why."""


class BatchInDoubt(SluiceError):
    """A committed batch may hold records of another topic than the one that was planned."""


class RowsErased(SluiceError):
    """Reading again would bring back rows that others deleted or changed; nothing was done."""


class UnknownSchema(SluiceError):
    """A schema registry has no schema by that number, GUID or subject.

    If a record names the number, the record is quarantined; nothing fails.
    """


class SchemaChanged(SluiceError):
    """A schema registry gives a number another text than the one that records were read with."""


class TooManyQuarantined(SluiceError):
    """More records were undecodable than the spec allows."""


class BackfillClosed(SluiceError):
    """A reset closed the lane before the requested backfill was complete."""


class PreviewOutdated(SluiceError):
    """The plan has changed since the preview that was confirmed; nothing was changed."""


class ResetNeeded(SluiceError):
    """The topic is not the log that the cursor belongs to."""


class TableRefused(SluiceError):
    """The table's log contradicts what Sluice recorded about it."""


class StateStopped(SluiceError):
    """The state table cannot follow its log: a row has no key, or a key no order."""


class StateRefused(SluiceError):
    """The state table is not the one that Sluice left; it can be made anew from the data table."""


class NewerFormat(SluiceError):
    """A newer Sluice wrote what was found; no command of this one may judge it or replace it."""


class OffsetsDamaged(SluiceError):
    """Rows of the offsets table are missing."""


class CommitConflict(Exception):
    """Another commit landed after the snapshot this one was based on; nothing was written.

    Caught internally: the step reads the tables again and decides again.
    """


def as_lines(findings: Iterable[Part]) -> Advice:
    """Join findings into one text, one per line, with the moves of all."""
    return advice(*findings, between="\n")


def did_you_mean(found: str, allowed: Iterable[str]) -> str:
    """Write ` (did you mean topics?)`: the most similar allowed word, or nothing."""
    likely = most_similar(found, allowed)
    return "" if likely is None else f" (did you mean {likely}?)"


def most_similar(found: str, allowed: Iterable[str]) -> str | None:
    """The most similar allowed word; None where none is similar."""
    # With less, `colour` would lead to columns.
    likely = get_close_matches(found, allowed, n=1, cutoff=0.65)
    return likely[0] if likely else None
