"""The judgement on a soak: the oracle, what the reader saw, the product's own proof."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tests.oracle import read_truth
from tests.oracle.evidence import Evidence, gather
from tests.oracle.kafka_truth import KafkaTruth
from tests.soak.parcels import MALFORMED
from tests.soak.sightings import Event, Landing, Restored, Sighting, torn
from tests.worlds.pipelines import Installed

TOLD = 20


@dataclass(frozen=True)
class Judgement:
    """What there was to judge, and a sentence for everything that is not as it must be."""

    batches: int
    records: int
    malformed: int
    generations: int
    versions: int
    findings: tuple[str, ...]


def judge(trips: Installed, sightings: Sequence[Sighting]) -> Judgement:
    truth = read_truth(trips.bootstrap, trips.topics)
    evidence = gather(trips.warehouse, trips.name, trips.name, truth)
    records, rows = (sum(map(len, each.values())) for each in (offsets(truth), stored(truth)))
    return Judgement(
        batches=len(evidence.history.committed),
        records=records,
        malformed=records - rows,
        generations=evidence.history.newest_generation,
        versions=len(evidence.data.versions),
        findings=tuple(_findings(trips, sightings, truth, evidence)),
    )


def _findings(
    trips: Installed, sightings: Sequence[Sighting], truth: KafkaTruth, evidence: Evidence
) -> Iterator[str]:
    try:
        trips.judge(truth=truth)
    except AssertionError as problem:
        yield f"the oracle: {problem}"
    found = list(torn(sightings, events(evidence), stored(truth)))
    yield from (f"the reader: {each}" for each in found[:TOLD])
    if len(found) > TOLD:
        yield f"the reader: {len(found) - TOLD} more"
    proof = trips.process("verify")
    if proof.returncode:
        yield f"sluice verify: {proof.stdout}{proof.stderr}"


def events(evidence: Evidence) -> list[Event]:
    """What changed which rows the data table holds, in order."""
    history = evidence.history
    landed: list[Event] = [
        Landing(
            version,
            label,
            {row.partition: (row.start_offset, row.end_offset) for row in planned.plan},
        )
        for label, version in history.landed.items()
        if (planned := history.planned.get(label))
    ]
    restored = [
        Restored(version.number, int(version.info["operationParameters"]["version"]))
        for version in evidence.data.versions
        if version.info.get("operation") == "RESTORE"
    ]
    return sorted([*landed, *restored], key=lambda each: each.version)


def offsets(truth: KafkaTruth) -> dict[int, np.ndarray]:
    """The offsets of all records that there are to see."""
    return {place.partition: place.offsets for place in truth.partitions.values()}


def stored(truth: KafkaTruth) -> dict[int, np.ndarray]:
    """The offsets of the records that belong into the data table."""
    found = {}
    for place in truth.partitions.values():
        values = place.records["value"].to_pylist()
        decodable = np.array([value != MALFORMED for value in values], bool)
        found[place.partition] = place.offsets[decodable]
    return found
