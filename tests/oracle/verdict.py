"""The verdict on one pipeline: every invariant judged from Kafka and the three tables alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.oracle import (
    accounting,
    atomicity,
    completeness,
    drops,
    equality,
    ownership,
    tiling,
    wariness,
)
from tests.oracle.evidence import Evidence, gather
from tests.oracle.json_fields import Decode, reference_decoder
from tests.oracle.kafka_truth import KafkaTruth, group_positions, read_truth
from tests.oracle.violation import Violation


@dataclass(frozen=True)
class Facts:
    """What was there to judge: a verdict on nothing is green as well, so tests look here too."""

    records: int
    rows: int
    quarantined: int
    committed: int
    planned: int
    versions: int


@dataclass(frozen=True)
class Verdict:
    facts: Facts
    violations: list[Violation]
    notes: list[str] = field(default_factory=list)

    @property
    def exact(self) -> bool:
        return not self.violations

    @property
    def invariants(self) -> set[int]:
        """Numbers of the broken invariants."""
        return {violation.invariant for violation in self.violations}

    def __str__(self) -> str:
        head = "exact" if self.exact else f"{len(self.violations)} violations"
        lines = [f"{head}: {self.facts}", *(f"  {violation}" for violation in self.violations)]
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])


@dataclass(frozen=True)
class Expectations:
    """What the test knows beyond the tables. The defaults are the strict end of a quiet run.

    `keeps` says of a record of Kafka whether it is of the kind that the pipeline lands.
    The reference decoder takes 0.1 ms a record: above `decode_at_most` rows it sees a sample.
    Without `fields` the test compares the fields; `decode` only says what cannot be decoded.
    """

    fmt: str = "raw"
    schema: str | None = None
    timestamp_unit: str | None = None
    allow_unmatched: bool = False
    decode: Decode | None = None
    fields: bool = True
    keeps: Callable[[dict[str, Any]], bool] | None = None
    decode_at_most: int | None = 50_000
    settled: bool = True
    caught_up: bool = True
    from_earliest: bool = True
    group: str | None = None
    altered: frozenset[int] = frozenset()
    skipped: frozenset[tuple[int, int]] = frozenset()
    dropped: frozenset[tuple[int, int]] = frozenset()

    def __post_init__(self) -> None:
        if self.fmt != "raw" and self.decoder is None:
            raise ValueError(f"format {self.fmt} cannot be judged without a schema or a decoder")

    @property
    def decoder(self) -> Decode | None:
        if self.decode is None and self.fmt == "json" and self.schema:
            return reference_decoder(self.schema, self.timestamp_unit, self.allow_unmatched)
        return self.decode


def judge(
    bootstrap: str,
    warehouse: Path | str,
    pipeline: str,
    table: str,
    topics: Iterable[str],
    *,
    truth: KafkaTruth | None = None,
    remembered: KafkaTruth | None = None,
    **expectations: Any,
) -> Verdict:
    """Judge one pipeline. `remembered` is an earlier reading, for what Kafka has dropped since.

    `expectations` are the fields of Expectations; `truth` spares reading Kafka once more.
    """
    expected = Expectations(**expectations)
    truth = truth or read_truth(bootstrap, topics)
    truth = truth.remembering(remembered) if remembered else truth
    evidence = gather(warehouse, pipeline, table, truth)
    if expected.keeps is not None:
        evidence.judge_kinds(expected.keeps)
    violations = list(_violations(evidence, expected))
    if expected.group is not None:
        violations += _group_ahead(bootstrap, expected.group, evidence)
    return Verdict(_facts(evidence), violations, evidence.notes)


def assert_exact(*where: Any, **expectations: Any) -> Verdict:
    """`judge`, and an AssertionError with the whole list unless everything holds."""
    verdict = judge(*where, **expectations)
    if not verdict.exact:
        raise AssertionError(str(verdict))
    return verdict


def _violations(evidence: Evidence, expected: Expectations) -> Iterator[Violation]:
    yield from completeness.complete(evidence)
    if expected.from_earliest:
        yield from completeness.began_at_log_start(evidence)
    yield from completeness.unique(evidence)
    yield from completeness.of_its_kind(evidence)
    yield from tiling.planned_once(evidence)
    yield from tiling.tiled(evidence)
    yield from atomicity.atomic(evidence, expected.altered)
    yield from ownership.owned(evidence)
    yield from ownership.quarantine_owned(evidence)
    yield from ownership.in_step(evidence)
    yield from equality.equal(evidence, expected.decoder, expected.decode_at_most, expected.fields)
    yield from tiling.monotone(evidence)
    yield from tiling.fenced(evidence)
    yield from completeness.no_phantom(evidence)
    yield from accounting.receipted(evidence, expected.settled)
    yield from accounting.settled_once(evidence, expected.settled)
    yield from accounting.append_only(evidence)
    yield from accounting.accounted(evidence)
    yield from accounting.loud(evidence, expected.skipped)
    yield from drops.dropped(evidence, expected.dropped)
    yield from wariness.named(evidence)
    if expected.caught_up:
        yield from completeness.caught_up(evidence)


def _facts(evidence: Evidence) -> Facts:
    return Facts(
        records=len(evidence.held),
        rows=len(evidence.rows),
        quarantined=len(evidence.live_quarantine),
        committed=len(evidence.history.committed),
        planned=len(evidence.history.planned),
        versions=len(evidence.data.versions),
    )


def _group_ahead(bootstrap: str, group: str, evidence: Evidence) -> Iterator[Violation]:
    """The mirror in the consumer group never runs ahead of the table."""
    positions = group_positions(bootstrap, group, evidence.truth)
    for at, place in evidence.truth.partitions.items():
        cursor = evidence.history.cursors.get(at, 0)
        position = positions.get((place.topic, place.partition), 0)
        if position > cursor:
            where = f"consumer group {group}, {place}"
            yield Violation(6, where, f"at most the cursor {cursor}", str(position))
